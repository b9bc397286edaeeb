"""Where packs, pipelines, profiles and weights are looked for.

A name is searched in the user's folder first (`./packs`, then `$CALLM_VOICE_HOME/packs`), then in the installed data.
A wheel carries the data under `callm_voice/_data`; a checkout has it at its top level.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import platformdirs

import callm_voice
from callm_voice.core.errors import NotFoundError

Kind = Literal["packs", "pipelines", "audio_profiles"]
_SINGULAR: dict[Kind, str] = {"packs": "pack", "pipelines": "pipeline", "audio_profiles": "line profile"}


def home_dir() -> Path:
    """The user's own folder: `$CALLM_VOICE_HOME`, else the platform's data folder."""
    return Path(os.environ.get("CALLM_VOICE_HOME") or platformdirs.user_data_dir("callm-voice"))


def cache_dir() -> Path:
    """Weights, caller audio, model prefixes: `$CALLM_VOICE_CACHE`, else the platform's cache folder."""
    return Path(os.environ.get("CALLM_VOICE_CACHE") or platformdirs.user_cache_dir("callm-voice"))


def installed_data_dir() -> Path:
    """The folder that holds `packs/ pipelines/ audio_profiles/` of this installation."""
    package = Path(callm_voice.__file__).parent
    carried = package / "_data"
    return carried if carried.is_dir() else package.parent


def search_dirs(kind: Kind) -> list[Path]:
    """Folders that are searched for `kind`, the user's first, those that exist."""
    folders = [Path.cwd() / kind, home_dir() / kind, installed_data_dir() / kind]
    return list(dict.fromkeys(f.resolve() for f in folders if f.is_dir()))


def find(kind: Kind, name_or_path: str) -> Path:
    """The file (pipelines, audio_profiles: `NAME.yaml`) or folder (packs) for a name or a path.

    Raises:
        NotFoundError: there is neither such a path nor such a name; lists the known names.
    """
    suffix = "" if kind == "packs" else ".yaml"
    as_path = Path(name_or_path)
    looks_like_path = as_path.suffix in {".yaml", ".yml"} or os.sep in name_or_path
    if looks_like_path and as_path.exists():
        return as_path.resolve()
    if not looks_like_path:
        for folder in search_dirs(kind):
            candidate = folder / f"{name_or_path}{suffix}"
            if (candidate / "pack.yaml" if kind == "packs" else candidate).is_file():
                return candidate
    raise NotFoundError(_SINGULAR[kind], name_or_path, known_names(kind))


def known_names(kind: Kind) -> list[str]:
    """Names that `find` would accept, sorted."""
    names: set[str] = set()
    for folder in search_dirs(kind):
        if kind == "packs":
            names |= {p.parent.name for p in folder.glob("*/pack.yaml")}
        else:
            names |= {p.stem for p in folder.glob("*.yaml")}
    return sorted(names)
