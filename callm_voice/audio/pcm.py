"""PCM: int16 and float32, levels, frames.

Levels follow ITU-T G.100.1: 0 dBov is the RMS of a full-scale square wave, so a full-scale sine has -3.01 dBov.
dBFS follows AES17: 0 dBFS is the RMS of a full-scale sine, so dBFS = dBov + 3.01. Digital silence is -inf in both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pcm = NDArray[np.int16]
"""Mono PCM, shape (samples,), dtype int16. Stereo is shape (samples, 2)."""

FULL_SCALE = 32_768
"""Overload point of int16: 0 dBov."""
SINE_DBOV = 10 * math.log10(1 / 2)
"""Level of a full-scale sine in dBov: -3.01."""


def to_float(pcm: Pcm) -> NDArray[np.float32]:
    """int16 to float32 in [-1, 1): exact."""
    return pcm.astype(np.float32) / np.float32(FULL_SCALE)


def to_int16(samples: NDArray[np.floating[Any]]) -> Pcm:
    """Floats in [-1, 1) to int16: rounded to the nearest (ties to even), saturated outside."""
    return round_to_int16(samples * samples.dtype.type(FULL_SCALE))


def round_to_int16(values: NDArray[np.floating[Any]]) -> Pcm:
    """Floats on the scale of int16 to int16: rounded to the nearest (ties to even), saturated outside."""
    rounded = np.rint(values)
    np.maximum(rounded, -FULL_SCALE, out=rounded)
    np.minimum(rounded, FULL_SCALE - 1, out=rounded)
    pcm: Pcm = rounded.astype(np.int16)
    return pcm


def level_dbov(pcm: Pcm) -> float:
    """RMS level over all samples (ITU-T G.100.1); -inf for silence or no samples."""
    if pcm.size == 0:
        return -math.inf
    samples = pcm.astype(np.float64).ravel()
    power = float(np.dot(samples, samples)) / samples.size / FULL_SCALE**2
    return 10 * math.log10(power) if power > 0 else -math.inf


def level_dbfs(pcm: Pcm) -> float:
    """RMS level against a full-scale sine (AES17); -inf for silence."""
    return level_dbov(pcm) - SINE_DBOV


def peak_dbov(pcm: Pcm) -> float:
    """Level of the largest absolute sample; -inf for silence or no samples."""
    peak = int(np.max(np.abs(pcm.astype(np.int32)), initial=0))
    return 20 * math.log10(peak / FULL_SCALE) if peak else -math.inf


def apply_gain(pcm: Pcm, gain_db: float) -> Pcm:
    """The samples times `gain_db`, saturated."""
    return round_to_int16(pcm * 10.0 ** (gain_db / 20))


def split_frames(pcm: Pcm, frame_samples: int) -> Pcm:
    """All frames of a finished signal, shape (frames, frame_samples); the last one is padded with silence."""
    frames = -(-pcm.size // frame_samples)
    padded = np.zeros(frames * frame_samples, dtype=np.int16)
    padded[: pcm.size] = pcm
    return padded.reshape(frames, frame_samples)


class Framer:
    """Cuts a stream of chunks of any length into frames of one length.

    Args:
        frame_samples: length of the frames.
    """

    def __init__(self, frame_samples: int) -> None:
        self._frame_samples = frame_samples
        self._rest: Pcm = np.zeros(0, dtype=np.int16)

    def push(self, pcm: Pcm) -> list[Pcm]:
        """Take a chunk; the frames that are now complete."""
        joined = np.concatenate([self._rest, pcm]) if self._rest.size else pcm
        whole = joined.size - joined.size % self._frame_samples
        self._rest = joined[whole:].copy()
        return list(joined[:whole].reshape(-1, self._frame_samples))

    def flush(self) -> Pcm | None:
        """The last, incomplete frame padded with silence, or None if there is none."""
        rest, self._rest = self._rest, np.zeros(0, dtype=np.int16)
        return split_frames(rest, self._frame_samples)[0] if rest.size else None
