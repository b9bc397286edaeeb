"""Read prompts, kept on disk: a role's prefix is read by the model once on this machine, not once a call.

A file belongs to one model file, server version, context, prompt and tool list; its name is their SHA-256. It is saved
under a temporary name and renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from callm_voice.core.runfolder import disk_errors
from callm_voice.llm.types import ChatRequest

MAX_FILES = 48
"""About 40 MB each for a prompt of 3,000 tokens of a 0.5B model. The least recently used ones go first."""
SUFFIX = ".slot"


_TEMPORARY = re.compile(r"\..*\.(\d+)\.tmp")


def prepare_folder(folder: Path) -> None:
    """Make the folder; drop what killed processes left and what is too much.

    Raises:
        DiskError: it cannot be made.
    """
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(".*.tmp"):
        match = _TEMPORARY.fullmatch(path.name)
        if match and not _runs(int(match[1])):
            path.unlink(missing_ok=True)
    by_use = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in by_use[MAX_FILES:]:
        path.unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@dataclass(frozen=True)
class PrefixCache:
    """The folder of saved prefixes.

    Args:
        model_key: everything besides the request that a saved prefix depends on.
    """

    folder: Path
    model_key: str

    def name(self, request: ChatRequest) -> str:
        """The file's name for a prefix."""
        content = {"messages": list(request.messages), "tools": list(request.tools), "model": self.model_key}
        text = json.dumps(content, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest() + SUFFIX

    def has(self, name: str) -> bool:
        """Whether it is saved; marks it as used."""
        path = self.folder / name
        if not path.is_file():
            return False
        path.touch()
        return True

    def temporary_name(self, name: str) -> str:
        """Where to save it first."""
        return f".{name}.{os.getpid()}.tmp"

    def keep(self, name: str) -> None:
        """The temporary file is whole: put it in place."""
        with disk_errors(self.folder / name):
            (self.folder / self.temporary_name(name)).replace(self.folder / name)

    def drop(self, name: str) -> None:
        """A file that could not be restored, or not be saved whole."""
        for each in (name, self.temporary_name(name)):
            (self.folder / each).unlink(missing_ok=True)
