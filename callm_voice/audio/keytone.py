"""The tone of one key for as long as it is wanted (DTMF, ITU-T Q.23), a piece at a time."""

from __future__ import annotations

import numpy as np

from callm_voice.audio.pcm import Pcm, to_int16
from callm_voice.audio.tones import HIGH_HZ, KEYS, LEVEL_DBOV, LOW_HZ, SENT_TWIST_DB
from callm_voice.core.errors import NotFoundError

_RAMP_MS = 2


class KeyTone:
    """Goes on where it stopped, however it is split.

    Args:
        key: any of `tones.KEYS`.
        rate_hz: of the sound.
        level_dbov: RMS of both tones together.

    Raises:
        NotFoundError: no key is called so.
    """

    def __init__(self, key: str, rate_hz: int, *, level_dbov: float = LEVEL_DBOV) -> None:
        if key not in KEYS or len(key) != 1:
            raise NotFoundError("telephone key", key, tuple(KEYS))
        self.key = key
        self._rate_hz = rate_hz
        row, column = divmod(KEYS.index(key), len(HIGH_HZ))
        self._hz = (LOW_HZ[row], HIGH_HZ[column])
        self._ratio = 10 ** (SENT_TWIST_DB / 20)
        self._low = 10 ** (level_dbov / 20) * np.sqrt(2 / (1 + self._ratio**2))
        self._at = 0

    def next(self, samples: int) -> Pcm:
        """The next (samples,) int16; it begins softly and may be broken off anywhere."""
        t_s = np.arange(self._at, self._at + samples) / self._rate_hz
        self._at += samples
        low, high = (np.sin(2 * np.pi * hz * t_s) for hz in self._hz)
        ramp = np.minimum(1.0, (t_s + 0.5 / self._rate_hz) * 1000 / _RAMP_MS)
        return to_int16(self._low * (low + self._ratio * high) * ramp)
