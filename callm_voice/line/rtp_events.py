"""Keys as RTP events without I/O (RFC 4733): the payload as bytes, the packets of a key, and keys out of packets.

A key is told in packets of four octets that all bear the timestamp of its beginning; the duration in them grows. The
last one is sent three times, so a key survives the loss of any packets but all of them. `TelephoneEvent.parse(e.pack())
== e` for every event.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from callm_voice.core.errors import EngineError, NotFoundError
from callm_voice.line.rtp import TIMESTAMP_BITS, TIMESTAMP_MODULUS, RtpPacket, Unwrapper

EVENT_KEYS = "0123456789*#ABCD"
"""The keys of events 0 to 15 (RFC 4733 §3.2)."""
MAX_DURATION = 0xFFFF
"""In units of the timestamp: 8.2 s at 8 kHz. A longer key goes on in a further segment (§2.5.1.3)."""
LAST_SENT_TIMES = 3
"""§2.5.1.4: the packet of the end and two copies of it."""
VOLUME_DBM0 = -10
"""Level that a sender says if it is not told another."""
_PAYLOAD = struct.Struct("!BBH")
_END = 0x80
_MAX_VOLUME = 0x3F


class RtpEventError(EngineError):
    """Bytes that are no telephone-event payload. Whoever reads a network drops them and goes on."""

    def __init__(self, message: str) -> None:
        super().__init__(f"not a telephone-event payload: {message}", stage="line")


class TelephoneEvent(NamedTuple):
    """One event (RFC 4733 §2.3)."""

    event: int
    """8 bit; 0 to 15 are keys."""
    duration: int
    """16 bit, in units of the timestamp: how long it has lasted."""
    end: bool = False
    """This is its whole duration."""
    volume: int = -VOLUME_DBM0
    """6 bit; dBm0 below zero: 10 is -10 dBm0."""

    @property
    def key(self) -> str | None:
        """The key that it stands for; None: another signal (flash, tones of a modem)."""
        return EVENT_KEYS[self.event] if self.event < len(EVENT_KEYS) else None

    def pack(self) -> bytes:
        """The event as four octets; the reserved bit is 0.

        Raises:
            ValueError: a field does not fit its bits.
        """
        for name, value, size in (
            ("event", self.event, 8),
            ("volume", self.volume, 6),
            ("duration", self.duration, 16),
        ):
            if not 0 <= value < 1 << size:
                raise ValueError(f"{name} {value} does not fit {size} bits")
        return _PAYLOAD.pack(self.event, self.end * _END | self.volume, self.duration)

    @classmethod
    def parse(cls, data: bytes) -> TelephoneEvent:
        """The inverse of `pack`; the reserved bit is not looked at (§2.3.3).

        Raises:
            RtpEventError: another length than one event's.
        """
        if len(data) != _PAYLOAD.size:
            raise RtpEventError(f"{len(data)} bytes, an event has {_PAYLOAD.size}")
        event, second, duration = _PAYLOAD.unpack(data)
        return cls(event=event, duration=duration, end=bool(second & _END), volume=second & _MAX_VOLUME)


def parse_events(data: bytes) -> tuple[TelephoneEvent, ...]:
    """The events of a payload, oldest first; mostly one. Each begins where the one before it ends (§2.5.1.5).

    Raises:
        RtpEventError: no event, or a part of one.
    """
    size = _PAYLOAD.size
    if not data or len(data) % size:
        raise RtpEventError(f"{len(data)} bytes are not whole events of {size}")
    return tuple(TelephoneEvent.parse(data[at : at + size]) for at in range(0, len(data), size))


class EventPacket(NamedTuple):
    """What of an RTP packet an event decides; the rest is the stream's."""

    payload: bytes
    timestamp: int
    """Of the event's beginning (of its segment's), the same in all its packets."""
    marker: bool
    """The first packet of an event (§2.2.2)."""


def key_packets(
    key: str, timestamp: int, duration: int, every: int, *, volume: int = -VOLUME_DBM0
) -> Iterator[EventPacket]:
    """The packets of one pressed key in the order of sending: one per packet time, the last one three times.

    Args:
        key: one of `EVENT_KEYS`.
        timestamp: of its beginning, 32 bit.
        duration: how long it is pressed, in units of the timestamp, above 0.
        every: packet time in the same units.
        volume: dBm0 below zero.

    Raises:
        NotFoundError: no such key.
        ValueError: a duration or packet time that is not above 0.
    """
    if key not in EVENT_KEYS or len(key) != 1:
        raise NotFoundError("key", key, tuple(EVENT_KEYS))
    if duration <= 0 or every <= 0:
        raise ValueError(f"a duration and a packet time above 0, not {duration} and {every}")
    event, longest, begin = EVENT_KEYS.index(key), MAX_DURATION // every * every or MAX_DURATION, 0
    for lasted in [*range(every, duration, every), duration]:
        if lasted - begin > longest:
            begin += longest
        end = lasted == duration
        payload = TelephoneEvent(event, lasted - begin, end, volume).pack()
        at = (timestamp + begin) % TIMESTAMP_MODULUS
        for copy in range(LAST_SENT_TIMES if end else 1):
            yield EventPacket(payload, at, marker=lasted == min(every, duration) and copy == 0)


@dataclass(frozen=True)
class KeyDown:
    """A key that was not heard of before."""

    key: str
    timestamp: int
    """Of its beginning; runs on where the one on the wire wraps."""


@dataclass(frozen=True)
class KeyUp:
    """The key of the last `KeyDown` is no longer pressed."""

    key: str
    timestamp: int
    duration: int
    """In units of the timestamp; the longest that was told, if the end of it never came."""


class KeyReceiver:
    """Takes the packets of one source's events in any order and says each key once.

    A key goes down with the first of its packets that comes, whichever that is, and up with its end, or with the next
    key if all packets of its end were lost. What belongs to an earlier key is too late and says nothing. A further
    segment of a key that was held for long is the same key.
    """

    def __init__(self) -> None:
        self._timestamps = Unwrapper(TIMESTAMP_BITS)
        self._down: KeyDown | None = None
        """The newest key; `None` before the first."""
        self._segment = 0
        """Timestamp of its newest segment."""
        self._duration = 0
        self._is_up = True

    def push(self, packet: RtpPacket) -> list[KeyDown | KeyUp]:
        """What the packet says that was not said before; events that are no keys say nothing.

        Raises:
            RtpEventError: its payload is none of events.
        """
        events = parse_events(packet.payload)
        begin, said = self._timestamps.unwrap(packet.timestamp), list[KeyDown | KeyUp]()
        for event in events:
            if event.key is not None:
                said += self._take(event, event.key, begin)
            begin += event.duration
        return said

    def close(self) -> list[KeyDown | KeyUp]:
        """The stream is over: a key that is still down goes up."""
        return self._up()

    def _take(self, event: TelephoneEvent, key: str, begin: int) -> list[KeyDown | KeyUp]:
        said: list[KeyDown | KeyUp] = []
        if self._down is not None and begin < self._segment:
            return said
        if self._down is None or (begin > self._segment and not self._goes_on(key, begin)):
            said += self._up()
            self._down, self._is_up, self._duration = KeyDown(key, begin), False, 0
            said.append(self._down)
        self._segment = begin
        if not self._is_up:
            self._duration = max(self._duration, begin - self._down.timestamp + event.duration)
            if event.end:
                said += self._up()
        return said

    def _goes_on(self, key: str, begin: int) -> bool:
        """Whether this is a further segment: the same key, not yet up, and it begins where the last one ended."""
        down = self._down
        return down is not None and not self._is_up and key == down.key and begin == down.timestamp + self._duration

    def _up(self) -> list[KeyDown | KeyUp]:
        if self._down is None or self._is_up:
            return []
        self._is_up = True
        return [KeyUp(self._down.key, self._down.timestamp, self._duration)]
