"""Speech-like sound for the audio tests: pulses and noise through two resonances, in syllables, with pauses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import correlate, lfilter

from callm_voice.audio.pcm import Pcm, to_int16

PEAK = 0.5
"""Of full scale."""


def speech_like(rate_hz: int, seconds: float, seed: int = 1) -> Pcm:
    """(rate_hz * seconds,) int16. No two pitch periods are alike, so that a delay shows as one peak of correlation."""
    rng = np.random.default_rng(seed)
    total = round(rate_hz * seconds)
    parts: list[NDArray[np.floating]] = []
    size = 0
    while size < total:
        part = _syllable(rate_hz, rng)
        pause = np.zeros(int(rate_hz * rng.uniform(0.02, 0.1)))
        parts += [part, pause]
        size += part.size + pause.size
    wave = np.concatenate(parts)[:total]
    return to_int16(wave * (PEAK / np.max(np.abs(wave))))


def _syllable(rate_hz: int, rng: np.random.Generator) -> NDArray[np.floating]:
    size = int(rate_hz * rng.uniform(0.08, 0.25))
    excitation = 0.02 * rng.standard_normal(size)
    if rng.random() < 0.8:
        at = 0.0
        while at < size:
            excitation[int(at)] += 1.0
            at += rate_hz / rng.uniform(90, 220)
    for centre_hz, width_hz in ((rng.uniform(300, 800), 90), (rng.uniform(900, 2400), 130)):
        radius, angle = np.exp(-np.pi * width_hz / rate_hz), 2 * np.pi * centre_hz / rate_hz
        excitation = lfilter([1.0], [1.0, -2 * radius * np.cos(angle), radius**2], excitation)
    return np.asarray(excitation * np.hanning(size))


def best_lag(reference: Pcm, late: Pcm, longest: int) -> int:
    """The lag of `late` behind `reference`, 0 to `longest` samples, where they correlate best."""
    size = min(reference.size, late.size) - longest
    scores = correlate(late[: size + longest].astype(float), reference[:size].astype(float), mode="valid", method="fft")
    return int(np.argmax(scores))
