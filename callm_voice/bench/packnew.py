"""A new pack to begin with: small, working, and proven by `packs check`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from callm_voice.core.errors import UsageError
from callm_voice.core.runfolder import disk_errors

TEMPLATE = Path(__file__).parent / "newpack"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_PLACE = "PACK_ID"


def new_pack(name: str, into: Path) -> Path:
    """Make `into/NAME` and return it.

    Raises:
        UsageError: the name cannot be a pack's id, or there is such a folder.
        DiskError: it cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a pack", hint="small letters, digits and _, beginning with a letter")
    folder = into / name
    if folder.exists():
        raise UsageError(f"{folder} is there already", hint="choose another name or folder")
    with disk_errors(folder):
        shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__"))
        pack_file = folder / "pack.yaml"
        pack_file.write_text(pack_file.read_text(encoding="utf-8").replace(_PLACE, name), encoding="utf-8")
    return folder
