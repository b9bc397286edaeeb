"""A call's sound for its page: waveform peaks, and one file a channel.

Two files and not one with two channels, because a page on `file://` may not take the channels of a file apart.
"""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import av
import numpy as np

from callm_voice.audio.files import read_sound, write_sound
from callm_voice.audio.pcm import Pcm
from callm_voice.core.runfolder import disk_errors

AudioKind = Literal["flac", "opus", "none"]
PARTIES = ("caller", "agent")
"""The channels of a recording, left and right."""
BUCKETS = 2000
MIN_BUCKET_MS = 20.0
OPUS_RATES_HZ = (8_000, 12_000, 16_000, 24_000, 48_000)
"""What an Opus encoder takes (RFC 6716 §2)."""
OPUS_BIT_RATE = 20_000
OPUS_OPTIONS = {"application": "voip", "compression_level": "5"}


@dataclass(frozen=True)
class Peaks:
    """The greatest level of each stretch of both channels."""

    bucket_ms: float
    duration_ms: float
    channels: tuple[str, str]
    """uint8 in base64: the square root of the level, 255 at full scale, so that quiet speech is still seen."""

    def as_json(self) -> dict[str, Any]:
        """For the page's data file."""
        return {"bucket_ms": self.bucket_ms, "duration_ms": self.duration_ms, "channels": list(self.channels)}


def peaks_of(pcm: Pcm, rate_hz: int) -> Peaks:
    """Peaks of a recording.

    Args:
        pcm: (samples, 2), int16.
        rate_hz: samples per second.
    """
    samples = pcm.shape[0]
    per_bucket = max(1, round(MIN_BUCKET_MS * rate_hz / 1000), -(-samples // BUCKETS))
    left, right = (_coded(pcm[:, n], per_bucket) for n in (0, 1))
    return Peaks(per_bucket * 1000 / rate_hz, samples * 1000 / rate_hz, (left, right))


def _coded(channel: Pcm, per_bucket: int) -> str:
    starts = np.arange(0, channel.shape[0], per_bucket)
    if not starts.size:
        return ""
    contiguous = np.ascontiguousarray(channel)
    highest = np.maximum.reduceat(contiguous, starts).astype(np.int32)
    lowest = np.minimum.reduceat(contiguous, starts).astype(np.int32)
    levels = np.maximum(np.abs(highest), np.abs(lowest))
    coded = np.round(255 * np.sqrt(levels / 32768)).clip(0, 255).astype(np.uint8)
    return base64.b64encode(coded.tobytes()).decode("ascii")


def split_sound(recording: Path, out: Path, kind: AudioKind) -> tuple[Peaks, list[str]]:
    """Write one file a channel into `out` and compute the peaks; the names of the files, caller first.

    Raises:
        ConfigError: the recording cannot be read.
        DiskError: a file cannot be written.
    """
    sound = read_sound(recording)
    pcm = sound.pcm if sound.pcm.ndim == 2 else np.stack([sound.pcm, np.zeros_like(sound.pcm)], axis=1)
    peaks = peaks_of(pcm, sound.rate_hz)
    if kind == "none" or pcm.shape[0] == 0:
        return peaks, []
    names = []
    for number, party in enumerate(PARTIES):
        name = f"{party}.{'flac' if kind == 'flac' else 'opus'}"
        with disk_errors(out):
            out.mkdir(parents=True, exist_ok=True)
        channel = np.ascontiguousarray(pcm[:, number])
        if kind == "flac":
            write_sound(out / name, channel, sound.rate_hz)
        else:
            _write_opus(out / name, channel, sound.rate_hz)
        names.append(name)
    return peaks, names


def _write_opus(path: Path, pcm: Pcm, rate_hz: int) -> None:
    """Ogg Opus at the lowest of its rates that holds the sound."""
    content = io.BytesIO()
    to_hz = next((rate for rate in OPUS_RATES_HZ if rate >= rate_hz), OPUS_RATES_HZ[-1])
    with av.open(content, "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=to_hz, layout="mono", options=OPUS_OPTIONS)
        stream.bit_rate = OPUS_BIT_RATE
        resampler = av.AudioResampler(format="s16", layout="mono", rate=to_hz)
        frame = av.AudioFrame.from_ndarray(pcm.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = rate_hz
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    with disk_errors(path):
        path.write_bytes(content.getbuffer())
