"""One direction of the line, without I/O, in the order of a real call.

    frame -> microphone -> gain -> band -> codec with its packets -> further codecs -> frame
             '------- PCM -------------'  '- packets.PacketPath -'

The caller's microphone stands in the direction to the agent only. Packets exist where the profile has a network;
elsewhere a payload goes straight from encoder to decoder. On the way to the caller the codecs come in reverse order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from callm_voice.audio.codecs import Codec, make_codec
from callm_voice.audio.pcm import Framer, Pcm, apply_gain, split_frames
from callm_voice.core.errors import HarnessError
from callm_voice.core.events import Direction, PacketCounts
from callm_voice.core.ids import derive_seed
from callm_voice.line.band import BandFilter
from callm_voice.line.leg import Frame
from callm_voice.line.mic import CallerMicrophone
from callm_voice.line.packets import Burst, PacketPath, Packets
from callm_voice.line.profile import LineProfile

DELAY_AT_HZ = 1000.0
"""The delay of a filter depends on frequency; telephony measures near 1 kHz (ITU-T G.712: 1020 Hz)."""

_BETWEEN_LINES_MS = 500
"""Longer than the hangover of P.56 and than a room's tail."""


class Stage(Protocol):
    """Changes PCM and keeps its length."""

    def process(self, frame: Pcm) -> Pcm:
        """The changed (samples,) int16; never the same array changed in place."""
        ...


class Gain:
    """A constant change of level; clips at full scale."""

    def __init__(self, gain_db: float) -> None:
        self._gain_db = gain_db

    def process(self, frame: Pcm) -> Pcm:
        return apply_gain(frame, self._gain_db)


class Coded:
    """A codec there and back, no packet lost."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def process(self, frame: Pcm) -> Pcm:
        return self._codec.decode(self._codec.encode(frame))


class Channel:
    """One way through the line. The same profile, seed, direction and input give the same output, however it is split.

    Args:
        profile: the line's parameters.
        seed: of the call's line; what a stage draws follows from it, the direction and the stage's name.
        direction: which way.
        speech_dbov: for a profile with a microphone: the active level of all that will be said, in the line's band, if
            it is known; None: it is measured on the way.
        packets: instead of the profile's simulated network: codec and packets, really sent somewhere.
    """

    def __init__(
        self,
        profile: LineProfile,
        seed: int = 0,
        direction: Direction = "to_agent",
        *,
        speech_dbov: float | None = None,
        packets: Packets | None = None,
    ) -> None:
        self.profile, self.seed, self.direction = profile, seed, direction
        self.packets: Packets | None = packets
        """None: the profile has no network."""
        self.microphone: CallerMicrophone | None = None
        if profile.microphone is not None and direction == "to_agent":
            self.microphone = CallerMicrophone(profile, derive_seed(seed, direction, "microphone"), speech_dbov)
        self._stages: list[Stage] = []
        self._delay_ms = 0.0
        if profile.gain_db:
            self._stages.append(Gain(profile.gain_db))
        if profile.band_hz is not None:
            band = BandFilter(*profile.band_hz, profile.rate_hz)
            self._stages.append(band)
            self._delay_ms += band.group_delay_samples(DELAY_AT_HZ) * 1000 / profile.rate_hz
        codecs = self._codecs()
        self._delay_ms += sum(codec.delay_samples for codec in codecs) * 1000 / profile.rate_hz
        self.packet_samples = self._packet_samples(codecs)
        """What `process` wants; None: any length."""

    @property
    def delay_ms(self) -> float:
        """How much later speech comes out than it went in: the band's group delay at 1 kHz, the codecs' delay, and what
        the jitter buffer holds now. With a fixed buffer it is constant."""
        return self._delay_ms + (self.packets.delay_ms if self.packets else 0.0)

    @property
    def packet_counts(self) -> PacketCounts | None:
        """What became of the packets so far; None: the profile has no network."""
        path = self.packets
        if path is None:
            return None
        counts, burst = path.counts, path.mean_burst
        return PacketCounts(
            sent=path.sent,
            lost=path.lost,
            late=counts.late,
            played=counts.played,
            concealed=counts.concealed,
            skipped=counts.skipped,
            stretched=counts.stretched,
            mean_burst_packets=None if burst is None else round(burst, 3),
            buffer_ms=path.delay_ms,
            concealed_by=path.concealed_by,
        )

    def process(self, frame: Frame, far: Frame | None = None, *, past_microphone: bool = False) -> Frame:
        """What comes out at the far end for (samples,) int16 put in; a new array of the same length.

        Args:
            far: for the echo: what this side heard one packet time before; None: no echo.
            past_microphone: the telephone made this sound itself, while its microphone was shut: a key's tone.

        Raises:
            HarnessError: this line works on packets, and this is not one.
        """
        if self.packet_samples is not None and frame.size != self.packet_samples:
            raise HarnessError(f"a packet of {self.packet_samples} samples, not {frame.size}", stage="line")
        if self.microphone is not None:
            room = self.microphone.process(np.zeros_like(frame) if past_microphone else frame, far)
            frame = frame if past_microphone else room  # the microphone's time goes on all the same
        for stage in self._stages:
            frame = stage.process(frame)
        return frame

    def finished_bursts(self, *, end: bool = False) -> list[Burst]:
        """Losses that are over and were not given out before; with `end` the one that goes on too."""
        return self.packets.finished_bursts(end=end) if self.packets else []

    def _codecs(self) -> list[Codec]:
        """Open the codecs in the order of the way, and put them on it."""
        profile = self.profile
        way = [(profile.codec, profile.codec_mode), *((t.codec, t.codec_mode) for t in profile.tandem)]
        codecs = [make_codec(name, profile.rate_hz, mode=mode) for name, mode in way]
        stages: list[Stage] = [Coded(codec) for codec in codecs]
        if self.packets is None and profile.network is not None:
            self.packets = PacketPath(codecs[0], profile.network, derive_seed(self.seed, self.direction, "packets"))
        if self.packets is not None:
            stages[0] = self.packets
        self._stages += stages if self.direction == "to_agent" else stages[::-1]
        return codecs

    def _packet_samples(self, codecs: list[Codec]) -> int | None:
        by_packet = self.microphone or self.packets or any(codec.frame_samples for codec in codecs)
        return self.profile.frame_samples if by_packet else None


class ChannelStream:
    """A channel for sound that does not come in packets. However it is split, the output is the same samples."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._framer = Framer(channel.profile.frame_samples)

    def push(self, pcm: Pcm) -> Pcm:
        """Take (samples,) int16; what is ready of the output, whole packets."""
        return _joined([self.channel.process(frame) for frame in self._framer.push(pcm)])

    def flush(self) -> Pcm:
        """The rest: the last packet is filled up with silence, and as many packets follow as the channel holds back."""
        last = self._framer.flush()
        parts = [] if last is None else [self.channel.process(last)]
        silence = np.zeros(self.channel.profile.frame_samples, dtype=np.int16)
        held = -(-int(self.channel.delay_ms * 1000) // (self.channel.profile.ptime_ms * 1000))
        return _joined([*parts, *(self.channel.process(silence) for _ in range(held))])


def known_level(sound: Pcm, profile: LineProfile, seed: int, direction: Direction = "to_agent") -> float | None:
    """What `Channel(speech_dbov=…)` wants for this sound, (samples,) int16 at the profile's rate; None: nothing to set,
    or no speech in it."""
    if profile.microphone is None or direction != "to_agent":
        return None
    microphone = CallerMicrophone(profile, derive_seed(seed, direction, "microphone"))
    return microphone.level_of(split_frames(sound, profile.frame_samples))


def rehearsed_level(lines: Sequence[Pcm], profile: LineProfile, seed: int) -> float | None:
    """The same for lines that will be said with pauses between them, in any order; None also if there are none."""
    if profile.microphone is None or not lines:
        return None
    pause = np.zeros(profile.rate_hz * _BETWEEN_LINES_MS // 1000, dtype=np.int16)
    return known_level(np.concatenate([part for line in lines for part in (line, pause)]), profile, seed)


def _joined(parts: list[Pcm]) -> Pcm:
    return np.concatenate([np.zeros(0, dtype=np.int16), *parts])
