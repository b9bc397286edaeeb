"""One codec and its packets, without I/O: encoder, RTP, loss and jitter, jitter buffer, decoder or concealment.

frame -> encoder -> RTP packet -> network -> jitter buffer -> decoder -> frame
                                                  '-> concealment -'
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from callm_voice.audio.codecs import Codec
from callm_voice.audio.pcm import Pcm
from callm_voice.core.events import ConcealedBy
from callm_voice.core.ids import derive_seed
from callm_voice.line.jitter import Conceal, Counts, Play, Pulled
from callm_voice.line.leg import PTIME_MS
from callm_voice.line.loss import BurstLoss, LossModel, NoLoss, independent
from callm_voice.line.network import GammaJitter, Jitter, PacketNetwork, SpikyJitter, UniformJitter
from callm_voice.line.profile_parts import (
    GammaJitterSpec,
    GilbertElliottLoss,
    IndependentLoss,
    Network,
)
from callm_voice.line.receiver import PacketReceiver
from callm_voice.line.rtp import SEQUENCE_MODULUS, TIMESTAMP_MODULUS, RtpPacket

PAYLOAD_TYPE = 96
"""Dynamic (RFC 3551 §6): what is in the packets both ends know."""
PACKETS_PER_MIN = 60_000 / PTIME_MS


@dataclass(frozen=True)
class Burst:
    """Slots in a row whose packets were not there."""

    first_tick: int
    """At which the first of them should have been heard."""
    packets: int
    lost: int
    """Of them, those that never came; the others came too late."""
    concealed_by: ConcealedBy


class Packets(Protocol):
    """One direction of one codec's packets. A call of `process` is one packet time."""

    @property
    def delay_ms(self) -> float:
        """How much later sound comes out than it went in, but for the codec's own delay; now."""
        ...

    @property
    def counts(self) -> Counts: ...
    @property
    def concealed_by(self) -> ConcealedBy: ...
    @property
    def sent(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def mean_burst(self) -> float | None: ...
    def process(self, frame: Pcm) -> Pcm: ...
    def finished_bursts(self, *, end: bool = False) -> list[Burst]: ...


class SentPackets(Packets, Protocol):
    """The same, and the packets are really sent."""

    async def arrived(self) -> None:
        """Return when all that was sent has come to the other end, or will not. Bounded; no time passes."""
        ...


class BurstNotes:
    """Gathers slots whose packets were not there into bursts."""

    def __init__(self, concealed_by: ConcealedBy) -> None:
        self._concealed_by = concealed_by
        self._never: set[int] = set()
        self._open: Burst | None = None
        self._closed: list[Burst] = []
        self._bursts = self._packets = 0

    @property
    def mean_burst(self) -> float | None:
        """Mean number of slots concealed in a row so far; None: none were."""
        return self._packets / self._bursts if self._bursts else None

    def lost(self, slot: int) -> None:
        """The packet of this slot never comes. Slots and ticks of sending have the same numbers."""
        self._never.add(slot)

    def note(self, pulled: Pulled, tick: int) -> None:
        """What the jitter buffer said at this tick."""
        if isinstance(pulled, Play):
            self._close()
        elif isinstance(pulled, Conceal):
            lost = pulled.slot in self._never
            self._never.discard(pulled.slot)
            if self._open is None:
                self._bursts += 1
                self._open = Burst(tick, 0, 0, self._concealed_by)
            self._open = replace(self._open, packets=self._open.packets + 1, lost=self._open.lost + lost)
            self._packets += 1

    def finished(self, *, end: bool = False) -> list[Burst]:
        """Bursts that are over and were not given out before; with `end` the open one too."""
        if end:
            self._close()
        found, self._closed = self._closed, []
        return found

    def _close(self) -> None:
        if self._open is not None:
            self._closed.append(self._open)
            self._open = None


class PacketPath:
    """One direction of one codec's packets. A call of `process` is one packet time.

    Args:
        codec: for this direction alone.
        network: loss, jitter, buffer, concealment.
        seed: of all draws.
    """

    def __init__(self, codec: Codec, network: Network, seed: int) -> None:
        self._codec = codec
        self._samples = codec.rate_hz * PTIME_MS // 1000
        self._network = make_network(network, seed)
        self._receiver = PacketReceiver(codec, network.buffer, network.concealment)
        rng = np.random.default_rng(derive_seed(seed, "rtp"))  # RFC 3550 §5.1: these begin at random
        self._sequence, self._timestamp, self._ssrc = (int(n) for n in rng.integers(0, (1 << 16, 1 << 32, 1 << 32)))
        self._tick = 0
        self._under_way: list[tuple[float, RtpPacket]] = []
        self._notes = BurstNotes(self._receiver.concealed_by)

    @property
    def delay_ms(self) -> float:
        """Of the jitter buffer now."""
        return self._receiver.delay_ms

    @property
    def concealed_by(self) -> ConcealedBy:
        """What stands in for missing packets."""
        return self._receiver.concealed_by

    @property
    def counts(self) -> Counts:
        """Of the jitter buffer so far."""
        return self._receiver.counts

    @property
    def sent(self) -> int:
        """Packets that were sent so far."""
        return self._network.sent

    @property
    def lost(self) -> int:
        """Packets of those that never arrive."""
        return self._network.lost

    @property
    def mean_burst(self) -> float | None:
        """Mean number of slots concealed in a row so far; None: none were."""
        return self._notes.mean_burst

    def process(self, frame: Pcm) -> Pcm:
        """What is heard at the far end in the packet time in which `frame` is spoken; both (samples,) int16."""
        now_ms = float(self._tick * PTIME_MS)
        self._send(self._codec.encode(frame), now_ms)
        while self._under_way and self._under_way[0][0] <= now_ms:
            arrival_ms, packet = self._under_way.pop(0)
            self._receiver.push(packet, arrival_ms)
        pulled, heard = self._receiver.play(now_ms)
        self._notes.note(pulled, self._tick)
        self._tick += 1
        return heard

    def finished_bursts(self, *, end: bool = False) -> list[Burst]:
        """Bursts that are over and were not given out before; with `end` the open one too."""
        return self._notes.finished(end=end)

    def _send(self, payload: bytes, now_ms: float) -> None:
        packet = RtpPacket(PAYLOAD_TYPE, self._sequence, self._timestamp, self._ssrc, payload)
        self._sequence = (self._sequence + 1) % SEQUENCE_MODULUS
        self._timestamp = (self._timestamp + self._samples) % TIMESTAMP_MODULUS
        arrival_ms = self._network.send(now_ms)
        if arrival_ms is None:
            self._notes.lost(self._tick)
        else:
            self._under_way.append((arrival_ms, packet))


def make_network(network: Network, seed: int) -> PacketNetwork:
    """What a profile's network does to one direction's packets; the same seed draws the same."""
    return PacketNetwork(_loss(network, derive_seed(seed, "loss")), _jitter(network), derive_seed(seed, "jitter"))


def _loss(network: Network, seed: int) -> LossModel:
    spec = network.loss
    if isinstance(spec, IndependentLoss):
        return independent(spec.rate_percent / 100, seed)
    if isinstance(spec, GilbertElliottLoss):
        return BurstLoss(spec.rate_percent / 100, spec.mean_burst_packets, seed)
    return NoLoss()


def _jitter(network: Network) -> Jitter | None:
    spec = network.jitter
    base: Jitter | None = None
    if isinstance(spec, GammaJitterSpec):
        base = GammaJitter(spec.mean_ms, spec.sd_ms)
    elif spec is not None:
        base = UniformJitter(spec.max_ms)
    if network.spikes is None:
        return base
    return SpikyJitter(base, network.spikes.height_ms, network.spikes.per_min / PACKETS_PER_MIN)
