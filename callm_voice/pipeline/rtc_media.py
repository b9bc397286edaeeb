"""Frames to RTP packets and back for one real connection, without I/O: numbers, keys as events, jitter buffer, codec.

Keys go as telephone events in the place of the sound's packets (RFC 4733 §2.1). The receiving end makes their tones
again, as a gateway does, so whoever listens behind it hears them as on any line.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass

from callm_voice.audio.codecs import Codec
from callm_voice.audio.keytone import KeyTone
from callm_voice.audio.pcm import Pcm
from callm_voice.core.events import ConcealedBy
from callm_voice.line.jitter import Counts, Pulled
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.line.profile_parts import AdaptiveBuffer, FixedBuffer
from callm_voice.line.receiver import PacketReceiver
from callm_voice.line.rtp import SEQUENCE_MODULUS, TIMESTAMP_MODULUS, RtpPacket
from callm_voice.line.rtp_events import EVENT_KEYS, LAST_SENT_TIMES, RtpEventError, TelephoneEvent
from callm_voice.pipeline.rtc_sdp import AudioFormat

LIVE_BUFFER = AdaptiveBuffer(kind="adaptive", min_ms=0, max_ms=120)
"""For a way whose jitter nobody knows. A packet is played on the first tick after it came, so even the least buffer has
up to one packet time in hand."""


@dataclass
class _Down:
    """A key that is being pressed."""

    key: str
    timestamp: int
    duration: int = 0


class MediaSender:
    """One frame in, one packet out, each packet time.

    Args:
        codec: encodes, for this direction alone.
        audio: what both ends agreed on.
        ssrc: names the source, 32 bit.
        seed: of the numbers that begin at random (RFC 3550 §5.1).
    """

    def __init__(self, codec: Codec, audio: AudioFormat, ssrc: int, seed: int) -> None:
        self._codec, self._audio, self._ssrc = codec, audio, ssrc
        rng = random.Random(seed)
        self._sequence = rng.randrange(SEQUENCE_MODULUS // 2)  # the lower half: SRTP counts the wraps (RFC 3711 §3.3.1)
        self._timestamp = rng.randrange(TIMESTAMP_MODULUS)
        self._down: _Down | None = None
        self._copies: deque[tuple[bytes, int]] = deque()
        """What is still to be repeated of the last key: payload and timestamp."""
        self._first = True
        self.packets = 0
        """Sent so far."""
        self.octets = 0
        """Of payload in them."""

    @property
    def ssrc(self) -> int:
        return self._ssrc

    @property
    def timestamp(self) -> int:
        """Of the packet that comes next."""
        return self._timestamp

    def next(self, frame: Frame, key: str | None = None) -> list[RtpPacket]:
        """The packets of this packet time, in the order of sending.

        Args:
            frame: (samples,) int16 at the codec's rate.
            key: pressed during this packet time; then an event goes instead of the sound, if the other end knows
                events.
        """
        events = self._audio.events_payload_type
        if events is None:
            key = None
        packets = self._end_of_key(key) or self._repeat()
        if key is not None and key in EVENT_KEYS and events is not None:
            packets.append(self._key(key, events))
        else:
            packets.append(self._packet(self._audio.payload_type, self._codec.encode(frame), self._timestamp))
        self._timestamp = (self._timestamp + self._audio.step) % TIMESTAMP_MODULUS
        return packets

    def _key(self, key: str, events: int) -> RtpPacket:
        begins = self._down is None
        down = self._down or _Down(key, self._timestamp)
        self._down = down
        down.duration += self._audio.step
        payload = TelephoneEvent(EVENT_KEYS.index(key), min(down.duration, 0xFFFF)).pack()
        return self._packet(events, payload, down.timestamp, marker=begins)

    def _end_of_key(self, key: str | None) -> list[RtpPacket]:
        """The end of the key that was down, if it is up now or another is: three packets, the copies a packet time
        apart (RFC 4733 §2.5.1.4)."""
        down, events = self._down, self._audio.events_payload_type
        if down is None or down.key == key or events is None:
            return []
        self._down = None
        payload = TelephoneEvent(EVENT_KEYS.index(down.key), min(down.duration, 0xFFFF), end=True).pack()
        self._copies.extend([(payload, down.timestamp)] * (LAST_SENT_TIMES - 1))
        return [self._packet(events, payload, down.timestamp)]

    def _repeat(self) -> list[RtpPacket]:
        events = self._audio.events_payload_type
        if not self._copies or events is None:
            return []
        return [self._packet(events, *self._copies.popleft())]

    def _packet(self, payload_type: int, payload: bytes, timestamp: int, *, marker: bool = False) -> RtpPacket:
        packet = RtpPacket(payload_type, self._sequence, timestamp, self._ssrc, payload, marker or self._first)
        self._sequence = (self._sequence + 1) % SEQUENCE_MODULUS
        self._first = False
        self.packets += 1
        self.octets += len(payload)
        return packet


class MediaReceiver:
    """Packets in as they come, one frame out each packet time.

    Args:
        codec: decodes, for this direction alone.
        audio: what both ends agreed on.
        buffer: of the jitter buffer.
        concealment: as in a line profile.
    """

    def __init__(
        self,
        codec: Codec,
        audio: AudioFormat,
        *,
        buffer: FixedBuffer | AdaptiveBuffer = LIVE_BUFFER,
        concealment: ConcealedBy = "codec",
    ) -> None:
        self._audio = audio
        self._receiver = _WithKeys(codec, buffer, concealment, audio)
        self._ticks = 0
        self.foreign = 0
        """Packets of another payload type or length, which were dropped."""

    @property
    def counts(self) -> Counts:
        """Of the jitter buffer so far."""
        return self._receiver.counts

    @property
    def delay_ms(self) -> float:
        """Of the jitter buffer now."""
        return self._receiver.delay_ms

    @property
    def concealed_by(self) -> ConcealedBy:
        """What stands in for missing packets."""
        return self._receiver.concealed_by

    @property
    def key(self) -> str | None:
        """Of the telephone, whose tone the last frame is of; None: it is sound like any other."""
        return self._receiver.key

    def push(self, packet: RtpPacket) -> None:
        """Take one packet as it comes. Those that come before the first `pull` are heard by nobody.

        For the jitter buffer it comes with the next `pull`, the first that could play it: between two of them nothing
        is heard, and no clock but the puller's matters.
        """
        if not self._ticks or not packet.payload:
            return
        arrival_ms = float(self._ticks * PTIME_MS)
        if packet.payload_type == self._audio.payload_type:
            for part in self._parts(packet):
                self._receiver.push(part, arrival_ms)
        elif packet.payload_type == self._audio.events_payload_type:
            self._push_event(packet, arrival_ms)
        else:
            self.foreign += 1

    def pull(self) -> tuple[Pulled, Pcm]:
        """What the jitter buffer says of this packet time, and its sound, (samples,) int16."""
        tick_ms = float(self._ticks * PTIME_MS)
        self._ticks += 1
        return self._receiver.play(tick_ms)

    def _parts(self, packet: RtpPacket) -> list[RtpPacket]:
        """The packet as packets of one packet time. With a codec of 64 kbit/s an octet is a step of the timestamp
        (RFC 3551 §4.5), so a longer one can be cut; what is no whole packet times is dropped, and counted."""
        step = self._audio.step
        if self._audio.codec == "opus" or len(packet.payload) == step:
            return [packet]
        if len(packet.payload) % step:
            self.foreign += 1
            return []
        return [
            packet._replace(
                payload=packet.payload[at : at + step], timestamp=(packet.timestamp + at) % TIMESTAMP_MODULUS
            )
            for at in range(0, len(packet.payload), step)
        ]

    def _push_event(self, packet: RtpPacket, arrival_ms: float) -> None:
        """An event's packet stands in the slot that it tells of last."""
        try:
            event = TelephoneEvent.parse(packet.payload)
        except RtpEventError:
            self.foreign += 1
            return
        if event.end or event.key is None:
            return
        begin = packet.timestamp + max(0, event.duration - self._audio.step)
        self._receiver.push(packet._replace(timestamp=begin % TIMESTAMP_MODULUS), arrival_ms)


class _WithKeys(PacketReceiver):
    """Makes a key's tone of an event's packet, and goes on with it over packets that are missing in the middle."""

    def __init__(
        self, codec: Codec, buffer: FixedBuffer | AdaptiveBuffer, concealment: ConcealedBy, audio: AudioFormat
    ) -> None:
        super().__init__(codec, buffer, concealment, audio.step)
        self._events, self._rate_hz = audio.events_payload_type, codec.rate_hz
        self._tone: KeyTone | None = None

    @property
    def key(self) -> str | None:
        return self._tone.key if self._tone is not None else None

    def decode(self, packet: RtpPacket) -> Pcm:
        if packet.payload_type != self._events:
            self._tone = None
            return super().decode(packet)
        key = TelephoneEvent.parse(packet.payload).key
        assert key is not None
        if self._tone is None or self._tone.key != key:
            self._tone = KeyTone(key, self._rate_hz)
        return self._tone.next(self._samples)

    def _make_up(self) -> Pcm:
        return super()._make_up() if self._tone is None else self._tone.next(self._samples)
