"""Importing a pack's `tools.py`, with its parts in `toolparts/` if it is long.

`tools.py` is imported as a package of its own, so two packs never meet and none is found on the import path. Its
submodules are the files of `toolparts/`: `from .billing import get_balance` reads `toolparts/billing.py`, in `tools.py`
and in the parts alike. No bytecode is left beside the files.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from callm_voice.core.errors import ConfigError

TOOLS_FILE = "tools.py"
PARTS_FOLDER = "toolparts"
MODULE_PREFIX = "callm_pack_"


class _FileLoader(importlib.abc.SourceLoader):
    """Imports one file by its path and leaves no bytecode beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get_filename(self, fullname: str) -> str:
        return str(self._path)

    def get_data(self, path: str | bytes) -> bytes:
        return self._path.read_bytes()


class _PartFinder(importlib.abc.MetaPathFinder):
    """Finds the parts of packs, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(MODULE_PREFIX) or not path:
            return None
        file = Path(path[0]) / f"{fullname.rpartition('.')[2]}.py"
        if not file.is_file():
            return None
        return importlib.util.spec_from_loader(fullname, _FileLoader(file), origin=str(file))


_FINDER = _PartFinder()


def import_tools(folder: Path, pack_id: str, content_hash: str) -> ModuleType:
    """Import a pack's `tools.py`.

    Raises:
        ConfigError: there is none, or it or one of its parts cannot be imported; names the file and line.
    """
    path, name = folder / TOOLS_FILE, f"{MODULE_PREFIX}{pack_id}_{content_hash[:12]}"
    if not path.is_file():
        raise ConfigError(path, "", "there is no such file; a pack needs its tools")
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)
    _forget(name)
    spec = importlib.machinery.ModuleSpec(name, _FileLoader(path), origin=str(path), is_package=True)
    spec.submodule_search_locations = [str(folder / PARTS_FOLDER)]
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        _FileLoader(path).exec_module(module)
    except Exception as error:  # whatever a pack's own code does while it is loaded
        _forget(name)
        where, line = _place(folder, error)
        raise ConfigError(
            where or path, "", f"cannot be imported: {type(error).__name__}: {error}", line=line
        ) from error
    return module


def _forget(name: str) -> None:
    for known in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
        del sys.modules[known]


def _place(folder: Path, error: Exception) -> tuple[Path | None, int | None]:
    """The file of the pack in which the import broke, and the line."""
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename), error.lineno
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(folder)]
    return (Path(frames[-1].filename), frames[-1].lineno) if frames else (None, None)
