"""Sample rate conversion: soxr HQ, stateful and flushed.

It runs in float32 and rounds once at the end: soxr's own int16 output is dithered, which puts noise on
digital silence and depends on how the input was split.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import soxr
from numpy.typing import NDArray

from callm_voice.audio.pcm import Pcm, to_float, to_int16

QUALITY = "HQ"
"""20 bit, pass band to 0.913 of the lower Nyquist frequency, aliases more than 120 dB down."""
_NOTHING: NDArray[np.float32] = np.zeros(0, dtype=np.float32)


def resampled_length(samples: int, in_hz: int, out_hz: int) -> int:
    """`round(samples * out_hz / in_hz)` in exact arithmetic, ties to even."""
    return round(Fraction(samples * out_hz, in_hz))


class StreamResampler:
    """Converts one mono stream chunk by chunk. However the input is split, the output is the same samples.

    Args:
        in_hz: rate of what goes in.
        out_hz: rate of what comes out; the same rate passes through.
    """

    def __init__(self, in_hz: int, out_hz: int) -> None:
        self.in_hz = in_hz
        self.out_hz = out_hz
        self._soxr = soxr.ResampleStream(in_hz, out_hz, 1, dtype="float32", quality=QUALITY)
        self._taken = 0
        self._given = 0

    def process(self, pcm: Pcm) -> Pcm:
        """Take a chunk (samples,) int16; what is ready of the output, which may be nothing yet."""
        if self.in_hz == self.out_hz:
            return pcm.copy()
        self._taken += pcm.size
        return self._give(self._soxr.resample_chunk(to_float(pcm), last=False))

    def flush(self) -> Pcm:
        """The rest of the output: in all, `resampled_length` of what went in. The next chunk begins a new stream."""
        if self.in_hz == self.out_hz:
            return np.zeros(0, dtype=np.int16)
        missing = resampled_length(self._taken, self.in_hz, self.out_hz) - self._given
        rest = self._give(self._soxr.resample_chunk(_NOTHING, last=True))
        self._soxr.clear()
        self._taken = self._given = 0
        exact = np.zeros(max(missing, 0), dtype=np.int16)
        exact[: rest.size] = rest[: exact.size]
        return exact

    def _give(self, samples: NDArray[np.float32]) -> Pcm:
        self._given += samples.size
        return to_int16(samples)


def resample_whole(pcm: Pcm, in_hz: int, out_hz: int) -> Pcm:
    """A finished mono signal at another rate, exactly `resampled_length` samples."""
    resampler = StreamResampler(in_hz, out_hz)
    return np.concatenate([resampler.process(pcm), resampler.flush()])
