"""Sounds without a word in them: what a recogniser writes for them, it invented.

All are made here from a seed, 3 to 4 s at 16 kHz, at levels that fit speech of `SPEECH_DBOV`. The noises of a place are
those of line/noise.py, but other draws than any profile makes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from callm_voice.audio.pcm import FULL_SCALE, Pcm, round_to_int16
from callm_voice.audio.resample import resample_whole
from callm_voice.audio.tones import dtmf
from callm_voice.core.ids import derive_seed
from callm_voice.line.channel import Channel, ChannelStream
from callm_voice.line.noise import NoiseKind, NoiseStream
from callm_voice.line.profile import LineProfile

VERSION = 1
"""Raised when a sound changes: what was heard of the old one counts no more."""
RATE_HZ = 16_000
SPEECH_DBOV = -20.0
"""Active level of the speech that these sounds lie between."""
_S = 3.0

Samples = NDArray[np.float64]


def clips() -> dict[str, Pcm]:
    """Name → (samples,) int16 at 16 kHz."""
    made = {name: make(np.random.default_rng(derive_seed("nonspeech", name))) for name, (make, _) in _CLIPS.items()}
    return {name: _scaled(sound, _CLIPS[name][1]) for name, sound in made.items()}


def names() -> tuple[str, ...]:
    """Of all of them."""
    return tuple(_CLIPS)


def over_the_line(pcm: Pcm, profile: LineProfile, seed: int) -> Pcm:
    """A sound without speech through the line, whose microphone is set for speech of `SPEECH_DBOV`: (samples,) int16 at
    the profile's rate."""
    has_microphone = profile.microphone is not None
    stream = ChannelStream(Channel(profile, seed, speech_dbov=SPEECH_DBOV if has_microphone else None))
    return np.concatenate([stream.push(resample_whole(pcm, RATE_HZ, profile.rate_hz)), stream.flush()])


def _scaled(sound: Samples, level_dbov: float | None) -> Pcm:
    """Mean level over the whole sound; None: as it is, on the scale of int16."""
    power = float(np.mean(np.square(sound)))
    if level_dbov is None or power == 0:
        return round_to_int16(sound)
    return round_to_int16(sound * FULL_SCALE * 10 ** (level_dbov / 20) / np.sqrt(power))


def _seconds(s: float = _S) -> Samples:
    return np.arange(round(s * RATE_HZ)) / RATE_HZ


def _silence(rng: np.random.Generator) -> Samples:
    return np.zeros(round(_S * RATE_HZ))


def _hiss(rng: np.random.Generator) -> Samples:
    return rng.standard_normal(round(_S * RATE_HZ))


def _hum(rng: np.random.Generator) -> Samples:
    """The mains and its harmonics."""
    t = _seconds()
    return np.asarray(sum(np.sin(2 * np.pi * 60 * k * t + k) / k for k in range(1, 12)))


def _place(kind: NoiseKind) -> Callable[[np.random.Generator], Samples]:
    def make(rng: np.random.Generator) -> Samples:
        stream = NoiseStream(kind, RATE_HZ, int(rng.integers(1 << 31)), None)
        return np.asarray(stream.take(round(4.0 * RATE_HZ)), dtype=np.float64)

    return make


def _tones(*hz: float, on_s: float, off_s: float) -> Callable[[np.random.Generator], Samples]:
    """A tone of the network (ITU-T E.180): these frequencies together, on and off."""

    def make(rng: np.random.Generator) -> Samples:
        t = _seconds(4.0)
        sounding = (t % (on_s + off_s)) < on_s
        return np.asarray(sounding * sum(np.sin(2 * np.pi * f * t) for f in hz))

    return make


def _keys(rng: np.random.Generator) -> Samples:
    return dtmf("2125550133", RATE_HZ, tone_ms=120, gap_ms=120).astype(np.float64)


def _music(rng: np.random.Generator) -> Samples:
    """Music on hold: four chords of plucked sines."""
    t = _seconds(1.0)
    chords = ((220, 277, 330), (196, 247, 294), (175, 220, 262), (196, 247, 392))
    partials = [[(f * k, k) for f in chord for k in (1, 2, 3)] for chord in chords]
    return np.concatenate(
        [sum(np.exp(-2 * t * k) * np.sin(2 * np.pi * hz * t) for hz, k in chord) for chord in partials]
    )


def _bursts(count: int, length_s: float, low_hz: float, high_hz: float) -> Callable[[np.random.Generator], Samples]:
    """Short coloured noises at random moments: a cough, a breath, a knock, keys of a keyboard."""

    def make(rng: np.random.Generator) -> Samples:
        out = np.zeros(round(_S * RATE_HZ))
        size = round(length_s * RATE_HZ)
        sos = signal.butter(2, (low_hz, high_hz), "bandpass", fs=RATE_HZ, output="sos")
        shape = np.exp(-4 * np.arange(size) / size) * np.minimum(1.0, np.arange(size) / (0.08 * size))
        for at in rng.integers(0, out.size - size, count):
            out[at : at + size] += shape * signal.sosfilt(sos, rng.standard_normal(size)) * rng.uniform(0.5, 1.0)
        return out

    return make


def _beep(rng: np.random.Generator) -> Samples:
    """One beep of a second between silences."""
    t = _seconds()
    return np.asarray(((t > 1) & (t < 2)) * np.sin(2 * np.pi * 1000 * t))


_CLIPS: dict[str, tuple[Callable[[np.random.Generator], Samples], float | None]] = {
    "silence": (_silence, None),
    "hiss-60": (_hiss, -60.0),
    "hiss-45": (_hiss, -45.0),
    "hum-40": (_hum, -40.0),
    "pink-30": (_place("pink"), -30.0),
    "street-40": (_place("street"), -40.0),
    "street-30": (_place("street"), -30.0),
    "car-35": (_place("car"), -35.0),
    "car-25": (_place("car"), -25.0),
    "cafe-40": (_place("cafe"), -40.0),
    "cafe-30": (_place("cafe"), -30.0),
    "ringback": (_tones(440, 480, on_s=2.0, off_s=4.0), -25.0),
    "busy": (_tones(480, 620, on_s=0.5, off_s=0.5), -25.0),
    "dial-tone": (_tones(350, 440, on_s=4.0, off_s=1.0), -25.0),
    "keys": (_keys, None),
    "music": (_music, -28.0),
    "coughs": (_bursts(3, 0.35, 200, 2500), -30.0),
    "breaths": (_bursts(3, 0.9, 400, 5000), -42.0),
    "knocks": (_bursts(5, 0.08, 60, 600), -32.0),
    "typing": (_bursts(18, 0.03, 1500, 6500), -42.0),
    "beep": (_beep, -25.0),
}
"""How it is made, and its mean level in dBov over the whole sound (None: as made)."""
