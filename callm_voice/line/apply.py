"""A sound through one direction of a line, and what the line did to it: for files, tables and plots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from callm_voice.audio.pcm import Pcm, level_dbov, peak_dbov, split_frames
from callm_voice.audio.resample import resample_whole
from callm_voice.core.events import Direction, PacketCounts
from callm_voice.line.channel import Channel, ChannelStream, known_level
from callm_voice.line.packets import Burst
from callm_voice.line.profile import LineProfile
from callm_voice.line.speechlevel import SpeechLevelMeter

EDGE_LOSS_DB = 3.0
"""A measured band ends where the response is so far below its greatest value."""
_SWEEP_S = 8
_SWEEP_PEAK = 8000.0


@dataclass(frozen=True)
class Applied:
    """A sound that went through."""

    pcm: Pcm
    """(samples,) int16 at the profile's rate; what went in begins `delay_ms` after sample 0."""
    rate_hz: int
    delay_ms: float
    """One way: band, codecs, and jitter buffer at the end."""
    counts: PacketCounts | None
    """None: the profile has no network."""
    bursts: tuple[Burst, ...]
    gain_error_db: float | None
    """As drawn; None: the profile has no microphone, or this is not the caller's direction."""


@dataclass(frozen=True)
class Measured:
    """Levels and band of a sound that went through; None: not to be said of this one."""

    level_in_dbov: float | None
    """Active speech level (ITU-T P.56) of what went in, at the line's rate."""
    level_out_dbov: float | None
    """The same of what came out, noise and losses left out."""
    noise_dbov: float | None
    """Level of the noise in the line's band; None: the profile has none."""
    snr_db: float | None
    """`level_out_dbov` less `noise_dbov`."""
    peak_out_dbov: float | None
    """Highest sample that came out."""
    band_hz: tuple[float, float]
    """Where the response to a swept sine is within 3 dB of its greatest value; codec and losses left out."""


def apply_profile(
    pcm: Pcm, rate_hz: int, profile: LineProfile, seed: int = 0, direction: Direction = "to_agent"
) -> Applied:
    """Send a whole sound through the line. All of it is known, so the level of its speech is set exactly.

    Args:
        pcm: (samples,) int16 at `rate_hz`.
        seed: of the line, as for a call.
    """
    sound = resample_whole(pcm, rate_hz, profile.rate_hz)
    channel = Channel(profile, seed, direction, speech_dbov=known_level(sound, profile, seed, direction))
    stream = ChannelStream(channel)
    out = np.concatenate([stream.push(sound), stream.flush()])
    microphone = channel.microphone
    return Applied(
        pcm=out,
        rate_hz=profile.rate_hz,
        delay_ms=round(channel.delay_ms, 3),
        counts=channel.packet_counts,
        bursts=tuple(channel.finished_bursts(end=True)),
        gain_error_db=None if microphone is None else round(microphone.gain_error_db, 3),
    )


def measure(pcm: Pcm, rate_hz: int, profile: LineProfile, seed: int = 0) -> Measured:
    """The same sound once more, without noise, losses and codec, and the noise alone.

    Args:
        pcm: (samples,) int16 at `rate_hz`.
    """
    sound = resample_whole(pcm, rate_hz, profile.rate_hz)
    quiet = _linear(profile, noise=False)
    spoken = apply_profile(pcm, rate_hz, quiet, seed).pcm
    level_out = _active_level(spoken, profile.rate_hz)
    noise = None
    if profile.microphone is not None and profile.microphone.noise is not None:
        known = known_level(sound, profile, seed)
        with_noise = Channel(_linear(profile, noise=True), seed, speech_dbov=known)
        frames = split_frames(np.zeros(sound.size, dtype=np.int16), profile.frame_samples)
        noise = _finite(level_dbov(np.concatenate([with_noise.process(frame) for frame in frames])))
    return Measured(
        level_in_dbov=_active_level(sound, profile.rate_hz),
        level_out_dbov=level_out,
        noise_dbov=noise,
        snr_db=None if noise is None or level_out is None else round(level_out - noise, 2),
        peak_out_dbov=_finite(peak_dbov(apply_profile(pcm, rate_hz, profile, seed).pcm)),
        band_hz=measured_band(profile),
    )


def response(profile: LineProfile) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(frequencies in Hz, gain in dB) of the line's linear part, from a sine swept through it."""
    rate_hz = profile.rate_hz
    t = np.arange(_SWEEP_S * rate_hz) / rate_hz
    sweep = np.rint(_SWEEP_PEAK * signal.chirp(t, 20, _SWEEP_S, 0.995 * rate_hz / 2)).astype(np.int16)
    bare = profile.model_copy(
        update={"microphone": None, "network": None, "tandem": (), "codec": "l16", "codec_mode": None}
    )
    frames = split_frames(sweep, profile.frame_samples)
    channel = Channel(bare)
    out = np.concatenate([channel.process(frame) for frame in frames])[: sweep.size]
    window = rate_hz // 10
    hz, _, before = signal.stft(sweep.astype(np.float64), rate_hz, nperseg=window)
    _, _, after = signal.stft(out.astype(np.float64), rate_hz, nperseg=window)
    before_power, after_power = (np.sum(np.square(np.abs(x)), axis=1) for x in (before, after))
    inside = (hz >= 40) & (hz <= 0.985 * rate_hz / 2)
    return hz[inside], 10 * np.log10((after_power[inside] + 1e-12) / before_power[inside])


def measured_band(profile: LineProfile) -> tuple[float, float]:
    """Lower and upper edge in Hz, from a swept sine."""
    hz, gain_db = response(profile)
    within = hz[gain_db >= gain_db.max() - EDGE_LOSS_DB]
    return round(float(within[0]), 1), round(float(within[-1]), 1)


def _linear(profile: LineProfile, *, noise: bool) -> LineProfile:
    """The profile without codec, packets and error of gain."""
    microphone = profile.microphone
    if microphone is not None:
        changes: dict[str, object] = {"gain_error_db": 0.0}
        if not noise:
            changes["noise"] = None
        microphone = microphone.model_copy(update=changes)
    plain = {"codec": "l16", "codec_mode": None, "tandem": (), "network": None, "microphone": microphone}
    return profile.model_copy(update=plain)


def _active_level(pcm: Pcm, rate_hz: int) -> float | None:
    meter = SpeechLevelMeter(rate_hz)
    meter.push(pcm[: pcm.size - pcm.size % (rate_hz // 1000)].astype(np.float64))
    return None if meter.level is None else round(meter.level[0], 2)


def _finite(level: float) -> float | None:
    return round(level, 2) if np.isfinite(level) else None
