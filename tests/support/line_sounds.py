"""Sounds for tests of the line: speech-like ones with a known level, made without an engine."""

from __future__ import annotations

import numpy as np

from callm_voice.audio.pcm import Pcm, round_to_int16


def phrase(rate_hz: int, seconds: float, *, seed: int = 1, level_dbov: float = -22.0) -> Pcm:
    """Voiced syllables of 120 to 300 ms with short gaps: formants at 500, 1500 and 2500 Hz, a gliding pitch.

    `level_dbov` is roughly its active level.
    """
    rng = np.random.default_rng(seed)
    out = np.zeros(round(rate_hz * seconds))
    at = 0
    while at < out.size:
        length = round(rng.uniform(0.12, 0.3) * rate_hz)
        t = np.arange(length) / rate_hz
        phase = 2 * np.pi * np.cumsum(np.linspace(*rng.uniform(100, 180, 2), length)) / rate_hz
        partials = [
            np.exp(-(((k * 140 - formant) / 300) ** 2)) * np.sin(k * phase + k)
            for formant in (500, 1500, 2500)
            for k in range(1, 22)
        ]
        syllable = np.sum(partials, axis=0) * np.hanning(length) ** 0.3 + 0.002 * rng.standard_normal(length) * (
            t < 0.05
        )
        out[at : at + length] = syllable[: out.size - at]
        at += length + round(rng.uniform(0.01, 0.12) * rate_hz)
    rms = np.sqrt(np.mean(np.square(out)))
    return round_to_int16(out / rms * 32768 * 10 ** ((level_dbov - 0.7) / 20))


def turns(rate_hz: int, *, phrases: int = 6, seed: int = 1) -> Pcm:
    """Phrases of some seconds, of different loudness, with pauses of digital silence between them."""
    rng = np.random.default_rng(seed)
    parts = [np.zeros(rate_hz, dtype=np.int16)]
    for k in range(phrases):
        level_dbov = rng.uniform(-24, -18)
        parts += [phrase(rate_hz, rng.uniform(1.5, 4.5), seed=seed + k, level_dbov=level_dbov)]
        parts += [np.zeros(round(rate_hz * rng.uniform(1, 3)), dtype=np.int16)]
    return np.concatenate(parts)
