"""Reading and writing sound files, and what is said when that fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from callm_voice.audio.files import read_sound, write_sound
from callm_voice.core.errors import ConfigError, DiskError, EngineError

pytestmark = pytest.mark.unit

STEREO = np.random.default_rng(2).integers(-32768, 32768, (801, 2)).astype(np.int16)


@pytest.mark.parametrize("suffix", [".wav", ".flac"])
@pytest.mark.parametrize("pcm", [STEREO, STEREO[:, 0]], ids=["stereo", "mono"])
def test_what_was_written_is_read_back_bit_for_bit(tmp_path: Path, suffix: str, pcm: np.ndarray) -> None:
    path = tmp_path / f"a{suffix}"
    write_sound(path, pcm, 8000)
    sound = read_sound(path)
    assert np.array_equal(sound.pcm, pcm)
    assert sound.rate_hz == 8000
    assert sound.duration_ms == pytest.approx(100.125)


def test_a_float_file_is_scaled_and_rounded(tmp_path: Path) -> None:
    path = tmp_path / "f.wav"
    soundfile.write(path, np.array([0.5, -1.0, 1.0, 0.6 / 32768]), 16_000, subtype="FLOAT")
    assert read_sound(path).pcm.tolist() == [16384, -32768, 32767, 1]


def test_24_bits_are_rounded_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "w.wav"
    soundfile.write(path, np.array([0.9 / 32768, -0.9 / 32768]), 16_000, subtype="PCM_24")
    assert read_sound(path).pcm.tolist() == [1, -1]


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.wav: cannot be read: No such file"):
        read_sound(tmp_path / "none.wav")


def test_a_file_that_is_no_sound_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "text.wav"
    path.write_text("hello")
    with pytest.raises(ConfigError, match="not a sound file that can be read"):
        read_sound(path)


def test_more_than_two_channels_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "quad.wav"
    soundfile.write(path, np.zeros((10, 4), dtype=np.int16), 8000)
    with pytest.raises(ConfigError, match="expected one or two channels, found 4"):
        read_sound(path)


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"written as \.wav or \.flac"):
        write_sound(tmp_path / "a.mp3", STEREO, 8000)


def test_a_flac_file_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="at least one sample"):
        write_sound(tmp_path / "a.flac", STEREO[:0], 8000)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the always-full device of Linux")
def test_a_full_disk_is_a_disk_error(tmp_path: Path) -> None:
    path = tmp_path / "full.flac"
    path.symlink_to("/dev/full")
    with pytest.raises(DiskError, match="the disk is full"):
        write_sound(path, STEREO, 8000)


def test_a_missing_folder_is_a_disk_error(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="cannot be written: No such file"):
        write_sound(tmp_path / "no" / "a.wav", STEREO, 8000)
