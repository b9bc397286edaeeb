"""A café's other guests, made up: several talkers at once, none of whom says anything. No recording is behind it.

A talker is a pitch, a vocal tract's length and a rate of speech. Its syllables are a buzz (the glottis) through three
resonances (the formants of a vowel), some with a hiss in front (a consonant); they come in phrases with pauses between.
A bank of syllables is made once; from then on babble is only their sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import signal

TALKERS = 8
SYLLABLES_EACH = 12
VOWELS_HZ = (
    (300, 2250, 3000),
    (400, 2000, 2600),
    (550, 1800, 2500),
    (700, 1200, 2500),
    (550, 900, 2400),
    (350, 800, 2300),
)
"""First three formants of six vowels of a grown man, in round figures (as in Peterson and Barney, 1952)."""
BANDWIDTHS_HZ = (80, 110, 160)
HISS_SHARE = 0.5
"""So many of the syllables begin with a consonant."""
PHRASE = (3, 11)
"""Syllables of a phrase: at least the first, fewer than the second."""
PAUSE_S = (0.2, 0.9)
UNEVENNESS = (0.7, 1.3)
"""Time from syllable to syllable, as a factor."""
LOUDNESS = (0.6, 1.0)

Samples = NDArray[np.floating[Any]]


class Babble:
    """A stream of babble with a mean power of 1.

    Args:
        rate_hz: of the sound.
        seed: of the talkers and of what they do.
        energy: of a sound, as far as it counts (in the band of a line).
    """

    def __init__(self, rate_hz: int, seed: int, energy: Callable[[Samples], float]) -> None:
        self._rate_hz = rate_hz
        self._rng = np.random.default_rng(seed)
        self._talkers = [_Talker.make(self._rng, rate_hz) for _ in range(TALKERS)]
        power = sum(talker.power(energy) for talker in self._talkers) / rate_hz
        self._scale = power**-0.5
        self._tail: Samples = np.zeros(0)

    def next(self, samples: int) -> Samples:
        """The next `samples`, shape (samples,)."""
        out = np.zeros(samples + self._rate_hz)
        out[: self._tail.size] = self._tail
        for talker in self._talkers:
            talker.speak(self._rng, out, samples, self._rate_hz)
        self._tail = out[samples:]
        return np.asarray(self._scale * out[:samples])


@dataclass
class _Talker:
    syllables: tuple[Samples, ...]
    gain: float
    per_s: float
    """Syllables a second within a phrase."""
    at: int
    """Where the next syllable begins, in samples from the next block's first."""
    left: int
    """Syllables of this phrase to come."""

    @classmethod
    def make(cls, rng: np.random.Generator, rate_hz: int) -> _Talker:
        pitch_hz = rng.uniform(85, 230)
        tract = 0.92 + 0.26 * (pitch_hz - 85) / 145 + rng.uniform(-0.04, 0.04)
        return cls(
            syllables=tuple(_syllable(rng, rate_hz, pitch_hz, tract) for _ in range(SYLLABLES_EACH)),
            gain=10 ** (rng.uniform(-8, 0) / 20),
            per_s=rng.uniform(3.5, 5.5),
            at=int(rng.uniform(0, 0.6) * rate_hz),
            left=int(rng.integers(*PHRASE)),
        )

    def speak(self, rng: np.random.Generator, out: Samples, samples: int, rate_hz: int) -> None:
        """Add the syllables that begin within the next `samples`; they may end later."""
        while self.at < samples:
            syllable = self.syllables[rng.integers(len(self.syllables))]
            out[self.at : self.at + syllable.size] += self.gain * _uniform(rng, LOUDNESS) * syllable
            self.left -= 1
            wait_s = _uniform(rng, UNEVENNESS) / self.per_s
            if self.left == 0:
                wait_s += _uniform(rng, PAUSE_S)
                self.left = int(rng.integers(*PHRASE))
            self.at += round(wait_s * rate_hz)
        self.at -= samples

    def power(self, energy: Callable[[Samples], float]) -> float:
        """Mean energy a second: that of a mean syllable over the mean time from one to the next."""
        mean_energy = sum(energy(s) for s in self.syllables) / len(self.syllables)
        low, high = LOUDNESS
        loudness = (low**2 + low * high + high**2) / 3
        phrase = (PHRASE[0] + PHRASE[1] - 1) / 2
        wait_s = sum(UNEVENNESS) / 2 / self.per_s + sum(PAUSE_S) / 2 / phrase
        return self.gain**2 * loudness * mean_energy / wait_s


def _uniform(rng: np.random.Generator, bounds: tuple[float, float]) -> float:
    """What `rng.uniform` draws, without its handling of arrays, which takes five times as long."""
    low, high = bounds
    return low + (high - low) * rng.random()


def _syllable(rng: np.random.Generator, rate_hz: int, pitch_hz: float, tract: float) -> Samples:
    """One syllable, at most 0.4 s, about 1 in level."""
    voiced = int(rng.uniform(0.09, 0.24) * rate_hz)
    glide = np.linspace(rng.uniform(0.95, 1.2), rng.uniform(0.8, 1.0), voiced)
    phase = np.cumsum(pitch_hz * glide) / rate_hz
    sound: Samples = 1.0 - 2.0 * (phase % 1.0) + 0.1 * rng.standard_normal(voiced)
    for formant_hz, bandwidth_hz in zip(VOWELS_HZ[rng.integers(len(VOWELS_HZ))], BANDWIDTHS_HZ, strict=True):
        sound = _resonance(sound, min(formant_hz * tract, 0.45 * rate_hz), bandwidth_hz, rate_hz)
    sound *= np.hanning(voiced) ** 0.5
    sound /= np.sqrt(np.mean(np.square(sound))) + 1e-9
    if rng.random() >= HISS_SHARE:
        return np.asarray(sound)
    length = int(rng.uniform(0.04, 0.1) * rate_hz)
    hiss = np.diff(rng.standard_normal(length + 1)) * np.hanning(length) * 0.35
    return np.concatenate([hiss, sound])


def _resonance(sound: Samples, hz: float, bandwidth_hz: float, rate_hz: int) -> Samples:
    """A pair of poles with gain 1 at 0 Hz."""
    radius = np.exp(-np.pi * bandwidth_hz / rate_hz)
    poles = np.array([1.0, -2 * radius * np.cos(2 * np.pi * hz / rate_hz), radius**2])
    return np.asarray(signal.lfilter([poles.sum()], poles, sound))
