"""The jitter buffer, without I/O: RTP packets and times in, one slot of sound out each packet time.

A slot is one packet time of the sender's, found by the RTP timestamp. Slots are played in order and each once. Every
slot from the first to the last one due is exactly one of

    played      its packet was there in time
    concealed   it was not: lost, or late. A late packet is thrown away when it comes
    skipped     its packet was there, and was left out to make the delay smaller (adaptive only)

and a packet is never played before its time. An adaptive buffer begins with its least delay. When it runs empty it
waits one packet time longer (up to its greatest delay), for which sound has to be made up: a `Stretch`, in which no
slot passes. Nothing newer is there then, so the missing packet is more likely late than lost. It gives the time back,
a slot at a time, while the other end is silent and the delays of the last seconds allow it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from callm_voice.line.rtp import SEQUENCE_MODULUS, TIMESTAMP_BITS, RtpPacket, Unwrapper

_EPSILON_MS = 1e-6
"""Slack for the rounding of times, so that a packet that is due at this very moment is there."""
WINDOW_PACKETS = 200
"""The delays of so many packets (4 s) say how much delay is needed."""
REVIEW_PACKETS = 25
"""How often that is looked at: twice a second."""
COVERED_SHARE = 0.99
"""The delay that is aimed at lets this share of packets arrive in time."""
MAX_AHEAD_SLOTS = 250
"""A packet whose slot lies further ahead (5 s) is not of this stream's time: it is dropped, and if the next one by its
sequence number is such a one too, the sender has jumped and the buffer goes along (RFC 3550 A.1)."""


@dataclass(frozen=True)
class Play:
    """The packet of this slot."""

    packet: RtpPacket
    after_skip: bool = False
    """The slot before it was left out, so its sound does not join on."""


@dataclass(frozen=True)
class Conceal:
    """The packet of this slot is not there."""

    slot: int
    """Counted from the first packet."""


@dataclass(frozen=True)
class Stretch:
    """Sound has to be made up, and no slot passes."""


@dataclass(frozen=True)
class Idle:
    """Nothing is due yet."""


Pulled = Play | Conceal | Stretch | Idle


@dataclass
class Counts:
    """What became of slots and packets so far."""

    played: int = 0
    concealed: int = 0
    skipped: int = 0
    stretched: int = 0
    late: int = 0
    """Packets that came after their slot; it was concealed."""
    duplicates: int = 0
    """Packets that had come before."""
    strays: int = 0
    """Packets dropped because their time is far from all others'."""

    @property
    def slots(self) -> int:
        """Slots that are past."""
        return self.played + self.concealed + self.skipped


class JitterBuffer:
    """Orders packets and says what to play. Times are any clock's, in ms, and never go back.

    Args:
        ptime_ms: packet time.
        samples: of one packet, in units of the RTP timestamp.
        min_ms: the delay between a packet's earliest arrival and its playing at the beginning.
        max_ms: the greatest delay; equal to `min_ms`: a fixed buffer.
    """

    def __init__(self, ptime_ms: int, samples: int, min_ms: int, max_ms: int) -> None:
        self._ptime_ms, self._samples = ptime_ms, samples
        self._min_ms, self._max_ms = min_ms, max_ms
        self.delay_ms = float(min_ms)
        """The delay now."""
        self.counts = Counts()
        self._timestamps = Unwrapper(TIMESTAMP_BITS)
        self._first_timestamp = 0
        self._first_ms: float | None = None
        self._next = 0
        self._waiting: dict[int, RtpPacket] = {}
        self._newest = -1
        self._missed: set[int] = set()
        self._stray_sequence: int | None = None
        self._delays_ms: deque[float] = deque(maxlen=WINDOW_PACKETS)
        self._review_in = REVIEW_PACKETS
        self._wanted_ms = float(min_ms)
        self._after_skip = False

    def push(self, packet: RtpPacket, arrival_ms: float) -> None:
        """Take one packet as it arrives. The first one sets the time: it is played `min_ms` later."""
        timestamp = self._timestamps.unwrap(packet.timestamp)
        if self._first_ms is None:
            self._first_ms, self._first_timestamp = arrival_ms, timestamp
        slot = (timestamp - self._first_timestamp) // self._samples
        if abs(slot - self._next) > MAX_AHEAD_SLOTS:
            if not self._jumped(packet):
                return
            self._first_ms = arrival_ms - self._next * self._ptime_ms
            self._first_timestamp = timestamp - self._next * self._samples
            slot = self._next
        self._stray_sequence = None
        self._take(slot, packet, arrival_ms - self._first_ms - slot * self._ptime_ms)

    def _jumped(self, stray: RtpPacket) -> bool:
        """Whether this is the second stray packet in a row, so that it is the stream that has moved."""
        follows = self._stray_sequence is not None and stray.sequence == (self._stray_sequence + 1) % SEQUENCE_MODULUS
        self._stray_sequence = stray.sequence
        self.counts.strays += not follows
        if follows:
            self._waiting.clear()
            self._newest = self._next - 1
        return follows

    def _take(self, slot: int, packet: RtpPacket, delay_ms: float) -> None:
        if slot in self._waiting or (slot < self._next and slot not in self._missed):
            self.counts.duplicates += 1
            return
        self._note_delay(delay_ms)
        if slot < self._next:
            self._missed.remove(slot)
            self.counts.late += 1
            return
        self._waiting[slot] = packet
        self._newest = max(self._newest, slot)

    def pull(self, now_ms: float, *, quiet: bool = False) -> Pulled:
        """What to play in the packet time that begins now; called once each packet time.

        Args:
            quiet: what was played last was as good as silence, so a slot may be left out.
        """
        if self._first_ms is None or now_ms + _EPSILON_MS < self._due_ms():
            return Idle()
        if self._should_skip(quiet):
            self._skip()
        packet = self._waiting.pop(self._next, None)
        if packet is None and self._can_wait():
            self.delay_ms += self._ptime_ms
            self.counts.stretched += 1
            return Stretch()
        self._next += 1
        if packet is None:
            self.counts.concealed += 1
            self._missed.add(self._next - 1)
            return Conceal(self._next - 1)
        self.counts.played += 1
        after_skip, self._after_skip = self._after_skip, False
        return Play(packet, after_skip)

    def _due_ms(self) -> float:
        """When the next slot is due."""
        assert self._first_ms is not None
        return self._first_ms + self._next * self._ptime_ms + self.delay_ms

    def _can_wait(self) -> bool:
        return self._newest < self._next and self.delay_ms + self._ptime_ms <= self._max_ms

    def _should_skip(self, quiet: bool) -> bool:
        """Two packets in a row must be there: the one that is left out and the one that is played instead."""
        return (
            quiet
            and self.delay_ms - self._ptime_ms >= max(self._wanted_ms, self._min_ms)
            and self._next in self._waiting
            and self._next + 1 in self._waiting
        )

    def _skip(self) -> None:
        del self._waiting[self._next]
        self._next += 1
        self.delay_ms -= self._ptime_ms
        self.counts.skipped += 1
        self._after_skip = True

    def _note_delay(self, delay_ms: float) -> None:
        """`delay_ms`: against the first packet's; below zero if that one was slow itself."""
        self._delays_ms.append(delay_ms)
        self._review_in -= 1
        if self._min_ms != self._max_ms and self._review_in <= 0:
            self._review_in = REVIEW_PACKETS
            ordered = sorted(self._delays_ms)
            self._wanted_ms = ordered[min(len(ordered) - 1, int(COVERED_SHARE * len(ordered)))]
