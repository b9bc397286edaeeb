"""The files of weights in a cache folder: written, checked, kept.

A file is written under a temporary name, hashed on the way, and renamed only if it is what the table says.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from callm_voice.core.errors import BadWeightError, DiskError
from callm_voice.core.weight_sources import BLOCK
from callm_voice.core.weight_stamps import Stamps
from callm_voice.core.weight_table import Part, WeightFile


class WeightFiles:
    """Files below one cache folder.

    Args:
        root: the folder. A file elsewhere may be verified too; only one of ours is ever deleted.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def keep(self, name: str, file: WeightFile, target: Path, content: Iterable[bytes]) -> None:
        """Write and hash; rename into place only what is the listed file. Its packages go if it is not.

        Raises:
            BadWeightError: it is another file.
            DiskError: it cannot be written.
        """
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        digest, size = hashlib.sha256(), 0
        try:
            with disk_errors(target), temporary.open("wb") as out:
                for block in content:
                    digest.update(block)
                    size += len(block)
                    if size > file.bytes:
                        break
                    out.write(block)
                out.flush()
                os.fsync(out.fileno())
            if size != file.bytes or digest.hexdigest() != file.sha256:
                raise _mismatch(name, file, file.name, digest.hexdigest(), size, "it was deleted; ")
            temporary.replace(target)
        except BadWeightError:
            for part in file.parts:
                self.kept_package(name, part).unlink(missing_ok=True)
            raise
        finally:
            temporary.unlink(missing_ok=True)
        self.stamps(name).note(target, file.sha256)

    def good(self, name: str, file: WeightFile, target: Path) -> bool:
        """Whether the file is there and the listed one; one that is not is deleted if it is ours."""
        if not target.is_file():
            return False
        try:
            self.verify(name, file, target)
        except BadWeightError:
            return False
        return True

    def verify(self, name: str, file: WeightFile, target: Path) -> None:
        """Compare with the table, by stamp, or by hash if that is stale.

        Raises:
            BadWeightError: it is another file; one of ours is deleted.
        """
        if self.stamps(name).holds(target, file.sha256):
            return
        digest = hashlib.sha256()
        with disk_errors(target):
            size = target.stat().st_size
            for block in blocks(target):
                digest.update(block)
        if digest.hexdigest() == file.sha256:
            self.stamps(name).note(target, file.sha256)
            return
        ours = target.is_relative_to(self.root)
        if ours:
            target.unlink(missing_ok=True)
        raise _mismatch(name, file, str(target), digest.hexdigest(), size, "it was deleted; " if ours else "")

    def room_for(self, files: Sequence[WeightFile]) -> None:
        """Refuse to begin what cannot end.

        Raises:
            DiskError: too little is free.
        """
        needed = 2 * sum(file.bytes for file in files)  # the packages stay until the file is whole
        free = shutil.disk_usage(self.root).free
        if free < needed:
            raise DiskError(
                f"{self.root}: {needed / 1e6:,.0f} MB are needed and {free / 1e6:,.0f} MB are free",
                hint="free some space, or set CALLM_VOICE_CACHE to another folder",
                stage="weights",
            )

    def parts_dir(self, name: str) -> Path:
        """Where a weight's packages stay until it is complete."""
        return self.root / "parts" / name

    def kept_package(self, name: str, part: Part) -> Path:
        """A package that was downloaded."""
        return self.parts_dir(name) / f"{part.package}{'.whl' if part.wheel else '.tgz'}"

    def stamps(self, name: str) -> Stamps:
        """What was hashed before."""
        return Stamps(self.root / "stamps" / f"{name}.json")


def _mismatch(name: str, file: WeightFile, at: str, found: str, size: int, deleted: str) -> BadWeightError:
    more = " or more" if size > file.bytes else ""
    return BadWeightError(
        f"{name}: {at} is not the listed file: expected SHA-256 {file.sha256} ({file.bytes:,} bytes), "
        f"found {found} ({size:,} bytes{more})",
        hint=f"{deleted}callm-voice models pull {name}",
    )


def blocks(source: Path) -> Iterator[bytes]:
    """A file's content."""
    with source.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


@contextmanager
def disk_errors(where: Path) -> Iterator[None]:
    """Errors of the system as `DiskError`, with what to do."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "the disk is full" if full else (error.strerror or str(error))
        hint = "free some space, or set CALLM_VOICE_CACHE to another folder"
        raise DiskError(f"{where}: {what}", hint=hint, stage="weights") from error


@contextmanager
def locked(lock: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold an advisory lock that the system drops when the process dies."""
    import fcntl  # POSIX only, like the engines

    with disk_errors(lock):
        file = lock.open("a")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
