"""Packets leave in order and in time, and what is due says so whether or not the task that sends has had its turn."""

from __future__ import annotations

import pytest
from support.manual_clock import ManualClock

from callm_voice.line.loss import NoLoss
from callm_voice.line.network import PacketNetwork
from callm_voice.pipeline.rtc_outbox import Outbox

pytestmark = pytest.mark.unit


class Delays:
    """Each packet is late by what stands next in the list, in ms."""

    def __init__(self, *delays_ms: float) -> None:
        self._delays_ms = delays_ms

    def draw(self, rng: object, packets: int) -> object:
        import numpy as np

        found = np.zeros(packets)
        found[: len(self._delays_ms)] = self._delays_ms
        return found


class Wire:
    """What was sent, and when."""

    def __init__(self, clock: ManualClock, *delays_ms: float) -> None:
        self.sent: list[tuple[bytes, float]] = []
        self._clock = clock
        network = PacketNetwork(NoLoss(), Delays(*delays_ms), 1) if delays_ms else None  # type: ignore[arg-type]
        self.box = Outbox(clock, self._send, network)  # type: ignore[arg-type]

    async def _send(self, packet: bytes) -> None:
        self.sent.append((packet, round(self._clock.now_s() * 1000)))


async def test_without_a_network_a_packet_leaves_at_once() -> None:
    clock = ManualClock(0.0)
    wire = Wire(clock)
    wire.box.start()
    wire.box.put(b"a")
    assert wire.box.due == 1
    await clock.settle()
    assert wire.sent == [(b"a", 0)]
    assert wire.box.due == 1
    await wire.box.aclose()


async def test_a_late_packet_holds_up_those_behind_it() -> None:
    clock = ManualClock(0.0)
    wire = Wire(clock, 0, 50, 0)
    wire.box.start()
    for packet in (b"a", b"b", b"c"):
        wire.box.put(packet)
    await clock.advance(0.1)
    assert wire.sent == [(b"a", 0), (b"b", 50), (b"c", 50)]
    await wire.box.aclose()


async def test_a_packet_whose_time_has_come_is_due_before_the_task_has_sent_it() -> None:
    """Whoever waits for what is due would otherwise go on without the one packet that is being waited with."""
    clock = ManualClock(0.0)
    wire = Wire(clock, 0, 50, 0)
    wire.box.start()
    for packet in (b"a", b"b", b"c"):
        wire.box.put(packet)
    await clock.settle()
    assert wire.box.due == 1
    clock.spend(0.05)
    assert wire.box.due == 3
    await clock.jump(0.0)
    assert [packet for packet, _ in wire.sent] == [b"a", b"b", b"c"]
    assert wire.box.due == 3
    await wire.box.aclose()
