"""The band of a telephone line: what lies outside it is attenuated, with state from packet to packet.

Four Butterworth poles per edge. The attenuation at the edges themselves is 1.8 dB, the limit that ITU-T G.712 sets at
3400 Hz; between 400 and 3000 Hz the response is flat within 0.3 dB. G.712 also wants 14 dB at 4 kHz: at a rate of
8 kHz that is the Nyquist frequency, where this filter has its zero, so the figure that means something is the one just
below: 22 dB at 3.7 kHz. What lies above 4 kHz is kept out by whoever resamples to the line's rate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from callm_voice.audio.pcm import Pcm, round_to_int16

try:
    from scipy.signal._sosfilt import _sosfilt  # the loop behind `signal.sosfilt`
except ImportError:  # another release of SciPy may have moved it
    _sosfilt = None

EDGE_DB = 1.8
"""Attenuation at both edges of the band."""
POLES_PER_EDGE = 4
_SETTLED = 1e-60
"""A state this small is lost in rounding at the first sample that is not zero, so forgetting it changes no output."""


class BandFilter:
    """A band-pass over int16 packets of any length. However the input is split, the output is the same samples.

    Args:
        low_hz, high_hz: edges of the band.
        rate_hz: of the line; `high_hz` lies below its half.
    """

    def __init__(self, low_hz: float, high_hz: float, rate_hz: int) -> None:
        self.low_hz, self.high_hz, self.rate_hz = low_hz, high_hz, rate_hz
        self._sos = _design(low_hz, high_hz, rate_hz)
        self._state = np.zeros((len(self._sos), 2))
        self._at_rest = True

    def process(self, frame: Pcm) -> Pcm:
        """The filtered (samples,) int16, as many as went in."""
        silent = not np.count_nonzero(frame)
        if frame.size == 0 or (silent and self._at_rest):
            return np.zeros(frame.size, dtype=np.int16)
        out = self._filter(frame)
        # Left alone, the state of a silent line would decay into denormal numbers, which are slow.
        self._at_rest = silent and float(np.abs(self._state).max()) < _SETTLED
        if self._at_rest:
            self._state[:] = 0.0
        return round_to_int16(out)

    def filter(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `process`, for floats on the scale of int16, not rounded. One object does one or the other."""
        return self._filter(samples)

    def _filter(self, frame: Pcm | NDArray[np.float64]) -> NDArray[np.float64]:
        """What `signal.sosfilt` gives; its checks take 20 times as long as the filtering of a packet."""
        if _sosfilt is None:
            out, self._state = signal.sosfilt(self._sos, frame, zi=self._state)
            return np.asarray(out)
        samples = frame.astype(np.float64)
        _sosfilt(self._sos, samples[np.newaxis], self._state[np.newaxis])  # both in place
        return samples

    def response_db(self, hz: float) -> float:
        """Gain at one frequency."""
        _, response = signal.sosfreqz(self._sos, worN=[hz], fs=self.rate_hz)
        return float(20 * np.log10(np.abs(response[0]) + 1e-15))

    def power_gains(self, hz: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Gain in power, 1.0 = unchanged, at each frequency; shape as `hz`."""
        _, response = signal.sosfreqz(self._sos, worN=hz, fs=self.rate_hz)
        return np.asarray(np.square(np.abs(response)), dtype=np.float64)

    def group_delay_samples(self, hz: float) -> float:
        """Group delay at one frequency: the sum over the sections."""
        per_section = [signal.group_delay((s[:3], s[3:]), w=[hz], fs=self.rate_hz)[1][0] for s in self._sos]
        return float(sum(per_section))


def _design(low_hz: float, high_hz: float, rate_hz: int) -> np.ndarray:
    """Second-order sections (8 poles, one section per two): high-pass, then low-pass.

    The 3 dB corner that gives `EDGE_DB` at an edge follows from the Butterworth magnitude
    |H|² = 1 / (1 + (f / fc)^(2n)), with both frequencies on the bilinear transform's axis tan(π f / rate).
    """
    ratio = (10 ** (EDGE_DB / 10) - 1) ** (1 / (2 * POLES_PER_EDGE))
    low_corner_hz = _unwarp(_warp(low_hz, rate_hz) * ratio, rate_hz)
    high_corner_hz = _unwarp(_warp(high_hz, rate_hz) / ratio, rate_hz)
    high_pass = signal.butter(POLES_PER_EDGE, low_corner_hz, "highpass", fs=rate_hz, output="sos")
    low_pass = signal.butter(POLES_PER_EDGE, high_corner_hz, "lowpass", fs=rate_hz, output="sos")
    return np.vstack([high_pass, low_pass])


def _warp(hz: float, rate_hz: int) -> float:
    return float(np.tan(np.pi * hz / rate_hz))


def _unwarp(warped: float, rate_hz: int) -> float:
    return float(np.arctan(warped) * rate_hz / np.pi)
