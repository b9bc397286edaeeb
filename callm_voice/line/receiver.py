"""The receiving end of one codec's packets, without I/O: jitter buffer, then decoder or concealment."""

from __future__ import annotations

import numpy as np

from callm_voice.audio.codecs import Codec, codec_catalogue
from callm_voice.audio.pcm import Pcm
from callm_voice.core.events import ConcealedBy
from callm_voice.line.jitter import Counts, Idle, JitterBuffer, Play, Pulled
from callm_voice.line.leg import PTIME_MS
from callm_voice.line.plc import Concealer
from callm_voice.line.profile_parts import AdaptiveBuffer, FixedBuffer
from callm_voice.line.rtp import RtpPacket

_QUIET_SHARE = 0.1
"""A frame is quiet if it is 20 dB below what was loud within the last seconds."""
_LOUD_DECAY = 0.998
"""Per packet: what was loud is half forgotten after 7 s."""


class PacketReceiver:
    """Takes packets as they arrive and gives one frame each packet time.

    Args:
        codec: decodes, for this direction alone.
        buffer: of the jitter buffer.
        concealment: as in a line profile: `codec`, `pitch` or `silence`.
        step: of the RTP timestamp from packet to packet; None: the frame's samples.
    """

    def __init__(
        self, codec: Codec, buffer: FixedBuffer | AdaptiveBuffer, concealment: ConcealedBy, step: int | None = None
    ) -> None:
        self._codec = codec
        self._samples = codec.rate_hz * PTIME_MS // 1000
        adaptive = isinstance(buffer, AdaptiveBuffer)
        depths = (buffer.min_ms, buffer.max_ms) if isinstance(buffer, AdaptiveBuffer) else (buffer.depth_ms,) * 2
        self._adaptive = adaptive
        self._buffer = JitterBuffer(PTIME_MS, step or self._samples, *depths)
        self.concealed_by = concealed_by(concealment, codec)
        self._concealer = Concealer(codec.rate_hz) if self.concealed_by == "pitch" else None
        self._loud = self._last_peak = 0

    @property
    def delay_ms(self) -> float:
        """Of the jitter buffer now."""
        return self._buffer.delay_ms

    @property
    def counts(self) -> Counts:
        """Of the jitter buffer so far."""
        return self._buffer.counts

    def push(self, packet: RtpPacket, arrival_ms: float) -> None:
        """Take one packet. Times are any clock's, in ms, and never go back."""
        self._buffer.push(packet, arrival_ms)

    def play(self, now_ms: float) -> tuple[Pulled, Pcm]:
        """What the buffer says of the packet time that begins now, and its sound, (samples,) int16; called once each
        packet time."""
        pulled = self._buffer.pull(now_ms, quiet=self._last_peak <= _QUIET_SHARE * self._loud)
        heard = self._sound(pulled)
        if self._adaptive:
            self._last_peak = max(int(heard.max()), -int(heard.min()))
            self._loud = max(int(_LOUD_DECAY * self._loud), self._last_peak)
        return pulled, heard

    def _sound(self, pulled: Pulled) -> Pcm:
        if isinstance(pulled, Play):
            frame = self.decode(pulled.packet)
            return self._concealer.heard(frame, joins=not pulled.after_skip) if self._concealer else frame
        if isinstance(pulled, Idle):
            return np.zeros(self._samples, dtype=np.int16)
        return self._make_up()

    def decode(self, packet: RtpPacket) -> Pcm:
        """The sound of one packet, (samples,) int16."""
        return self._codec.decode(packet.payload)

    def _make_up(self) -> Pcm:
        """Sound for a missing packet."""
        if self._concealer is not None:
            return self._concealer.conceal(self._samples)
        made = self._codec.conceal() if self.concealed_by == "codec" else None
        return np.zeros(self._samples, dtype=np.int16) if made is None else made


def concealed_by(concealment: ConcealedBy, codec: Codec) -> ConcealedBy:
    """What really stands in for missing packets: whether a codec has a concealment of its own, the catalogue says."""
    if concealment != "codec":
        return concealment
    own = any(info.conceals for info in codec_catalogue() if info.name == codec.name)
    return "codec" if own else "pitch"
