"""The caller's end of the line, without I/O: room, level, noise, echo, in packets.

    speech -> room -> level --(+)--> gain error -> line
                       noise --'
      what the caller hears -> echo --'

**Level.** Speech has to have a known level, or a signal-to-noise ratio means nothing. The active level of what was
said so far (ITU-T P.56, in the line's band) is measured as it comes, and the gain that brings it to the nominal level
follows from it. It changes in a straight line over a packet, at most five times a second, and less and less as more is
known. Before anything is known the level of the voices that ship is assumed. Whoever knows the level of all that will
be said can give it: then the gain is constant.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from callm_voice.audio.pcm import FULL_SCALE, Pcm, round_to_int16
from callm_voice.core.ids import derive_seed
from callm_voice.line.band import BandFilter
from callm_voice.line.noise import NoiseStream
from callm_voice.line.profile import LineProfile
from callm_voice.line.room import Convolver, echo_response, room_response
from callm_voice.line.speechlevel import SpeechLevelMeter

ASSUMED_DBOV = -20.0
"""Active level of synthesised speech whose highest sample is at -3 dBov."""
ASSUMED_FOR_S = 0.4
"""The assumption weighs as much as so much active speech."""
_MEASURE_PACKETS = 10
"""The level is measured five times a second."""
_REST_PACKETS = 15
"""After so much digital silence (the hangover of P.56 and more) nothing can change until there is sound again."""

Samples = NDArray[np.float64]


class CallerMicrophone:
    """Takes what the caller says, gives what the line gets.

    Args:
        profile: with a `microphone`.
        seed: of all draws.
        speech_dbov: active level of all that will be said, in the line's band; None: it is measured on the way.
    """

    def __init__(self, profile: LineProfile, seed: int, speech_dbov: float | None = None) -> None:
        assert profile.microphone is not None
        self.profile = profile
        spec, rate_hz = profile.microphone, profile.rate_hz
        self._rate_hz = rate_hz
        self._band = band = BandFilter(*profile.band_hz, rate_hz) if profile.band_hz else None
        self._leveller = _Leveller(spec.speech_dbov, rate_hz, band, speech_dbov)
        self._room = _room(profile, derive_seed(seed, "room"))
        self._noise: NoiseStream | None = None
        if spec.noise is not None:
            self._noise = NoiseStream(spec.noise.kind, rate_hz, derive_seed(seed, "noise"), band)
            self._noise_gain = FULL_SCALE * 10 ** ((spec.speech_dbov - spec.noise.snr_db) / 20)
        error_db = np.random.default_rng(derive_seed(seed, "gain error")).uniform(-1, 1) * spec.gain_error_db
        self.gain_error_db = float(error_db)
        """What was drawn."""
        self._gain = 10 ** (self.gain_error_db / 20)

    def process(self, frame: Pcm, far: Pcm | None = None) -> Pcm:
        """One packet, (samples,) int16.

        Args:
            frame: what the caller says.
            far: what the caller heard one packet time before; None: nothing, or nobody asks for an echo.
        """
        sound, echo = frame.astype(np.float64), None
        if self._room is not None:
            sound, echo = self._room.process(sound, far)
        sound = self._leveller.process(sound)
        if self._noise is not None:
            sound = sound + self._noise_gain * self._noise.take(frame.size)
        if echo is not None:
            sound = sound + echo
        return round_to_int16(self._gain * sound)

    def level_of(self, frames: Pcm) -> float | None:
        """Active level in dBov, in the line's band, of speech that is known as a whole, as it comes out of the room.

        Args:
            frames: (packets, samples) int16. What was given to `process` does not count, and counts no more after this.
        """
        meter = SpeechLevelMeter(self._rate_hz)
        for frame in frames:
            sound = frame.astype(np.float64)
            heard = self._room.process(sound, None)[0] if self._room is not None else sound
            meter.push(self._band.filter(heard) if self._band is not None else heard)
        return None if meter.level is None else meter.level[0]


class _Room:
    """A hands-free telephone: what it makes of the talker, and of what it plays."""

    def __init__(self, response: Samples, echo: Samples | None, samples: int) -> None:
        self._has_echo = echo is not None
        self._convolver = Convolver([response] if echo is None else [response, echo], samples)
        self._frames: Samples = np.zeros((1 + self._has_echo, samples))

    def process(self, near: Samples, far: Pcm | None) -> tuple[Samples, Samples | None]:
        """(the talker in the room, the echo or None)."""
        self._frames[0] = near
        if self._has_echo:
            self._frames[1] = 0.0 if far is None else far
        out = self._convolver.process(self._frames)
        return out[0], out[1] if self._has_echo else None


def _room(profile: LineProfile, seed: int) -> _Room | None:
    phone = profile.microphone.speakerphone if profile.microphone else None
    if phone is None:
        return None
    rng, rate_hz, reverberation_ms = np.random.default_rng(seed), profile.rate_hz, phone.reverberation_ms
    response, echo = room_response(rng, rate_hz, reverberation_ms, phone.direct_db), None
    if phone.echo_loss_db is not None:
        later_ms = phone.echo_delay_ms - profile.ptime_ms  # `far` is a packet old when it comes here
        echo = echo_response(rng, rate_hz, reverberation_ms, phone.echo_loss_db, later_ms)
    return _Room(response, echo, profile.frame_samples)


class _Leveller:
    """Brings speech to its nominal level. What is measured counts from the next packet on."""

    def __init__(self, target_dbov: float, rate_hz: int, band: BandFilter | None, known_dbov: float | None) -> None:
        self._target_dbov = target_dbov
        self._meter = SpeechLevelMeter(rate_hz) if known_dbov is None else None
        self._band = BandFilter(band.low_hz, band.high_hz, rate_hz) if band else None
        self._gain = 10 ** ((target_dbov - (ASSUMED_DBOV if known_dbov is None else known_dbov)) / 20)
        self._next_gain = self._gain
        self._silent_packets = _REST_PACKETS
        self._unmeasured: list[Samples] = []

    def process(self, sound: Samples) -> Samples:
        out = self._gain * sound
        if self._next_gain != self._gain:
            ramp = np.arange(1, sound.size + 1) / sound.size
            out = (self._gain + (self._next_gain - self._gain) * ramp) * sound
            self._gain = self._next_gain
        if self._meter is not None:
            self._measure(self._meter, sound)
        return np.asarray(out)

    def _measure(self, meter: SpeechLevelMeter, sound: Samples) -> None:
        self._silent_packets = 0 if np.count_nonzero(sound) else self._silent_packets + 1
        if self._silent_packets > _REST_PACKETS:
            return
        self._unmeasured.append(sound)
        if len(self._unmeasured) < _MEASURE_PACKETS:
            return
        joined = np.concatenate(self._unmeasured)
        self._unmeasured.clear()
        meter.push(self._band.filter(joined) if self._band else joined)
        self._next_gain = self._gain_now(meter)

    def _gain_now(self, meter: SpeechLevelMeter) -> float:
        measured = meter.level
        if measured is None:
            return self._gain
        level_dbov, active_s = measured
        power = 10 ** (level_dbov / 10) * active_s + 10 ** (ASSUMED_DBOV / 10) * ASSUMED_FOR_S
        mean_dbov = 10 * math.log10(power / (active_s + ASSUMED_FOR_S))
        return float(10 ** ((self._target_dbov - mean_dbov) / 20))
