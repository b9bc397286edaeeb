"""Keys that the caller presses, as the agent's end of the line recognises them. No clock, no I/O.

A detector says which key a tone was, some packets after it began. It is believed once a packet of that time was nearly
nothing but the two tones: a vowel may look like a key for 40 ms, above all behind a codec of few bits. (Measured: keys
0.85 and more behind AMR 4.75, 0.94 and more behind the others; vowels that the detector took for keys 0.72 at most.)

The tones themselves are no speech: where they lay is kept, so that the recogniser of words is not given them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from callm_voice.audio.pcm import level_dbov
from callm_voice.audio.tones import HIGH_HZ, LOW_HZ
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.speech.engines import Pcm

TONE_SHARE = 0.6
"""A packet with so much of its power on one row and one column is a tone."""
KEY_SHARE = 0.75
"""What one packet of a key must have."""
TONE_DBOV = -45.0
EDGE_MS = 2 * PTIME_MS
"""Around a tone: packets that hold only a part of it, and what codec and band filter smear."""
AUDIBLE_DBOV = -50.0
"""What is left of a turn without its tones is worth recognising if any packet of it is louder."""
LATE_MS = 60.0
"""How long after its end a tone may be recognised."""


class Detector(Protocol):
    """What recognises tones: `audio.tones.DtmfDetector`."""

    def push(self, frame: Pcm) -> list[str]:
        """Take one packet; the keys newly recognised."""
        ...


@dataclass
class _Tone:
    start_ms: float
    end_ms: float
    key: bool = False
    """The detector called it one."""


class Keypad:
    """The keys of the caller's present turn.

    Args:
        detector: fed with every packet.
        rate_hz: of the line.
        interdigit_ms: so long after the last tone the input is complete.
    """

    def __init__(self, detector: Detector, *, rate_hz: int, interdigit_ms: int) -> None:
        self._detector, self._rate_hz, self._interdigit_ms = detector, rate_hz, interdigit_ms
        self._probe = _probe(rate_hz)
        self._tones: list[_Tone] = []
        self._unsure: list[tuple[str, float]] = []
        """Keys of the detector's that are not believed yet, and when it told them."""
        self._best = (0.0, float("-inf"))
        """The purest packet of late, and when."""
        self._last_ms = float("-inf")
        """End of the last tone that was a key."""
        self.keys = ""
        """Recognised and not taken yet."""

    def push(self, frame: Frame, t_ms: float) -> list[str]:
        """Take one packet that ends at `t_ms` on the line's clock; the keys newly recognised."""
        share = self._share(frame)
        self._follow(share, t_ms)
        if share >= self._best[0] or t_ms - self._best[1] > LATE_MS:
            self._best = (share, t_ms)
        self._unsure += [(key, t_ms) for key in self._detector.push(frame)]
        believed = self._best[0] >= KEY_SHARE
        pressed = [key for key, _ in self._unsure] if believed else []
        self._unsure = [] if believed else [told for told in self._unsure if t_ms - told[1] < LATE_MS]
        for key in pressed:
            self._confirm(t_ms)
            self.keys += key
        if self.keys and self._tones and self._tones[-1].key:
            self._last_ms = max(self._last_ms, self._tones[-1].end_ms)
        return pressed

    def complete(self, t_ms: float) -> bool:
        """Whether keys were pressed and no more come."""
        return bool(self.keys) and t_ms - self._last_ms >= self._interdigit_ms

    def take(self) -> str:
        """The keys; the next ones are of another turn."""
        keys, self.keys = self.keys, ""
        return keys

    def muted(self, pcm: Pcm, start_ms: float) -> Pcm:
        """A segment that begins at `start_ms` with silence in the place of its keys' tones."""
        quiet = pcm.copy()
        for tone in self._tones:
            if tone.key:
                first, last = (
                    round((ms - start_ms) * self._rate_hz / 1000)
                    for ms in (tone.start_ms - EDGE_MS, tone.end_ms + EDGE_MS)
                )
                quiet[max(0, first) : max(0, last)] = 0
        return quiet

    def audible(self, pcm: Pcm) -> bool:
        """Whether any packet of it could be speech."""
        size = self._rate_hz * PTIME_MS // 1000
        return any(level_dbov(pcm[i : i + size]) > AUDIBLE_DBOV for i in range(0, pcm.size, size))

    def forget(self) -> None:
        """The tones so far belong to turns that are over."""
        self._tones.clear()

    def _follow(self, share: float, t_ms: float) -> None:
        if share < TONE_SHARE:
            return
        begin_ms = t_ms - PTIME_MS
        if self._tones and self._tones[-1].end_ms >= begin_ms:
            self._tones[-1].end_ms = t_ms
        else:
            self._tones.append(_Tone(begin_ms, t_ms))

    def _share(self, frame: Frame) -> float:
        """Of the packet's power, what the strongest row and column hold; 0 for a quiet one."""
        if level_dbov(frame) < TONE_DBOV:
            return 0.0
        samples = frame.astype(np.float64)
        found = np.square(np.abs(self._probe[:, : samples.size] @ samples)) * 2 / samples.size
        return float((found[:4].max() + found[4:].max()) / np.sum(np.square(samples)))

    def _confirm(self, t_ms: float) -> None:
        """The latest tone is a key; on a line where none was seen, the last packets are."""
        if not self._tones or t_ms - self._tones[-1].end_ms > LATE_MS or self._tones[-1].key:
            self._tones.append(_Tone(t_ms - 3 * PTIME_MS, t_ms))
        self._tones[-1].key = True
        self._last_ms = max(self._last_ms, t_ms)


def _probe(rate_hz: int) -> np.ndarray:
    """One complex oscillation a frequency: shape (8, samples of a packet)."""
    samples = np.arange(rate_hz * PTIME_MS // 1000)
    return np.exp(-2j * np.pi * np.array([*LOW_HZ, *HIGH_HZ])[:, None] * samples / rate_hz)
