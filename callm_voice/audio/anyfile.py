"""Any sound file that a user has, as one mono signal: libsndfile's formats, then whatever FFmpeg decodes (PyAV)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import soundfile
from numpy.typing import NDArray

from callm_voice.audio.files import Sound
from callm_voice.audio.pcm import to_int16
from callm_voice.core.errors import ConfigError

LONGEST_S = 3600
"""A whole file is held in memory."""
RATES_HZ = (2000, 768_000)


def read_any(path: Path) -> Sound:
    """The first sound stream of a file, its channels averaged: (samples,) int16 at the file's own rate.

    Raises:
        ConfigError: it does not exist, holds no sound that can be decoded, or more than an hour of it.
    """
    try:
        with path.open("rb") as handle:
            try:
                samples, rate_hz = _with_libsndfile(handle, path)
            except soundfile.LibsndfileError:
                handle.seek(0)
                samples, rate_hz = _with_ffmpeg(handle, path)
    except OSError as error:
        raise ConfigError(path, "", f"cannot be read: {error.strerror or error}") from error
    if not samples.size:
        raise ConfigError(path, "", "there is no sound in it")
    if not RATES_HZ[0] <= rate_hz <= RATES_HZ[1]:
        raise ConfigError(path, "", f"a sample rate of {rate_hz} Hz; expected {RATES_HZ[0]} to {RATES_HZ[1]}")
    return Sound(to_int16(np.nan_to_num(samples)), rate_hz)


def _with_libsndfile(handle: Any, path: Path) -> tuple[NDArray[np.float64], int]:
    with soundfile.SoundFile(handle) as file:
        if file.frames > LONGEST_S * file.samplerate:
            raise _too_long(path)
        samples: NDArray[np.float64] = file.read(dtype="float64", always_2d=True).mean(axis=1)
        return samples, int(file.samplerate)


def _with_ffmpeg(handle: Any, path: Path) -> tuple[NDArray[np.float64], int]:
    """What libsndfile does not know: M4A, AMR, WebM, the sound of a video."""
    parts: list[NDArray[np.float64]] = []
    taken = rate_hz = 0
    try:
        with av.open(handle) as container:
            if not container.streams.audio:
                raise ConfigError(path, "", "there is no sound in it")
            resampler = av.AudioResampler(format="dblp")
            for frame in container.decode(audio=0):
                for plain in resampler.resample(frame):
                    rate_hz = plain.sample_rate
                    parts.append(plain.to_ndarray().mean(axis=0))
                    taken += parts[-1].size
                    if taken > LONGEST_S * rate_hz:
                        raise _too_long(path)
    except av.FFmpegError as error:
        raise ConfigError(path, "", f"not a sound file that can be read: {error.strerror or error}") from error
    return np.concatenate([np.zeros(0), *parts]), rate_hz or RATES_HZ[0]


def _too_long(path: Path) -> ConfigError:
    return ConfigError(path, "", f"longer than {LONGEST_S // 60} minutes; cut it first")
