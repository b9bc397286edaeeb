"""One end of a WebRTC connection with one audio stream each way, paced by whoever calls it.

aiortc does the connection: ICE, DTLS, SRTP, the session descriptions. The media are ours: the codec, RTP and its
numbers, telephone events, jitter buffer, concealment. So aiortc's tracks, its own pacing (by the wall clock) and its
jitter buffer stay out of it; packets are handed to and taken from its encrypted transport as bytes.

    peer = RtcPeer(rate_hz=8000, codec="pcmu", clock=clock, on_closed=…)
    offer = await peer.offer()                 # the one end …
    answer = await peer.answer(offer)          # … or the other
    await peer.connected(limit_s=10)
    each 20 ms:  heard = peer.pull();  peer.send(frame)
    await peer.aclose()
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCRtpTransceiver, RTCSessionDescription

from callm_voice.audio.codecs import make_codec
from callm_voice.core.clock import Clock
from callm_voice.core.errors import HarnessError
from callm_voice.core.events import ConcealedBy
from callm_voice.core.ids import derive_seed
from callm_voice.line.jitter import Counts, Idle, Pulled
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.line.network import PacketNetwork
from callm_voice.line.profile_parts import AdaptiveBuffer, FixedBuffer
from callm_voice.line.rtp import RtpError, RtpPacket
from callm_voice.pipeline.rtc_media import LIVE_BUFFER, MediaReceiver, MediaSender
from callm_voice.pipeline.rtc_outbox import Outbox
from callm_voice.pipeline.rtc_sdp import (
    EVENTS_PAYLOAD_TYPE,
    RTC_CODECS,
    AudioFormat,
    RtcCodec,
    RtcError,
    check_sdp,
    choose,
    codecs_at,
    with_direction,
    with_extras,
    without_names,
)
from callm_voice.pipeline.rtc_transport import Transport, mapped

LOOPBACK = ("127.0.0.1",)
CLOSED_BY_OTHER_END = "the other end closed the connection"
SILENT_LIMIT_S = 5.0
"""A connection that was alive and brings no packet for so long is gone: every end that we know sends all the time."""
_CLOSE_LIMIT_S = 5.0


@dataclass(frozen=True)
class MediaSpec:
    """How the media of one end are handled; the defaults are for an end that nobody knows."""

    buffer: FixedBuffer | AdaptiveBuffer = LIVE_BUFFER
    """Of the jitter buffer."""
    concealment: ConcealedBy = "codec"
    """As in a line profile."""
    codec_mode: str | None = None
    """Bit rate of Opus."""
    network: PacketNetwork | None = None
    """Drops and delays our packets before they are sent; None: none."""


class RtcPeer:
    """One end. All methods run on one event loop; `send` and `pull` never block and never raise.

    Args:
        rate_hz: of the frames, 8000 or 16000.
        codec: the only one that is offered and taken, in upper or lower case; None: whatever the rate can use.
        clock: times packets.
        on_closed: called once with the reason when the connection ends, unless it is by `aclose`.
        hosts: addresses whose UDP ports are offered; None: those of this machine, and loopback.
        media: buffer, concealment, network.
        seed: of the numbers that begin at random.
        silent_limit_s: no packet for so long ends the connection; None: it may be silent for ever.

    Raises:
        HarnessError: no codec of this name, or not at this rate.
    """

    def __init__(
        self,
        *,
        rate_hz: int,
        codec: str | None,
        clock: Clock,
        on_closed: Callable[[str], None],
        hosts: Sequence[str] | None = LOOPBACK,
        media: MediaSpec | None = None,
        seed: int = 0,
        silent_limit_s: float | None = SILENT_LIMIT_S,
    ) -> None:
        self._rate_hz, self._clock, self._on_closed = rate_hz, clock, on_closed
        self._wanted = _wanted(codec, rate_hz)
        self._media, self._seed, self._silent_limit_s = media or MediaSpec(), seed, silent_limit_s
        self._silence: Frame = np.zeros(rate_hz * PTIME_MS // 1000, dtype=np.int16)
        self._pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._transceiver: RTCRtpTransceiver = self._pc.addTransceiver("audio", direction="sendrecv")
        self._transport = Transport(self._pc, self._transceiver, hosts, self._on_packet)
        self._described = False
        self._connected = asyncio.Event()
        self._over: str | None = None
        self._closing: asyncio.Task[None] | None = None
        self.audio: AudioFormat | None = None
        """What both ends agreed on; None: not yet."""
        self._sender: MediaSender | None = None
        self._receiver: MediaReceiver | None = None
        self._outbox = Outbox(clock, self._transport.send, self._media.network)
        self._silent_pulls: int | None = None
        """Since the last packet; None: not connected yet."""
        self._last_packet_s = 0.0
        self.received = 0
        """Packets that came so far, events among them."""
        self._pc.on("connectionstatechange", self._state_changed)

    # -- the descriptions ---------------------------------------------------------------------------------------------

    async def offer(self) -> str:
        """Our offer. Then `accept` what the other end answers.

        Raises:
            RtcError: no UDP port can be had.
        """
        self._once()
        self._prefer(self._wanted)
        with mapped("the offer"):
            await self._pc.setLocalDescription(await self._pc.createOffer())
        sdp = self._local_sdp()
        clock_hz = AudioFormat(self._wanted[0], 0, None).clock_hz
        return with_extras(sdp, clock_hz=clock_hz, events=EVENTS_PAYLOAD_TYPE)

    async def answer(self, sdp: object) -> str:
        """Our answer to another end's offer.

        Raises:
            RtcError: it is no offer that we can take; says why.
        """
        session = check_sdp(sdp)
        audio = choose(session, self._wanted)
        self._once()
        self._prefer((audio.codec,))
        with mapped("the offer"):
            await self._pc.setRemoteDescription(RTCSessionDescription(with_direction(without_names(str(sdp))), "offer"))
            await self._pc.setLocalDescription(await self._pc.createAnswer())
        answer = self._local_sdp()
        self._agree(audio)
        return with_extras(answer, clock_hz=audio.clock_hz, events=audio.events_payload_type)

    async def accept(self, sdp: object) -> None:
        """The other end's answer to our offer.

        Raises:
            RtcError: it is no answer to it; says why.
        """
        session = check_sdp(sdp)
        audio = choose(session, self._wanted)
        with mapped("the answer"):
            await self._pc.setRemoteDescription(
                RTCSessionDescription(with_direction(without_names(str(sdp))), "answer")
            )
        self._agree(audio)

    async def connected(self, limit_s: float) -> None:
        """Wait until packets can flow.

        Raises:
            RtcError: they cannot, or not within the limit.
        """
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._connected.wait(), limit_s)
        if self._over is not None:
            raise RtcError(f"the connection was not made: {self._over}")
        if not self._connected.is_set():
            raise RtcError(f"the connection was not made within {limit_s:g} s: no way to the other end's UDP port")

    # -- each packet time ---------------------------------------------------------------------------------------------

    def send(self, frame: Frame, key: str | None = None) -> None:
        """Send what is said in the packet time that begins now; dropped as long as nobody is connected.

        Args:
            frame: (samples,) int16 at `rate_hz`.
            key: of the telephone, pressed meanwhile: an event goes instead of the sound if the other end knows events.
        """
        if self._sender is not None and self._outbox.open and self._over is None:
            for packet in self._sender.next(frame, key):
                self._outbox.put(packet.pack())

    def pull(self) -> Frame:
        """What is heard in the packet time that begins now, (samples,) int16; silence as long as nothing comes."""
        return self.pull_slot()[1]

    def pull_slot(self) -> tuple[Pulled, Frame]:
        """The same, with what the jitter buffer says of it."""
        self._watch()
        if self._receiver is None:
            return Idle(), self._silence
        return self._receiver.pull()

    @property
    def key(self) -> str | None:
        """Of the other end's telephone, pressed in the packet time of the last `pull`."""
        return self._receiver.key if self._receiver else None

    @property
    def counts(self) -> Counts:
        """Of the jitter buffer so far."""
        return self._receiver.counts if self._receiver else Counts()

    @property
    def foreign(self) -> int:
        """Packets of another payload type or length than was agreed on, which were dropped."""
        return self._receiver.foreign if self._receiver else 0

    @property
    def buffer_ms(self) -> float:
        """Delay of the jitter buffer now."""
        return self._receiver.delay_ms if self._receiver else 0.0

    @property
    def concealed_by(self) -> ConcealedBy:
        """What stands in for missing packets."""
        return self._receiver.concealed_by if self._receiver else "silence"

    @property
    def sent(self) -> int:
        """Packets that were made so far, those that the network dropped among them."""
        return self._sender.packets if self._sender else 0

    @property
    def due(self) -> int:
        """Packets that have left, or should have by now."""
        return self._outbox.due

    # -- the end ------------------------------------------------------------------------------------------------------

    async def aclose(self) -> None:
        """Close the connection and wait until nothing of it runs any more. Safe to call twice."""
        self._over = self._over or "closed by this end"
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="rtc-close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._outbox.aclose()
        await self._pc.close()
        await self._transport.settled(_CLOSE_LIMIT_S)
        self._connected.set()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _prefer(self, codecs: tuple[RtcCodec, ...]) -> None:
        known = RTCRtpSender.getCapabilities("audio").codecs
        by_name = {c.mimeType.partition("/")[2].lower(): c for c in known}
        self._transceiver.setCodecPreferences([by_name[codec] for codec in codecs])

    def _once(self) -> None:
        """A connection is described once: what changes it later would change the media under the line."""
        if self._described:
            raise RtcError("this connection has its offer already")
        self._described = True

    def _local_sdp(self) -> str:
        sdp = self._pc.localDescription.sdp
        if "a=candidate:" not in sdp:
            raise RtcError("no UDP port could be opened for the connection")
        return sdp

    def _agree(self, audio: AudioFormat) -> None:
        encoder, decoder = (make_codec(audio.codec, self._rate_hz, mode=self._mode(audio)) for _ in range(2))
        media = self._media
        self._sender = MediaSender(encoder, audio, self._transport.ssrc, derive_seed(self._seed, "rtp"))
        self._receiver = MediaReceiver(decoder, audio, buffer=media.buffer, concealment=media.concealment)
        self.audio = audio

    def _mode(self, audio: AudioFormat) -> str | None:
        return self._media.codec_mode if audio.codec == "opus" else None

    def _state_changed(self) -> None:
        state = self._pc.connectionState
        if state == "connected" and not self._outbox.open:
            self._heard_of()
            self._outbox.start()
            self._connected.set()
        elif state == "failed":
            self._end("no way to the other end, or its encryption does not fit")
        elif state == "closed":
            self._end(CLOSED_BY_OTHER_END)

    def _end(self, why: str) -> None:
        if self._over is None:
            self._over = why
            self._connected.set()
            self._on_closed(why)

    def _heard_of(self) -> None:
        self._silent_pulls, self._last_packet_s = 0, self._clock.now_s()

    def _watch(self) -> None:
        """Whoever was there and sends nothing for long has gone without a word. Both seconds and packet times must have
        passed: a loop that was held up (while engines are loaded) has read no packets, and a line that catches up asks
        for many at once; the other end is to blame for neither."""
        if self._silent_pulls is None or self._over is not None or self._silent_limit_s is None:
            return
        self._silent_pulls += 1
        silent_s = min(self._silent_pulls * PTIME_MS / 1000, self._clock.now_s() - self._last_packet_s)
        if silent_s > self._silent_limit_s:
            came = "no more packets came" if self.received else "not one packet came"
            self._end(f"{came} for {self._silent_limit_s:g} s")

    def _on_packet(self, data: bytes) -> None:
        try:
            packet = RtpPacket.parse(data)
        except RtpError:
            return
        self.received += 1
        self._heard_of()
        if self._receiver is not None:
            self._receiver.push(packet)


def _wanted(codec: str | None, rate_hz: int) -> tuple[RtcCodec, ...]:
    able = codecs_at(rate_hz)
    if codec is None:
        return able
    name = codec.lower()
    if name not in able:
        raise HarnessError(f"{codec} at {rate_hz} Hz is no codec of a WebRTC connection: {', '.join(RTC_CODECS)}")
    return (name,)
