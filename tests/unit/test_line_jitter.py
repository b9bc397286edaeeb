"""The jitter buffer: order, what is late, waiting and catching up, streams that jump."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from callm_voice.line.jitter import Conceal, Idle, JitterBuffer, Play, Pulled, Stretch
from callm_voice.line.rtp import RtpPacket

pytestmark = pytest.mark.unit


def packet(number: int, *, first: int = 0) -> RtpPacket:
    """The `number`-th packet of a stream of 160 samples each."""
    n = first + number
    return RtpPacket(0, n % (1 << 16), 160 * n % (1 << 32), ssrc=1, payload=number.to_bytes(4, "big", signed=True))


def number(pulled: Pulled) -> int | str:
    if isinstance(pulled, Play):
        return int.from_bytes(pulled.packet.payload, "big")
    return {Conceal: "missing", Stretch: "wait", Idle: "-"}[type(pulled)]


def run(
    buffer: JitterBuffer, arrivals: dict[int, float], ticks: int, *, quiet: Iterable[int] = (), first: int = 0
) -> list[int | str]:
    """Packets arrive at their times; one pull each 20 ms. What was played at each."""
    order = sorted(arrivals, key=lambda n: (arrivals[n], n))
    played: list[int | str] = []
    for tick in range(ticks):
        while order and arrivals[order[0]] <= tick * 20:
            n = order.pop(0)
            buffer.push(packet(n, first=first), arrivals[n])
        played.append(number(buffer.pull(tick * 20.0, quiet=tick in quiet)))
    return played


def on_time(packets: int, **late_ms: float) -> dict[int, float]:
    return {n: 20.0 * n + late_ms.get(f"p{n}", 0.0) for n in range(packets)}


def queued(packets: int, **late_ms: float) -> dict[int, float]:
    """As `on_time`, but those behind a late packet wait for it, as on a real network."""
    arrivals: dict[int, float] = {}
    for n, at in on_time(packets, **late_ms).items():
        arrivals[n] = max(at, arrivals.get(n - 1, 0.0))
    return arrivals


def fixed(depth_ms: int = 40) -> JitterBuffer:
    return JitterBuffer(20, 160, depth_ms, depth_ms)


def test_every_packet_is_played_by_the_depth_after_it_was_sent() -> None:
    assert run(fixed(40), on_time(5), 7) == ["-", "-", 0, 1, 2, 3, 4]


def test_without_depth_a_packet_is_played_when_it_comes() -> None:
    assert run(fixed(0), on_time(4), 4) == [0, 1, 2, 3]


def test_a_packet_as_late_as_the_depth_is_in_time_and_a_later_one_is_lost() -> None:
    buffer = fixed(40)
    assert run(buffer, on_time(6, p2=40.0, p4=40.1), 8) == ["-", "-", 0, 1, 2, 3, "missing", 5]
    assert (buffer.counts.late, buffer.counts.concealed, buffer.counts.played) == (1, 1, 5)


def test_a_lost_packet_is_concealed_and_not_late() -> None:
    buffer = fixed(20)
    arrivals = on_time(5)
    del arrivals[2]
    assert run(buffer, arrivals, 6) == ["-", 0, 1, "missing", 3, 4]
    assert (buffer.counts.late, buffer.counts.concealed) == (0, 1)


def test_packets_are_put_in_order() -> None:
    assert run(fixed(40), {0: 0, 1: 35, 2: 30, 3: 60}, 6) == ["-", "-", 0, 1, 2, 3]


def test_duplicates_are_played_once_whether_they_wait_or_are_past() -> None:
    buffer = fixed(20)
    for n, at in ((0, 0.0), (0, 1.0), (1, 10.0)):
        buffer.push(packet(n), at)
    assert [number(buffer.pull(t)) for t in (0.0, 20.0)] == ["-", 0]
    buffer.push(packet(0), 30.0)
    assert number(buffer.pull(40.0)) == 1
    assert (buffer.counts.duplicates, buffer.counts.late) == (2, 0)


@pytest.mark.parametrize("first", [65530, (1 << 32) // 160 - 3])
def test_sequence_and_timestamp_may_wrap(first: int) -> None:
    assert run(fixed(20), on_time(12), 13, first=first) == ["-", *range(12)]


def adaptive() -> JitterBuffer:
    return JitterBuffer(20, 160, 20, 100)


def test_an_adaptive_buffer_that_runs_empty_waits_and_loses_nothing() -> None:
    buffer = adaptive()
    assert run(buffer, queued(6, p2=55.0), 9) == ["-", 0, 1, "wait", "wait", 2, 3, 4, 5]
    assert (buffer.counts.stretched, buffer.counts.concealed, buffer.delay_ms) == (2, 0, 60)


def test_it_does_not_wait_for_a_packet_when_a_newer_one_is_there() -> None:
    arrivals = on_time(5)
    del arrivals[2]
    buffer = JitterBuffer(20, 160, 40, 100)
    assert run(buffer, arrivals, 7) == ["-", "-", 0, 1, "missing", 3, 4]
    assert buffer.counts.stretched == 0


def test_it_waits_no_longer_than_its_greatest_delay() -> None:
    buffer = adaptive()
    arrivals = on_time(2) | {n: 1000.0 + n for n in range(2, 8)}
    played = run(buffer, arrivals, 20)
    assert played[:3] == ["-", 0, 1]
    assert played.count("wait") == 4
    assert buffer.delay_ms == 100
    assert set(played[7:]) == {"missing"}


def test_it_gives_the_time_back_in_silence_when_delays_are_small_again() -> None:
    buffer = adaptive()
    arrivals = queued(800, p2=95.0)
    played = run(buffer, arrivals, 800, quiet=range(400, 500))
    assert played[:8] == ["-", 0, 1, "wait", "wait", "wait", "wait", 2]
    assert played[399] == 394
    assert (buffer.counts.skipped, buffer.delay_ms) == (4, 20)
    numbers = [n for n in played if isinstance(n, int)]
    assert numbers == sorted(set(numbers))
    assert played[799] == 798


def test_it_keeps_its_delay_while_somebody_speaks() -> None:
    buffer = adaptive()
    run(buffer, queued(800, p2=95.0), 800)
    assert (buffer.counts.skipped, buffer.delay_ms) == (0, 100)


def test_the_packet_after_one_that_was_left_out_says_so() -> None:
    buffer = adaptive()
    arrivals, quiet = queued(600, p2=95.0), range(300, 600)
    skips = []
    for tick in range(600):
        for n in [n for n, at in arrivals.items() if tick * 20 - 20 < at <= tick * 20]:
            buffer.push(packet(n), arrivals[n])
        pulled = buffer.pull(tick * 20.0, quiet=tick in quiet)
        skips.append(isinstance(pulled, Play) and pulled.after_skip)
    assert sum(skips) == buffer.counts.skipped == 4


def test_one_stray_packet_is_dropped() -> None:
    buffer = fixed(20)
    buffer.push(packet(0), 0.0)
    buffer.push(packet(90_000), 10.0)
    buffer.push(packet(1), 20.0)
    assert [number(buffer.pull(t)) for t in (20.0, 40.0, 60.0)] == [0, 1, "missing"]
    assert buffer.counts.strays == 1


def test_a_stream_that_jumps_is_followed_from_its_second_packet_on() -> None:
    """A sender that was put on hold begins anew with other numbers (RFC 3550 A.1)."""
    buffer = fixed(20)
    buffer.push(packet(0), 0.0)
    assert number(buffer.pull(20.0)) == 0
    for n in range(5):
        buffer.push(packet(50_000 + n), 40.0 + 20 * n)
    assert [number(buffer.pull(40.0 + 20 * k)) for k in range(6)][-4:] == [50_001, 50_002, 50_003, 50_004]
