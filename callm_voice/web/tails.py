"""Reads what a running call writes for its watchers (`core.livefiles`), while it grows and to its end.

Every listener reads the files at its own place. So there is no queue: who is slow reads later and costs nobody
anything, and who has gone leaves nothing behind.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from callm_voice.core.clock import Clock
from callm_voice.core.livefiles import LIVE_EVENTS, LIVE_SOUND, NOW_FILE, OVER_FILE, SOUND_WANTED, Now, live_dir

BLOCK_BYTES = 64 * 1024
LOST_AFTER_S = 10.0
"""A call that has not stirred for so long is not running any more."""
MAX_NOW_BYTES = 1000
ASK_TRIES = 5


def ask(work: Path, *, sound: bool = False) -> None:
    """Watch a call, by its unfinished folder; hear it too. Nothing happens if it is over."""
    folder = live_dir(work)
    for _ in range(ASK_TRIES):
        try:
            with suppress(FileExistsError):
                folder.mkdir()
            if sound and not folder.is_symlink():
                with suppress(FileExistsError), (folder / SOUND_WANTED).open("x"):
                    pass
        except FileNotFoundError:  # the call is over; or another who gave up has just taken the folder away
            continue
        except OSError:
            pass
        return


def hear_no_more(work: Path) -> None:
    """Nobody listens any more."""
    folder = live_dir(work)
    try:
        if _is_folder(folder):
            (folder / SOUND_WANTED).unlink(missing_ok=True)
    except OSError:
        return
    ask_no_more(work)


def ask_no_more(work: Path) -> None:
    """Take the folder away if no call has answered in it: what a killed one left is not to gather empty folders. Who
    still waits for an answer asks again (`Tail`)."""
    folder = live_dir(work)
    with suppress(OSError):  # above all: it is not empty, so the call has answered, or somebody wants its sound
        if _is_folder(folder):
            folder.rmdir()


def read_now(work: Path) -> Now | None:
    """Where a call stands; None: it does not say."""
    try:
        with open_plain(live_dir(work) / NOW_FILE) as file:
            return Now.model_validate_json(file.read(MAX_NOW_BYTES))
    except (OSError, ValueError):
        return None


def is_over(work: Path) -> bool:
    """Whether the call has written the last of what it shows, or is not there any more."""
    return (live_dir(work) / OVER_FILE).exists() or not work.exists()


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading, but no link, nor one in a folder that is a link: what it leads to may lie anywhere.

    Raises:
        OSError: it is not there, or is no plain file.
    """
    if not _is_folder(path.parent):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent))
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    return os.fdopen(descriptor, "rb")


def _is_folder(path: Path) -> bool:
    """A folder, and no link to one."""
    return path.is_dir() and not path.is_symlink()


class Heartbeat:
    """Whether a call still stirs.

    Args:
        work: its unfinished folder.
    """

    def __init__(self, work: Path, clock: Clock) -> None:
        self._work, self._clock = work, clock
        self._since_s = clock.now_s()
        self._looks: int | None = None
        self.now: Now | None = None
        self.beats = 0
        """How often it has been seen to stir. What a killed call left behind never does."""

    def look(self) -> None:
        """Look once."""
        now = read_now(self._work)
        if now is None or now.looks == self._looks:
            return
        self.beats += self._looks is not None
        self._looks, self.now, self._since_s = now.looks, now, self._clock.now_s()

    @property
    def lost(self) -> bool:
        """It has not stirred for too long."""
        return self._clock.now_s() - self._since_s > LOST_AFTER_S


class Tail:
    """One file of a running call, read by one listener. Close it."""

    def __init__(self, work: Path, name: str, clock: Clock) -> None:
        self._work, self._path = work, live_dir(work) / name
        self._heart = Heartbeat(work, clock)
        self._file: BinaryIO | None = None
        self._one = threading.Lock()
        self._closed = False
        self.ended = False
        """All is read, or nothing more will come."""
        self.lost = False
        """The call was killed: what was read is not all of it."""

    @classmethod
    def events(cls, work: Path, clock: Clock) -> Tail:
        """Of the call's events."""
        return cls(work, LIVE_EVENTS, clock)

    @classmethod
    def sound(cls, work: Path, clock: Clock) -> Tail:
        """Of the call's sound."""
        return cls(work, LIVE_SOUND, clock)

    def read(self) -> bytes:
        """The next bytes; empty: none are there yet, or `ended`. It does not wait. Until the call answers, it is asked
        each time."""
        with self._one:  # a listener who goes leaves a read behind in its thread
            return b"" if self._closed else self._read()

    def _read(self) -> bytes:
        over = self._is_over()  # asked before the reading: what is written in between is still read
        if self._file is None:
            try:
                self._file = open_plain(self._path)
            except OSError:
                ask(self._work)
                self.ended = over
                return b""
        block = self._file.read(BLOCK_BYTES)
        self.ended = over and not block
        return block

    def close(self) -> None:
        """Give the file back, once a read that is under way has ended."""
        with self._one:
            self._closed = True
            if self._file is not None:
                self._file.close()
            else:
                ask_no_more(self._work)

    def _is_over(self) -> bool:
        self._heart.look()
        self.lost = self._heart.lost or self._is_another_call()
        return self.lost or is_over(self._work)

    def _is_another_call(self) -> bool:
        """The folder is there, but was made anew since: the call was killed and is made again."""
        if self._file is None:
            return False
        try:
            return not os.path.samestat(os.stat(self._path), os.fstat(self._file.fileno()))
        except OSError:
            return False
