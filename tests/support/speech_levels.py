"""Levels of speech and of noise in finished signals: the instrument against which the line's own meter is proved.

It shares no code with `line/speechlevel.py`, which meters a stream and looks once a millisecond: this one has the whole
signal and looks at every sample. The level of speech is its active level (ITU-T P.56 method B): pauses do not count.
All levels are in dBov.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from scipy.signal import lfilter

from callm_voice.audio.pcm import FULL_SCALE, Pcm, level_dbov

SMOOTHING_S = 0.03
"""Time constant of the envelope (P.56 §8.3), which is smoothed twice."""
HANGOVER_S = 0.2
"""Shorter gaps belong to the speech."""
MARGIN_DB = 15.9
"""The active level lies that far over the threshold that says what is active."""
_THRESHOLDS = 2.0 ** -np.arange(1, 16)
"""Of full scale, from -6 to -90 dB."""
_STEADY_S = 0.2
_STEADY_DB = 1.5
"""Noise is what the quietest stretches hold: those of 200 ms within 1.5 dB of the quietest."""
_OVER_NOISE_DB = 6.0

Samples = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Levels:
    """What a recording of somebody who speaks over a steady noise holds."""

    speech_dbov: float
    """Active level of the speech without the noise under it; -inf: none stands out."""
    activity: float
    """Share of the time with speech, 0 to 1."""
    noise_dbov: float
    """-inf: digital silence."""

    @property
    def snr_db(self) -> float:
        """inf without noise; -inf without speech."""
        return math.inf if math.isinf(self.noise_dbov) else self.speech_dbov - self.noise_dbov


def active_level(pcm: Pcm, rate_hz: int) -> tuple[float, float]:
    """Active speech level in dBov and activity factor, 0 to 1, of a mono signal without much noise (P.56 method B).

    Silence gives (-inf, 0). Noise less than about 16 dB under the speech counts as speech, as the method has it.
    """
    samples = pcm.astype(np.float64) / FULL_SCALE
    energy = float(samples @ samples)
    if energy == 0:
        return -math.inf, 0.0
    envelope = _envelope(samples, rate_hz)
    above = None
    for threshold in _THRESHOLDS:
        active = int(np.count_nonzero(_with_hangover(envelope >= threshold, rate_hz)))
        if not active:
            continue
        level = 10 * math.log10(energy / active)
        excess = level - 20 * math.log10(threshold) - MARGIN_DB
        if excess >= 0:
            if above is not None:
                share = above[1] / (above[1] - excess)
                level = above[0] + share * (level - above[0])
            return level, _activity(energy, samples.size, level)
        above = (level, excess)
    level = above[0] if above else 10 * math.log10(energy / samples.size)
    return level, _activity(energy, samples.size, level)


def noise_level(pcm: Pcm, rate_hz: int) -> float:
    """Level of the steady noise under speech, from the pauses; -inf for digital silence. A signal without a pause of
    200 ms gives the level of its quietest stretch, an upper bound."""
    return _dbov(_noise_power(pcm.astype(np.float64) / FULL_SCALE, rate_hz))


def measure(pcm: Pcm, rate_hz: int) -> Levels:
    """Speech, noise and activity of a mono recording, the two parts of which are not known apart.

    Speech is where the envelope of P.56 lies 6 dB over that of the noise, with the hangover of P.56. Down to an SNR of
    10 dB the levels lie within some 1.5 dB of those of the parts; the activity is low where syllables are as faint as
    the noise.
    """
    samples = pcm.astype(np.float64) / FULL_SCALE
    noise = _noise_power(samples, rate_hz)
    if noise == 0:
        level, activity = active_level(pcm, rate_hz)
        return Levels(level, activity, -math.inf)
    mean_magnitude = math.sqrt(noise * 2 / math.pi)  # of Gaussian noise
    threshold = mean_magnitude * 10 ** (_OVER_NOISE_DB / 20)
    active = _with_hangover(_envelope(samples, rate_hz) >= threshold, rate_hz)
    if not active.any():
        return Levels(-math.inf, 0.0, _dbov(noise))
    power = float(np.mean(samples[active] ** 2)) - noise
    return Levels(_dbov(max(power, 0.0)), float(np.mean(active)), _dbov(noise))


def snr_db(speech: Pcm, noise: Pcm, rate_hz: int) -> float:
    """Active level of the speech over the level of the noise, each by itself: what a profile's SNR means."""
    return active_level(speech, rate_hz)[0] - level_dbov(noise)


def _envelope(samples: Samples, rate_hz: int) -> Samples:
    """The magnitude, smoothed twice."""
    keep = math.exp(-1 / (rate_hz * SMOOTHING_S))
    envelope: Samples = lfilter([(1 - keep) ** 2], [1, -2 * keep, keep**2], np.abs(samples))
    return envelope


def _with_hangover(above: Mask, rate_hz: int) -> Mask:
    """True also for the 200 ms after each stretch."""
    at = np.arange(above.size)
    hangover = round(HANGOVER_S * rate_hz)
    last = np.maximum.accumulate(np.where(above, at, -1 - hangover))
    held: Mask = at - last <= hangover
    return held


def _activity(energy: float, samples: int, level: float) -> float:
    """The share of the time that carries all the energy at this level."""
    return min(1.0, energy / samples / 10 ** (level / 10))


def _noise_power(samples: Samples, rate_hz: int) -> float:
    """Mean power of the steady, quietest stretches; of everything if the signal is shorter than one."""
    size = round(_STEADY_S * rate_hz)
    power = samples**2
    if samples.size <= size:
        return float(np.mean(power)) if samples.size else 0.0
    means = uniform_filter1d(power, size)[size // 2 : samples.size - size + size // 2 + 1]
    quietest = max(float(np.min(means)), 0.0)
    if quietest < 1e-12:  # of rounding in the running mean: less than a tenth of one step of int16
        return 0.0
    steady = means[means <= quietest * 10 ** (_STEADY_DB / 10)]
    return float(np.mean(steady))


def _dbov(power: float) -> float:
    return 10 * math.log10(power) if power > 0 else -math.inf
