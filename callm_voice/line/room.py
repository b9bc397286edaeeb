"""A hands-free telephone in a room, made up from a seed: what the talker sounds like from a distance, and the echo.

A room's response is the direct sound, a few early reflections and a tail of noise that dies away by 60 dB in the
reverberation time. Its energy is 1, so it does not change a level; how far away the talker is shows in the ratio of
direct to reverberant sound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float64]
FIRST_REFLECTION_MS = 3.0
"""A detour of a metre: a table, a wall."""
EARLY = 6
EARLY_UNTIL_MS = 25.0
_TAIL_DB = 50.0
"""The tail is cut where it is this far down: what comes then is under the noise of any line."""


def room_response(rng: np.random.Generator, rate_hz: int, reverberation_ms: float, direct_db: float) -> Samples:
    """The response of a room, shape (samples,), energy 1, the direct sound at sample 0.

    Args:
        reverberation_ms: time in which sound dies away by 60 dB.
        direct_db: level of the direct sound against all the rest.
    """
    length = max(2, round(reverberation_ms * _TAIL_DB / 60 * rate_hz / 1000))
    decay = 10 ** (-3 * np.arange(length) / (reverberation_ms * rate_hz / 1000))
    rest = rng.standard_normal(length) * decay
    first = round(FIRST_REFLECTION_MS * rate_hz / 1000)
    rest[:first] = 0.0
    last = min(round(EARLY_UNTIL_MS * rate_hz / 1000), length)
    if last > first:
        at = rng.integers(first, last, EARLY)
        rest[at] += rng.choice([-1.0, 1.0], EARLY) * rng.uniform(2, 4, EARLY) * decay[at]
    rest *= np.sqrt(1 / (np.sum(np.square(rest)) + 1e-12))
    rest[0] = 10 ** (direct_db / 20)
    return np.asarray(rest / np.sqrt(np.sum(np.square(rest))))


def echo_response(
    rng: np.random.Generator, rate_hz: int, reverberation_ms: float, loss_db: float, delay_ms: float
) -> Samples:
    """From what the loudspeaker plays to what the far end hears of it: the room, later and weaker."""
    delay = round(delay_ms * rate_hz / 1000)
    return np.pad(10 ** (-loss_db / 20) * room_response(rng, rate_hz, reverberation_ms, 0.0), (delay, 0))


class Convolver:
    """Sends packets of one length through responses side by side (overlap-save, in parts of a packet's length).

    Args:
        responses: one per signal, shape (taps,) each.
        samples: of one packet.
    """

    def __init__(self, responses: Sequence[Samples], samples: int) -> None:
        self._samples = samples
        self._parts = max(-(-response.size // samples) for response in responses)
        padded = [np.pad(response, (0, self._parts * samples - response.size)) for response in responses]
        spectra = np.fft.rfft(np.reshape(padded, (len(responses), self._parts, samples)), 2 * samples).conj()
        self._spectra = np.ascontiguousarray(np.moveaxis(np.concatenate([spectra, spectra], axis=1), 1, 2))
        """Shape (responses, frequencies, parts): conjugates, as `np.vecdot` takes its first argument's. All parts twice
        in a row, so that a slice of them goes with `_past` wherever that begins."""
        self._past = np.zeros((*self._spectra.shape[:2], self._parts), dtype=np.complex128)
        """Spectra of the last packets, each with the one before it, in a ring that runs backwards."""
        self._newest = 0
        self._window: Samples = np.zeros((len(responses), 2 * samples))
        self._spectrum = np.zeros(self._spectra.shape[:2], dtype=np.complex128)
        self._silent_packets = self._parts + 1

    def process(self, frames: Samples) -> Samples:
        """The convolved packets, shape (signals, samples) as what goes in."""
        self._silent_packets = 0 if np.count_nonzero(frames) else self._silent_packets + 1
        if self._silent_packets > self._parts + 1:
            return np.zeros_like(frames)
        self._window[:, : self._samples] = self._window[:, self._samples :]
        self._window[:, self._samples :] = frames
        self._newest = (self._newest - 1) % self._parts
        self._past[..., self._newest] = np.fft.rfft(self._window, out=self._spectrum)
        spectra = self._spectra[..., self._parts - self._newest : 2 * self._parts - self._newest]
        return np.asarray(np.fft.irfft(np.vecdot(spectra, self._past))[:, self._samples :])
