"""Float samples of a synthesiser to 16-bit PCM at a set peak."""

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
