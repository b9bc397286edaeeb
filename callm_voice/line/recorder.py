"""The stereo recording of one call. Left: the caller as the agent hears it. Right: the agent as the caller hears it.

Sample 0 is line tick 0; after n ticks each channel has exactly n packets.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from callm_voice.audio.files import write_sound
from callm_voice.audio.pcm import Pcm
from callm_voice.core.errors import HarnessError
from callm_voice.line.leg import PTIME_MS, Frame

_GROW_TICKS = 60_000 // PTIME_MS
"""Room is made a minute at a time."""


class Recorder:
    """Takes two packets a tick.

    Args:
        rate_hz: of the line.
    """

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self.frame_samples = rate_hz * PTIME_MS // 1000
        self.ticks = 0
        self._pcm = np.zeros((2, _GROW_TICKS * self.frame_samples), dtype=np.int16)

    def add(self, left: Frame, right: Frame) -> None:
        """The packets of one tick; copied."""
        start = self.ticks * self.frame_samples
        end = start + self.frame_samples
        if end > self._pcm.shape[1]:
            more = np.zeros((2, _GROW_TICKS * self.frame_samples), dtype=np.int16)
            self._pcm = np.concatenate([self._pcm, more], axis=1)
        self._pcm[0, start:end] = left
        self._pcm[1, start:end] = right
        self.ticks += 1

    @property
    def duration_ms(self) -> int:
        """Ticks times the packet time."""
        return self.ticks * PTIME_MS

    def channels(self) -> tuple[Pcm, Pcm]:
        """Left and right so far, each (ticks * frame_samples,) int16; copies."""
        end = self.ticks * self.frame_samples
        return self._pcm[0, :end].copy(), self._pcm[1, :end].copy()

    def interleaved(self, first: int, last: int) -> bytes:
        """The packets of ticks [first, last) as a file of two channels has them: int16, little-endian. At most `ticks`.

        Any thread may ask: what was recorded never changes, and `ticks` grows when the packets are there.
        """
        start, end = first * self.frame_samples, last * self.frame_samples
        return self._pcm[:, start:end].T.astype("<i2").tobytes()

    def write(self, path: Path) -> None:
        """Write the recording as FLAC (or WAV, by the suffix).

        Raises:
            DiskError: the disk is full or the path cannot be written.
            HarnessError: the line never ticked, so there is nothing to write.
        """
        if self.ticks == 0:
            raise HarnessError(f"{path}: the line never ticked; there is no sound to write", stage="record")
        write_sound(path, self._pcm[:, : self.ticks * self.frame_samples].T, self.rate_hz)
