"""Where a run's files are: a folder, or any place that fsspec reaches. Paths in it are text with slashes.

Whatever is put or moved has its `call.json` last (in a folder: one rename), so that a call is there or is not.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Protocol

from callm_voice.core.errors import DiskError, MissingDependencyError, UsageError
from callm_voice.core.runfolder import LIVE_DIR, RECORD_FILE, disk_errors, remove_folder, walk_calls

PARTIAL = ".partial"


class Store(Protocol):
    """A run's files."""

    name: str
    """As the user gave it."""

    @property
    def local(self) -> Path | None:
        """The folder, if it is one of this machine's."""
        ...

    def read(self, path: str) -> bytes | None:
        """A file, or None."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Write a file whole; a reader sees the old or the new one."""
        ...

    def finished(self) -> set[str]:
        """All folders that hold a finished call."""
        ...

    def move(self, source: str, target: str) -> None:
        """Move a call's folder."""
        ...

    def put(self, source: Path, target: str) -> None:
        """Bring a finished call's folder of this machine in; what stood at `target` is replaced."""
        ...

    def remove(self, path: str) -> None:
        """Remove a folder, if it is there."""
        ...


def open_store(where: str) -> Store:
    """The store of a folder or URL.

    Raises:
        UsageError: no such kind of URL.
        MissingDependencyError: fsspec is not installed.
    """
    return UrlStore(where) if "://" in where else FolderStore(Path(where))


class FolderStore:
    """A folder, on a disk that all workers see."""

    def __init__(self, root: Path) -> None:
        self.name, self._root = str(root), root

    @property
    def local(self) -> Path | None:
        return self._root

    def read(self, path: str) -> bytes | None:
        try:
            return (self._root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise DiskError(f"{self._root / path}: cannot be read: {error.strerror}") from error

    def write(self, path: str, data: bytes) -> None:
        target = self._root / path
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)

    def finished(self) -> set[str]:
        return {p.relative_to(self._root).as_posix() for p in walk_calls(self._root)}

    def move(self, source: str, target: str) -> None:
        final = self._root / target
        with disk_errors(final):
            final.parent.mkdir(parents=True, exist_ok=True)
            (self._root / source).rename(final)
            _drop_empty(self._root / source, self._root)

    def put(self, source: Path, target: str) -> None:
        final = self._root / target
        arriving = final.with_name(final.name + PARTIAL)
        with disk_errors(final):
            shutil.rmtree(arriving, ignore_errors=True)
            final.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, arriving)
            if final.exists():
                shutil.rmtree(final)
            arriving.rename(final)
            shutil.rmtree(final / LIVE_DIR, ignore_errors=True)  # of one who took it for a call under way

    def remove(self, path: str) -> None:
        with disk_errors(self._root / path):
            if (self._root / path).exists():
                remove_folder(self._root / path)


def _drop_empty(gone: Path, root: Path) -> None:
    """Remove the folders that a move left empty."""
    for folder in gone.parents:
        if folder == root or not folder.is_dir() or any(folder.iterdir()):
            return
        folder.rmdir()


class UrlStore:
    """A place that fsspec reaches. A rename is a copy there, `call.json` last and removed first."""

    local: Path | None = None

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise MissingDependencyError("fsspec", "ray") from None
        self.name = url
        try:
            fs, root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise UsageError(f"--out {url}: {error}") from error
        self._fs: Any = fs
        self._root = root.rstrip("/")

    def read(self, path: str) -> bytes | None:
        try:
            data: bytes = self._fs.cat_file(f"{self._root}/{path}")
        except FileNotFoundError:
            return None
        return data

    def write(self, path: str, data: bytes) -> None:
        full = f"{self._root}/{path}"
        with disk_errors(Path(full)):
            self._fs.makedirs(full.rpartition("/")[0], exist_ok=True)
            self._fs.pipe_file(full, data)

    def finished(self) -> set[str]:
        self._fs.invalidate_cache()
        ending = f"/{RECORD_FILE}"
        root = self._fs._strip_protocol(self._root).rstrip("/")
        names = (str(name) for name in self._fs.find(self._root))
        return {n[len(root) + 1 : -len(ending)] for n in names if n.endswith(ending)}

    def move(self, source: str, target: str) -> None:
        names = self._names(source)
        for name in names:
            self.write(f"{target}/{name}", self.read(f"{source}/{name}") or b"")
        self.remove(source)

    def put(self, source: Path, target: str) -> None:
        self.remove(target)
        names = sorted((p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file()), key=_record_last)
        for name in names:
            self.write(f"{target}/{name}", (source / name).read_bytes())

    def remove(self, path: str) -> None:
        for name in reversed(self._names(path)):  # the record first
            self._fs.rm_file(f"{self._root}/{path}/{name}")

    def _names(self, folder: str) -> list[str]:
        """Files below a folder, `call.json` last."""
        self._fs.invalidate_cache()
        full = f"{self._root}/{folder}"
        if not self._fs.exists(full):
            return []
        base = self._fs._strip_protocol(full).rstrip("/")
        return sorted((str(name)[len(base) + 1 :] for name in self._fs.find(full)), key=_record_last)


def _record_last(name: str) -> tuple[bool, str]:
    return name == RECORD_FILE, name
