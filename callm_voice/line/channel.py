"""One direction of the line, without I/O: PCM stages, then the codec's encoder and decoder.

    frame -> gain -> band -> encoder -> payload -> decoder -> frame
             '- PCM stages -'          '- packet -'

What degrades sound (noise) is one more PCM stage; what degrades packets (loss, jitter) stands between encoder and
decoder, where a frame is a payload.
"""

from __future__ import annotations

from typing import Protocol

from callm_voice.audio.codecs import make_codec
from callm_voice.audio.pcm import Pcm, apply_gain
from callm_voice.line.band import BandFilter
from callm_voice.line.leg import Frame
from callm_voice.line.profile import LineProfile

DELAY_AT_HZ = 1000.0
"""The delay of a filter depends on frequency; 1 kHz is where telephony measures (ITU-T G.712)."""


class PcmStage(Protocol):
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


class Channel:
    """One way through the line. The same profile, seed and input give the same output, however it is split.

    Args:
        profile: the line's parameters.
        seed: for the stages of a profile that draw random numbers. Gain, band and G.711 draw none.
    """

    def __init__(self, profile: LineProfile, seed: int = 0) -> None:
        self.profile = profile
        self.seed = seed
        self._codec = make_codec(profile.codec, profile.rate_hz)
        self._stages: list[PcmStage] = []
        delay_samples = float(self._codec.delay_samples)
        if profile.gain_db:
            self._stages.append(Gain(profile.gain_db))
        if profile.band_hz is not None:
            band = BandFilter(*profile.band_hz, profile.rate_hz)
            self._stages.append(band)
            delay_samples += band.group_delay_samples(DELAY_AT_HZ)
        self.delay_ms = delay_samples * 1000 / profile.rate_hz
        """Group delay at 1 kHz of band filter and codec: how much later speech comes out than it went in."""

    def process(self, frame: Frame) -> Frame:
        """What comes out at the far end for (samples,) int16 put in; a new array of the same length."""
        for stage in self._stages:
            frame = stage.process(frame)
        return self._codec.decode(self._codec.encode(frame))
