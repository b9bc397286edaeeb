"""Keys of a telephone as tones (DTMF, ITU-T Q.23): made, and recognised on the line.

A key is one tone of the low group and one of the high group. The detector looks at 20 ms every 10 ms with one Goertzel
filter a frequency and asks of a key what ITU-T Q.24 asks of an exchange: levels, twist, frequencies and durations.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.pcm import FULL_SCALE, Pcm, to_int16
from callm_voice.core.errors import NotFoundError

LOW_HZ = (697, 770, 852, 941)
HIGH_HZ = (1209, 1336, 1477, 1633)
_ROWS = ("123A", "456B", "789C", "*0#D")
KEYS = "".join(_ROWS)
"""In the order of the keypad: four rows (low group) of four columns (high group)."""

TONE_MS = 70
GAP_MS = 50
"""Both well over the 40 ms that every exchange must recognise (ITU-T Q.24 table A-1)."""
LEVEL_DBOV = -9.0
"""Of both tones together."""
SENT_TWIST_DB = 2.0
"""The high tone is that much louder than the low one (ETSI TBR 21: -9 and -11 dBV)."""
_RAMP_MS = 2

_HOP_MS = 10
_WINDOW_MS = 20
_LOWEST_DBOV = -45.0
"""Of both tones together. How little must be heard Q.24 leaves to each country; what we send is 36 dB louder."""
_TWIST_DB = 10.0
"""Largest difference of the two tones that counts as a key, either way; Q.24 leaves it to each country."""
_SHARE = 0.7
"""Of the power that the two tones must hold: speech does not."""
_CLEAR_DB = 6.0
"""How far the others of a group must lie below the tone."""
_DETUNE = (0.9875, 1.0, 1.0125)
"""Filters on and beside a frequency, so that what is off by 1.8 % (Q.23) still lies within one."""
_ON_LOOKS = 3
"""A tone of 40 ms fills three windows to more than `_SHARE` wherever it begins, one of 20 ms fills two at most."""
_OFF_LOOKS = 3
"""An interruption of 10 ms, which Q.24 has to be bridged, empties two; a pause of 40 ms at least four."""


def dtmf(
    keys: str, rate_hz: int, *, tone_ms: int = TONE_MS, gap_ms: int = GAP_MS, level_dbov: float = LEVEL_DBOV
) -> Pcm:
    """The keys one after the other, each followed by its gap: (len(keys) * (tone + gap),) int16.

    Args:
        keys: any of `KEYS`.
        rate_hz: of the sound.
        tone_ms: how long each key sounds.
        gap_ms: silence after each.
        level_dbov: RMS of both tones together.

    Raises:
        NotFoundError: a character that no key has.
    """
    parts = [np.zeros(0, np.int16)]
    gap = np.zeros(rate_hz * gap_ms // 1000, np.int16)
    for key in keys:
        parts += [_tone(key, rate_hz, tone_ms, level_dbov), gap]
    return np.concatenate(parts)


def _tone(key: str, rate_hz: int, tone_ms: int, level_dbov: float) -> Pcm:
    if key not in KEYS:
        raise NotFoundError("telephone key", key, tuple(KEYS))
    row, column = divmod(KEYS.index(key), len(HIGH_HZ))
    t_s = np.arange(rate_hz * tone_ms // 1000) / rate_hz
    ratio = 10 ** (SENT_TWIST_DB / 20)
    low = 10 ** (level_dbov / 20) * np.sqrt(2 / (1 + ratio**2))
    wave = low * np.sin(2 * np.pi * LOW_HZ[row] * t_s) + low * ratio * np.sin(2 * np.pi * HIGH_HZ[column] * t_s)
    ramp = np.minimum(1.0, (np.arange(t_s.size) + 0.5) / (rate_hz * _RAMP_MS / 1000))
    return to_int16(wave * ramp * ramp[::-1])


class DtmfDetector:
    """Recognises keys in a stream of sound, however it is split.

    Args:
        rate_hz: of the stream, at least 8000.
    """

    def __init__(self, rate_hz: int) -> None:
        self._hop = rate_hz * _HOP_MS // 1000
        self._window = rate_hz * _WINDOW_MS // 1000
        turns = np.outer(np.outer([*LOW_HZ, *HIGH_HZ], _DETUNE), np.arange(self._window) / rate_hz)
        self._filters = np.concatenate([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)]) / self._window
        self._lowest = (FULL_SCALE * 10 ** (_LOWEST_DBOV / 20)) ** 2
        self._quiet_peak = math.isqrt(int(self._lowest))
        """Where all samples lie below it, no window reaches the lowest level."""
        self._rest: Pcm = np.zeros(0, np.int16)
        self._candidate: str | None = None
        self._seen = 0
        self._pressed: str | None = None
        self._missed = 0

    def push(self, frame: Pcm) -> list[str]:
        """Take (samples,) int16; the keys that became certain in it, each once however long it sounds: some 40 ms
        after it began."""
        sound = np.concatenate([self._rest, frame])
        unheard = not sound.size or max(int(sound.max()), -int(sound.min())) < self._quiet_peak
        keys = []
        while sound.size >= self._window:
            key = self._follow(None if unheard else self._look(sound[: self._window]))
            if key is not None:
                keys.append(key)
            sound = sound[self._hop :]
        self._rest = sound
        return keys

    def _follow(self, seen: str | None) -> str | None:
        """Take what one window showed; the key, if it is one that was not pressed before."""
        self._seen = self._seen + 1 if seen == self._candidate else 1
        self._candidate = seen
        self._missed = 0 if seen == self._pressed else self._missed + 1
        if self._missed >= _OFF_LOOKS:
            self._pressed = None
        if seen is None or seen == self._pressed or self._seen < _ON_LOOKS:
            return None
        self._pressed, self._missed = seen, 0
        return seen

    def _look(self, window: Pcm) -> str | None:
        """The key that sounds in one window, or None."""
        samples = window.astype(np.float64)
        power = float(samples @ samples) / samples.size
        if power < self._lowest:
            return None
        parts = (self._filters @ samples).reshape(2, 2, len(LOW_HZ), -1)  # cosine and sine, group, tone, detuning
        tones = 2 * np.sum(parts**2, axis=0).max(axis=2)
        low, high = tones.max(axis=1) + 1e-9  # of int16 squared: only against a division by zero
        if low + high < _SHARE * power or abs(10 * np.log10(high / low)) > _TWIST_DB:
            return None
        if not (_stands_out(tones[0]) and _stands_out(tones[1])):
            return None
        return _ROWS[int(np.argmax(tones[0]))][int(np.argmax(tones[1]))]


def _stands_out(tones: NDArray[np.float64]) -> bool:
    """Whether one of a group's four powers is well above the others."""
    second, first = np.sort(tones)[-2:]
    return bool(first >= second * 10 ** (_CLEAR_DB / 10))
