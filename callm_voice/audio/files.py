"""Sound files: read any that libsndfile knows, write WAV and FLAC."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from callm_voice.audio.pcm import Pcm, to_int16
from callm_voice.core.errors import ConfigError, EngineError
from callm_voice.core.runfolder import disk_errors

_FORMATS = {".flac": "FLAC", ".wav": "WAV"}
_EXACT_SUBTYPES = {"PCM_16", "PCM_S8", "PCM_U8", "ULAW", "ALAW"}
"""Fit into int16 as they are; all others are read as floats and rounded, because libsndfile would truncate."""


@dataclass(frozen=True)
class Sound:
    """What a sound file holds."""

    pcm: Pcm
    """(samples,) for mono, (samples, 2) for stereo."""
    rate_hz: int

    @property
    def duration_ms(self) -> float:
        return float(self.pcm.shape[0]) * 1000 / self.rate_hz


def read_sound(path: Path) -> Sound:
    """A whole sound file of one or two channels.

    Raises:
        ConfigError: it does not exist, is no sound file that libsndfile knows, is damaged, or has more channels.
    """
    try:
        with path.open("rb") as handle, soundfile.SoundFile(handle) as file:
            if file.channels > 2:
                raise ConfigError(path, "", f"expected one or two channels, found {file.channels}")
            if file.subtype in _EXACT_SUBTYPES:
                pcm: Pcm = file.read(dtype="int16")
            else:
                pcm = to_int16(file.read(dtype="float64"))
            return Sound(pcm, int(file.samplerate))
    except OSError as error:
        raise ConfigError(path, "", f"cannot be read: {error.strerror or error}") from error
    except soundfile.LibsndfileError as error:
        reason = error.error_string.strip().rstrip(".")
        raise ConfigError(path, "", f"not a sound file that can be read (WAV, FLAC, Ogg, MP3): {reason}") from error


def write_sound(path: Path, pcm: Pcm, rate_hz: int) -> None:
    """Write 16-bit WAV or FLAC, by the suffix of `path`.

    The file is encoded in memory and written in one piece, so that what the operating system says is not lost in
    libsndfile.

    Args:
        pcm: (samples,) or (samples, 2), int16.

    Raises:
        DiskError: the disk is full or the path cannot be written.
        EngineError: the suffix is neither, or libsndfile refused, or it would be a FLAC file without samples, which
            libsndfile cannot write.
    """
    kind = _FORMATS.get(path.suffix.lower())
    if kind is None:
        raise EngineError(f"{path}: sound is written as .wav or .flac", stage="record")
    if kind == "FLAC" and pcm.shape[0] == 0:
        raise EngineError(f"{path}: a FLAC file needs at least one sample", stage="record")
    content = io.BytesIO()
    try:
        soundfile.write(content, np.ascontiguousarray(pcm), rate_hz, subtype="PCM_16", format=kind)
    except soundfile.LibsndfileError as error:
        raise EngineError(f"{path}: {error.error_string.strip()}", stage="record") from error
    with disk_errors(path):
        path.write_bytes(content.getbuffer())
