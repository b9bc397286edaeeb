"""One planner works on a run. Its workers hold the lock too, so the next planner starts when the last of them is gone.

An advisory lock of the kernel's (flock) on `RUN/.lock`: it belongs to the open file that the workers inherit, and ends
with the last process that has it, however that ends.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from callm_voice.core.clock import stopwatch
from callm_voice.core.errors import UsageError
from callm_voice.core.runfolder import disk_errors

LOCK_FILE = ".lock"
WAIT_S = 15.0
"""For workers of a killed planner, which end as soon as they notice."""


@contextmanager
def run_lock(folder: Path, *, pause: Callable[[], None], wait_s: float = WAIT_S) -> Iterator[int]:
    """Hold the lock; its file descriptor, for workers to inherit.

    Args:
        pause: called between two looks.

    Raises:
        UsageError: another planner has it and does not end.
    """
    import fcntl  # POSIX only, and only a planned run needs it

    path = folder / LOCK_FILE
    with disk_errors(path):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        waited_s = stopwatch()
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if waited_s() > wait_s:
                    raise UsageError(f"another `callm-voice run` works on {folder}{_owner(descriptor)}") from None
                pause()
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "host": platform.node()}).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a planner or one of its workers is alive."""
    import fcntl

    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _owner(descriptor: int) -> str:
    try:
        owner = json.loads(os.pread(descriptor, 1000, 0))
        return f" (process {owner['pid']} on this machine)" if owner["host"] == platform.node() else ""
    except (ValueError, KeyError, TypeError):
        return ""
