"""The packets' way between two ends, without I/O: which are lost, and when the others arrive.

Only what varies is simulated. A constant time of transit would add the same to every answer and say nothing about a
model, so times of arrival count from the quickest way there is.

Packets of one stream stay in order: one that is delayed holds up those behind it, which then arrive together, as they
do behind a queue. So what is drawn per packet is the delay that it would have alone.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from callm_voice.line.loss import LossModel

_DRAWS = 512
"""Delays that are drawn at a time. Part of what a seed means."""


class Jitter(Protocol):
    """Draws how late packets are, each by itself."""

    def draw(self, rng: np.random.Generator, packets: int) -> NDArray[np.float64]:
        """Delays in ms, shape (packets,), none below 0."""
        ...


class GammaJitter:
    """A gamma distribution: many packets are quick, a few are much later.

    Args:
        mean_ms, sd_ms: of the distribution.
    """

    def __init__(self, mean_ms: float, sd_ms: float) -> None:
        self._shape = (mean_ms / sd_ms) ** 2
        self._scale_ms = sd_ms**2 / mean_ms

    def draw(self, rng: np.random.Generator, packets: int) -> NDArray[np.float64]:
        return rng.gamma(self._shape, self._scale_ms, packets)


class UniformJitter:
    """Every delay from 0 to `max_ms` is as likely as any other."""

    def __init__(self, max_ms: float) -> None:
        self._max_ms = max_ms

    def draw(self, rng: np.random.Generator, packets: int) -> NDArray[np.float64]:
        return rng.uniform(0.0, self._max_ms, packets)


class SpikyJitter:
    """Another jitter with spikes on it: now and then one packet is held back for long, and all behind it queue.

    Args:
        base: the jitter between the spikes; None: none.
        spike_ms: height of a spike.
        per_packet: chance that a packet begins one.
    """

    def __init__(self, base: Jitter | None, spike_ms: float, per_packet: float) -> None:
        self._base, self._spike_ms, self._per_packet = base, spike_ms, per_packet

    def draw(self, rng: np.random.Generator, packets: int) -> NDArray[np.float64]:
        delays = self._base.draw(rng, packets) if self._base else np.zeros(packets)
        return delays + self._spike_ms * (rng.random(packets) < self._per_packet)


class PacketNetwork:
    """Takes packets in the order of sending and says of each when it arrives.

    Args:
        loss: which are lost. The first packet never is, and has no delay: the receiver's time counts from it.
        jitter: how late the others are; None: not at all.
        seed: of the jitter.
    """

    def __init__(self, loss: LossModel, jitter: Jitter | None, seed: int) -> None:
        self._loss, self._jitter = loss, jitter
        self._rng = np.random.default_rng(seed)
        self._delays_ms: list[float] = []
        self._last_arrival_ms: float | None = None
        self.sent = 0
        self.lost = 0

    def send(self, sent_ms: float) -> float | None:
        """When a packet that is sent now arrives, on the sender's time without transit; None: never."""
        self.sent += 1
        lost, delay_ms = self._loss.lost(), self._delay_ms()
        if self._last_arrival_ms is None:
            lost, delay_ms = False, 0.0
        if lost:
            self.lost += 1
            return None
        arrival_ms = max(sent_ms + delay_ms, self._last_arrival_ms or 0.0)
        self._last_arrival_ms = arrival_ms
        return arrival_ms

    def _delay_ms(self) -> float:
        if self._jitter is None:
            return 0.0
        if not self._delays_ms:
            self._delays_ms = self._jitter.draw(self._rng, _DRAWS)[::-1].tolist()
        return self._delays_ms.pop()
