"""Stamps of hashed files (size, mtime, hash), so that a start need not hash half a gigabyte again."""

from __future__ import annotations

import json
import os
from pathlib import Path


class Stamps:
    """The stamps of one weight, in one small JSON file.

    Args:
        file: where they lie; need not exist or be writable.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def holds(self, target: Path, sha256: str) -> bool:
        """Whether `target` was hashed to `sha256` and has not been touched since."""
        stat = target.stat()
        return self._load().get(str(target)) == [stat.st_size, stat.st_mtime_ns, sha256]

    def note(self, target: Path, sha256: str) -> None:
        """Remember it. A cache that cannot be written costs a re-hash at the next start, no more."""
        stat = target.stat()
        stamps = {**self._load(), str(target): [stat.st_size, stat.st_mtime_ns, sha256]}
        temporary = self._file.with_name(f"{self._file.name}.{os.getpid()}.tmp")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(stamps), encoding="utf-8")
            temporary.replace(self._file)
        except OSError:
            return

    def forget(self) -> None:
        """Drop all, so that the next look hashes again."""
        self._file.unlink(missing_ok=True)

    def _load(self) -> dict[str, list[object]]:
        try:
            stamps = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stamps if isinstance(stamps, dict) else {}
