"""How much later a sound came out of a line than it went in, from the sound alone."""

from __future__ import annotations

import numpy as np
from scipy import signal

from callm_voice.audio.pcm import Pcm

LONGEST_MS = 600
"""Twice the greatest delay that a profile can have."""
LIKE = 0.1
"""A normalised cross-correlation below this is no likeness: noise correlates by chance."""
_LOOKED_AT_S = 120


def measured_delay_ms(sound: Pcm, out: Pcm, rate_hz: int) -> float | None:
    """The lag at which the two correlate best, 0 to `LONGEST_MS`; None: nothing in `out` is like `sound`.

    Where the delay changes on the way (an adaptive buffer), it is the one that most of the sound had.

    Args:
        sound: (samples,) int16 at `rate_hz`, as it went in; the first two minutes are looked at.
        out: (samples,) int16 at `rate_hz`.
    """
    sound = sound[: _LOOKED_AT_S * rate_hz]
    longest = LONGEST_MS * rate_hz // 1000
    late = np.zeros(sound.size + longest)
    late[: min(out.size, late.size)] = out[: late.size]
    scores = signal.correlate(late, sound.astype(np.float64), mode="valid", method="fft")
    best = int(np.argmax(np.abs(scores)))
    norm = float(np.linalg.norm(sound.astype(np.float64)) * np.linalg.norm(late[best : best + sound.size]))
    if norm == 0 or abs(scores[best]) / norm < LIKE:
        return None
    return round(best * 1000 / rate_hz, 2)
