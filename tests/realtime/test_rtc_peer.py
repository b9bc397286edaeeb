"""WebRTC peers on loopback: sound and keys both ways, an ordinary aiortc program at the far end, closing, leaking."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from support.rtc_far import FarEnd, ToneTrack

from callm_voice.audio.tones import DtmfDetector
from callm_voice.core.clock import RealClock
from callm_voice.core.errors import HarnessError
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.pipeline.rtc_peer import CLOSED_BY_OTHER_END, RtcPeer

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(120)]
LIMIT_S = 40.0
TONE_HZ = 440.0


@dataclass
class Bench:
    """Peers of one test, closed at its end."""

    clock: RealClock = field(default_factory=RealClock)
    ends: list[Any] = field(default_factory=list)
    closed: dict[str, list[str]] = field(default_factory=dict)

    def peer(self, name: str, codec: str | None, rate_hz: int, **more: Any) -> RtcPeer:
        self.closed[name] = []
        peer = RtcPeer(rate_hz=rate_hz, codec=codec, clock=self.clock, on_closed=self.closed[name].append, **more)
        self.ends.append(peer)
        return peer

    async def joined(self, a: RtcPeer, b: RtcPeer) -> None:
        await a.accept(await b.answer(await a.offer()))
        await asyncio.gather(a.connected(LIMIT_S), b.connected(LIMIT_S))

    async def until(self, holds: Any, tick: Any = None) -> None:
        """Tick each 20 ms until it holds."""
        zero_s, n = self.clock.now_s(), 0
        async with asyncio.timeout(LIMIT_S):
            while not holds():
                if tick is not None:
                    tick()
                n += 1
                await self.clock.sleep_until(zero_s + n * PTIME_MS / 1000)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    held = Bench()
    yield held
    for end in held.ends:
        await end.aclose()
    held.clock.close()


def tone(rate_hz: int, n: int) -> Frame:
    """The n-th packet of it."""
    at = n * rate_hz // 50 + np.arange(rate_hz // 50)
    return (8000 * np.sin(2 * np.pi * TONE_HZ * at / rate_hz)).astype(np.int16)


def is_tone(frames: list[Frame], rate_hz: int) -> bool:
    """Whether half a second of it is loud and at the tone's frequency. A machine that is late makes holes, which spread
    a tone over some frequencies beside it."""
    loud = [f for f in frames[-50:] if np.abs(f).max() > 3000][-25:]
    if len(loud) < 25:
        return False
    power = np.abs(np.fft.rfft(np.concatenate(loud).astype(float))) ** 2
    hz = np.fft.rfftfreq(sum(f.size for f in loud), 1 / rate_hz)
    return bool(power[np.abs(hz - TONE_HZ) < 60].sum() > 0.8 * power.sum())


@pytest.mark.parametrize(
    ("codec", "rate_hz"), [("PCMU", 8000), ("pcma", 8000), ("G722", 16_000), ("opus", 16_000), ("opus", 8000)]
)
async def test_sound_goes_both_ways_with_each_codec(codec: str, rate_hz: int, bench: Bench) -> None:
    a, b = bench.peer("a", codec, rate_hz), bench.peer("b", None, rate_hz)
    await bench.joined(a, b)
    assert a.audio == b.audio
    assert a.audio is not None
    assert (a.audio.codec, a.audio.events_payload_type) == (codec.lower(), 101)
    heard: dict[str, list[Frame]] = {"a": [], "b": []}

    def tick() -> None:
        for name, peer in (("a", a), ("b", b)):
            heard[name].append(peer.pull())
            peer.send(tone(rate_hz, len(heard[name])))

    await bench.until(lambda: is_tone(heard["a"], rate_hz), tick)
    await bench.until(lambda: is_tone(heard["b"], rate_hz), tick)
    assert a.received == b.sent or abs(a.received - b.sent) < 10


async def test_a_key_is_heard_as_its_tone_at_the_far_end(bench: Bench) -> None:
    a, b = bench.peer("a", "pcmu", 8000), bench.peer("b", "pcmu", 8000)
    await bench.joined(a, b)
    silence, detector, keys, n = np.zeros(160, np.int16), DtmfDetector(8000), list[str](), 0

    def tick() -> None:
        nonlocal n
        n += 1
        keys.extend(detector.push(b.pull()))
        a.send(silence, "5" if 5 <= n < 10 else "#" if 14 <= n < 19 else None)

    await bench.until(lambda: len(keys) == 2, tick)
    assert keys == ["5", "#"]


async def test_an_ordinary_aiortc_program_answers_hears_us_and_is_heard(bench: Bench) -> None:
    far = FarEnd(ToneTrack(TONE_HZ))
    peer = bench.peer("a", None, 8000)
    bench.ends.append(far)
    await peer.accept(await far.answer(await peer.offer()))
    await peer.connected(LIMIT_S)
    assert peer.audio is not None
    assert peer.audio.events_payload_type is None, "aiortc knows no telephone events"
    heard: list[Frame] = []

    def tick() -> None:
        heard.append(peer.pull())
        peer.send(tone(8000, len(heard)))

    await bench.until(lambda: is_tone(heard, 8000), tick)
    await bench.until(lambda: is_tone(far.heard, 8000), tick)


async def test_an_ordinary_aiortc_program_calls_us(bench: Bench) -> None:
    far = FarEnd(ToneTrack(TONE_HZ))
    peer = bench.peer("a", "opus", 16_000)
    bench.ends.append(far)
    await far.accept(await peer.answer(await far.offer()))
    await peer.connected(LIMIT_S)
    heard: list[Frame] = []
    await bench.until(lambda: is_tone(heard, 16_000), lambda: heard.append(peer.pull()))


async def test_all_ports_are_on_loopback_and_no_other_machine_is_asked(bench: Bench) -> None:
    offer = await bench.peer("a", None, 8000).offer()
    hosts = {line.split()[4] for line in offer.splitlines() if line.startswith("a=candidate:")}
    assert hosts == {"127.0.0.1"}
    assert {line.split()[7] for line in offer.splitlines() if line.startswith("a=candidate:")} == {"host"}


async def test_who_is_hung_up_on_is_told_once_and_who_hangs_up_is_not(bench: Bench) -> None:
    a, b = bench.peer("a", "pcmu", 8000), bench.peer("b", "pcmu", 8000)
    await bench.joined(a, b)
    await a.aclose()
    await bench.until(lambda: bench.closed["b"])
    await b.aclose()
    assert bench.closed == {"a": [], "b": [CLOSED_BY_OTHER_END]}
    b.send(np.zeros(160, np.int16))
    assert not b.pull().any()


async def test_one_who_vanishes_without_a_word_is_noticed_by_the_ticks(bench: Bench) -> None:
    a = bench.peer("a", "pcmu", 8000)
    b = bench.peer("b", "pcmu", 8000, silent_limit_s=0.3)
    await bench.joined(a, b)
    sends = 20

    def tick() -> None:
        nonlocal sends
        b.pull()
        if sends:
            a.send(np.zeros(160, np.int16))
            sends -= 1

    await bench.until(lambda: bench.closed["b"], tick)
    assert bench.closed["b"] == ["no more packets came for 0.3 s"]


async def test_one_who_never_sends_is_noticed_too(bench: Bench) -> None:
    a, b = bench.peer("a", "pcmu", 8000), bench.peer("b", "pcmu", 8000, silent_limit_s=0.3)
    await bench.joined(a, b)
    await bench.until(lambda: bench.closed["b"], b.pull)
    assert bench.closed["b"] == ["not one packet came for 0.3 s"]


async def test_twenty_calls_leave_no_task_thread_or_socket(bench: Bench) -> None:
    async def one() -> None:
        a, b = bench.peer("a", "pcmu", 8000), bench.peer("b", "pcmu", 8000)
        await bench.joined(a, b)
        for peer in (a, b):
            peer.pull()
            peer.send(np.zeros(160, np.int16))
        await a.aclose()
        await b.aclose()
        bench.ends.clear()

    await one()  # what is opened once and kept
    before = asyncio.all_tasks(), threading.active_count(), _descriptors()
    for _ in range(20):
        await one()
    assert asyncio.all_tasks() == before[0]
    assert threading.active_count() == before[1]
    assert _descriptors() <= before[2]


async def test_twenty_that_were_never_joined_leave_nothing_either(bench: Bench) -> None:
    before = asyncio.all_tasks(), threading.active_count(), _descriptors()
    for _ in range(20):
        peer = bench.peer("a", None, 8000)
        await peer.offer()
        await peer.aclose()
        bench.ends.clear()
    assert (asyncio.all_tasks(), threading.active_count()) == before[:2]
    assert _descriptors() <= before[2]


async def test_a_codec_that_no_webrtc_connection_carries_is_a_fault_of_ours(bench: Bench) -> None:
    for codec, rate_hz in (("amr", 8000), ("pcmu", 16_000), ("g722", 8000)):
        with pytest.raises(HarnessError, match="pcmu, pcma, g722, opus"):
            bench.peer("a", codec, rate_hz)


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
