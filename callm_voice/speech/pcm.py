"""Float samples of a synthesiser: to 16-bit PCM at a set peak, and without the silence at their ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.pcm import FULL_SCALE, round_to_int16
from callm_voice.speech.engines import Pcm


def at_peak(samples: NDArray[np.float32], peak_dbov: float) -> Pcm:
    """Float samples of any scale, shape (samples,), as int16 whose highest sample lies at `peak_dbov`."""
    highest = float(np.max(np.abs(samples), initial=0.0))
    if highest < 1e-8:
        return np.zeros(samples.size, np.int16)
    return round_to_int16(samples * np.float32(10 ** (peak_dbov / 20) * FULL_SCALE / highest))


def trimmed(samples: NDArray[np.float32], rate_hz: int, *, below_peak_db: float = 45.0) -> NDArray[np.float32]:
    """The samples from the first to the last 10 ms that come within `below_peak_db` of the loudest; empty if none does.

    Ten milliseconds on each side are kept, so that no onset or release is cut hard.
    """
    size = rate_hz // 100
    blocks = samples[: samples.size // size * size].reshape(-1, size)
    if not blocks.size:
        return samples
    levels = np.sqrt(np.mean(np.square(blocks), axis=1))
    loud = np.flatnonzero((levels > 0) & (levels >= levels.max() * 10 ** (-below_peak_db / 20)))
    if not loud.size:
        return samples[:0]
    return samples[max(0, loud[0] - 1) * size : (loud[-1] + 2) * size]
