"""Reads the files of a finished call. All of it blocks, so it is called in threads.

A listener who goes leaves a call behind in its thread. So everything is opened, read and closed under one lock, and
nothing is opened any more once it is closed: no handle is ever without an owner.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import BinaryIO

import soundfile

from callm_voice.core.livefiles import CHANNELS, SAMPLE_BYTES
from callm_voice.web.tails import BLOCK_BYTES, open_plain

FRAME_BYTES = CHANNELS * SAMPLE_BYTES


class PlainFile:
    """A file as it is. Close it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._one = threading.Lock()
        self._closed = False

    def read(self) -> bytes:
        """The next block; nothing at the end, of a file that is not there, or when it is closed."""
        with self._one:
            if self._closed:
                return b""
            if self._file is None:
                try:
                    self._file = open_plain(self._path)
                except OSError:
                    return b""
            return self._file.read(BLOCK_BYTES)

    def close(self) -> None:
        """Give the file back, once a read that is under way has ended."""
        with self._one:
            self._closed = True
            if self._file is not None:
                self._file.close()


class Recording:
    """A call's recording from a place on. `open` it, read it, close it.

    Closing waits for a read that is under way: libsndfile ends the whole process if a file is closed under it.

    Args:
        skip_bytes: of the samples, int16 and both channels in turn, those that are not wanted.
    """

    def __init__(self, path: Path, skip_bytes: int = 0) -> None:
        self._path, self._skip_bytes = path, skip_bytes
        self._file: BinaryIO | None = None
        self._sound: soundfile.SoundFile | None = None
        self._one = threading.Lock()
        self._closed = False

    def open(self) -> int | None:
        """Its rate in Hz; None: it is not there, is none of a call's, or has no sample behind that place.

        Raises:
            RuntimeError: what libsndfile says of a file that it cannot read.
        """
        with self._one:
            if self._closed:
                return None
            try:
                self._file = open_plain(self._path)
            except OSError:
                return None
            self._sound = sound = soundfile.SoundFile(self._file)
            if sound.channels != CHANNELS or self._skip_bytes >= sound.frames * FRAME_BYTES:
                return None
            sound.seek(self._skip_bytes // FRAME_BYTES)
            return int(sound.samplerate)

    def read(self) -> bytes:
        """The next block; nothing at the end, or when it is closed."""
        with self._one:
            if self._closed or self._sound is None:
                return b""
            frames = self._sound.read(BLOCK_BYTES // FRAME_BYTES, dtype="int16", always_2d=True)
            return bytes(frames.astype("<i2").tobytes())

    def close(self) -> None:
        """Give the file back, once what is under way has ended."""
        with self._one:
            self._closed = True
            if self._sound is not None:
                self._sound.close()
            if self._file is not None:
                self._file.close()
