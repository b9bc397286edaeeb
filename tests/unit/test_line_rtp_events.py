"""Keys as RTP events: bytes as RFC 4733 draws them, three copies of the end, each key once whatever is lost."""

from __future__ import annotations

from itertools import permutations

import pytest

from callm_voice.core.errors import NotFoundError
from callm_voice.core.keypad import KEYS
from callm_voice.line.rtp import RtpPacket
from callm_voice.line.rtp_events import (
    EVENT_KEYS,
    MAX_DURATION,
    EventPacket,
    KeyDown,
    KeyReceiver,
    KeyUp,
    RtpEventError,
    TelephoneEvent,
    key_packets,
    parse_events,
)

pytestmark = pytest.mark.unit


def packets(keys: str, *, first: int = 4000, duration: int = 800, gap: int = 640) -> list[EventPacket]:
    """Each key for 100 ms at 8 kHz in packets of 20 ms, 80 ms from one to the next."""
    return [
        packet
        for n, key in enumerate(keys)
        for packet in key_packets(key, (first + n * (duration + gap)) % (1 << 32), duration, 160)
    ]


def pushed(sent: list[EventPacket], receiver: KeyReceiver | None = None) -> list[KeyDown | KeyUp]:
    receiver = receiver or KeyReceiver()
    said = []
    for n, (payload, timestamp, marker) in enumerate(sent):
        said += receiver.push(RtpPacket(101, n, timestamp, 1, payload, marker))
    return said + receiver.close()


def pressed(said: list[KeyDown | KeyUp]) -> str:
    return "".join(notice.key for notice in said if isinstance(notice, KeyDown))


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (TelephoneEvent(9, 1600, end=True, volume=7), "09 87 0640"),
        (TelephoneEvent(1, 400, volume=20), "01 14 0190"),
        (TelephoneEvent(255, 65535, end=True, volume=63), "ff bf ffff"),
    ],
)
def test_an_event_has_the_bytes_of_the_rfc(event: TelephoneEvent, data: str) -> None:
    """RFC 4733 §2.3: event, E, R, volume, duration."""
    assert event.pack() == bytes.fromhex(data)
    assert TelephoneEvent.parse(bytes.fromhex(data)) == event


def test_the_reserved_bit_is_not_looked_at() -> None:
    assert TelephoneEvent.parse(bytes.fromhex("09 c7 0640")) == TelephoneEvent(9, 1600, end=True, volume=7)


def test_all_keys_of_a_keypad_are_events_and_others_are_not() -> None:
    assert sorted(EVENT_KEYS) == sorted(KEYS)
    assert [TelephoneEvent(n, 0).key for n in (0, 10, 11, 12, 15, 16)] == ["0", "*", "#", "A", "D", None]


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x01\x0a\x00", b"\x01\x0a\x00\x00\x05"])
def test_bytes_that_are_no_events_are_refused_in_words(data: bytes) -> None:
    with pytest.raises(RtpEventError, match=f"{len(data)} bytes"):
        parse_events(data)


@pytest.mark.parametrize(
    "event",
    [TelephoneEvent(256, 0), TelephoneEvent(-1, 0), TelephoneEvent(0, 65536), TelephoneEvent(0, 0, volume=64)],
)
def test_fields_that_do_not_fit_are_a_programming_mistake(event: TelephoneEvent) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        event.pack()


def test_a_key_is_told_each_packet_time_and_its_end_three_times() -> None:
    """RFC 4733 §2.5.1: one timestamp, growing durations, marker on the first, E on the last and its two copies."""
    sent = list(key_packets("5", 1000, 800, 160))
    events = [TelephoneEvent.parse(packet.payload) for packet in sent]
    assert [event.duration for event in events] == [160, 320, 480, 640, 800, 800, 800]
    assert [event.end for event in events] == [False] * 4 + [True] * 3
    assert [packet.marker for packet in sent] == [True] + [False] * 6
    assert {packet.timestamp for packet in sent} == {1000}
    assert {event.key for event in events} == {"5"}


@pytest.mark.parametrize("duration", [1, 159, 160, 161])
def test_a_short_key_has_one_marker_and_its_true_duration(duration: int) -> None:
    sent = list(key_packets("#", 0, duration, 160))
    assert [packet.marker for packet in sent].count(True) == 1
    assert sent[0].marker
    assert TelephoneEvent.parse(sent[-1].payload) == TelephoneEvent(11, duration, end=True)


@pytest.mark.parametrize(("key", "duration", "error"), [("x", 800, NotFoundError), ("1", 0, ValueError)])
def test_what_cannot_be_sent_is_refused(key: str, duration: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        list(key_packets(key, 0, duration, 160))


def test_keys_come_back_once_each_with_time_and_duration() -> None:
    assert pushed(packets("12")) == [
        KeyDown("1", 4000),
        KeyUp("1", 4000, 800),
        KeyDown("2", 5440),
        KeyUp("2", 5440, 800),
    ]


def test_the_same_key_twice_is_two_keys() -> None:
    assert pressed(pushed(packets("1155*"))) == "1155*"


@pytest.mark.parametrize("kept", range(7))
def test_any_one_packet_of_a_key_is_enough(kept: int) -> None:
    sent = packets("123")
    assert pressed(pushed([*sent[:7], sent[7 + kept], *sent[14:]])) == "123"


def test_a_key_whose_end_is_lost_goes_up_with_the_next() -> None:
    sent = packets("12")
    assert pushed([*sent[:3], *sent[7:]])[:3] == [KeyDown("1", 4000), KeyUp("1", 4000, 480), KeyDown("2", 5440)]


def test_order_and_copies_within_a_key_do_not_matter() -> None:
    sent = list(key_packets("7", 0, 480, 160))
    for order in permutations(sent):
        assert pressed(pushed([*order, *order])) == "7"


def test_a_packet_of_an_earlier_key_is_too_late() -> None:
    sent = packets("12")
    assert pressed(pushed([*sent[:9], sent[2], *sent[9:]])) == "12"


def test_timestamps_may_wrap_between_and_within_keys() -> None:
    said = pushed(packets("12", first=(1 << 32) - 1000))
    assert pressed(said) == "12"
    assert said[2] == KeyDown("2", (1 << 32) + 440)


def test_a_key_that_is_held_for_longer_than_16_bits_is_one_key() -> None:
    """RFC 4733 §2.5.1.3: it goes on in further segments, each with the timestamp of its own beginning."""
    sent = list(key_packets("3", 100, 3 * MAX_DURATION, 160))
    assert len({packet.timestamp for packet in sent}) == 4
    assert pushed(sent) == [KeyDown("3", 100), KeyUp("3", 100, 3 * MAX_DURATION)]


def test_several_events_may_lie_in_one_packet() -> None:
    """RFC 4733 §2.5.1.5: each begins where the one before it ends."""
    payload = TelephoneEvent(1, 800, end=True).pack() + TelephoneEvent(2, 160).pack()
    said = KeyReceiver().push(RtpPacket(101, 0, 1000, 1, payload))
    assert said == [KeyDown("1", 1000), KeyUp("1", 1000, 800), KeyDown("2", 1800)]


def test_a_signal_that_is_no_key_says_nothing() -> None:
    assert KeyReceiver().push(RtpPacket(101, 0, 0, 1, TelephoneEvent(16, 400, end=True).pack())) == []
