"""The active speech level of a stream so far, by ITU-T P.56 method B, packet by packet.

P.56 (12/2011) §8: the envelope is the magnitude, smoothed twice with 30 ms. For a row of thresholds, 6 dB apart, it is
counted how long the envelope was at or above each, gaps of less than 200 ms included. The level that all energy would
have over such an active time lies the higher, the shorter that time is; the active level is where it lies 15.9 dB over
the threshold. Here the envelope is looked at once a millisecond, which against its 30 ms changes nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from callm_voice.audio.pcm import FULL_SCALE

SMOOTHING_S = 0.03
"""Time constant of the envelope (P.56 §8.3), which is smoothed twice."""
HANGOVER_MS = 200
"""Shorter gaps belong to the speech."""
MARGIN_DB = 15.9
"""The active level lies that far over the threshold that says what is active."""
THRESHOLDS_DBOV = -20 * np.log10(2) * np.arange(15, 0, -1)
"""From -90.3 to -6 dBov."""
_LOOK_S = 0.001

Samples = NDArray[np.float64]


class SpeechLevelMeter:
    """Measures a stream of samples on the scale of int16.

    Args:
        rate_hz: of the sound; a multiple of 1,000.
    """

    def __init__(self, rate_hz: int) -> None:
        self._step = rate_hz // 1000
        decay = float(np.exp(-1 / (rate_hz * SMOOTHING_S)))
        self._b, self._a = [(1 - decay) ** 2], [1.0, -2 * decay, decay**2]
        self._state = np.zeros(2)
        self._thresholds = FULL_SCALE * 10 ** (THRESHOLDS_DBOV / 20)
        self._since_ms = np.full(THRESHOLDS_DBOV.size, HANGOVER_MS + 1)
        """How long ago the envelope was at each threshold; more than the hangover: not active."""
        self._active_ms = np.zeros(THRESHOLDS_DBOV.size)
        self._energy = 0.0

    def push(self, sound: Samples) -> None:
        """Take the next samples, shape (samples,), whole milliseconds."""
        self._energy += float(sound @ sound) / FULL_SCALE**2
        envelope, self._state = signal.lfilter(self._b, self._a, np.abs(sound), zi=self._state)
        looks = envelope[self._step - 1 :: self._step]
        above = looks[:, None] >= self._thresholds
        at = np.arange(looks.size)[:, None]
        last = np.maximum.accumulate(np.where(above, at, -1 - self._since_ms), axis=0)
        self._active_ms += np.count_nonzero(at - last <= HANGOVER_MS, axis=0)
        self._since_ms = np.minimum(looks.size - 1 - last[-1], HANGOVER_MS + 1)

    @property
    def level(self) -> tuple[float, float] | None:
        """(active level in dBov, active time in s), or None: no speech so far."""
        counted = self._active_ms > 0
        if not counted.any() or self._energy <= 0:
            return None
        active_s = self._active_ms[counted] * _LOOK_S
        levels = 10 * np.log10(self._energy / (active_s * self._step * 1000))
        over = levels - THRESHOLDS_DBOV[counted] - MARGIN_DB
        below = np.flatnonzero(over <= 0)
        if not below.size or below[0] == 0:
            end = 0 if below.size else -1
            return float(levels[end]), float(active_s[end])
        k = int(below[0])
        share = over[k - 1] / (over[k - 1] - over[k])
        between = (1 - share) * levels[k - 1] + share * levels[k]
        total = self._energy / (self._step * 1000)
        return float(between), float(total / 10 ** (between / 10))
