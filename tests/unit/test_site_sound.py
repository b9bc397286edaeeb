"""Waveform peaks and one file a channel."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
import soundfile

from callm_voice.audio.files import read_sound, write_sound
from callm_voice.report.site.sound import BUCKETS, peaks_of, split_sound

pytestmark = pytest.mark.unit
RATE_HZ = 8000


def decoded(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=np.uint8)


def test_a_sound_is_seen_in_its_own_bucket_and_channel() -> None:
    pcm = np.zeros((RATE_HZ * 10, 2), dtype=np.int16)
    pcm[RATE_HZ * 4, 1] = -32768
    peaks = peaks_of(pcm, RATE_HZ)
    left, right = (decoded(channel) for channel in peaks.channels)
    assert not left.any()
    assert np.flatnonzero(right).tolist() == [int(4000 / peaks.bucket_ms)]
    assert right.max() == 255


@pytest.mark.parametrize("seconds", [0.01, 1, 60, 3600])
def test_there_are_never_more_buckets_than_a_page_can_carry(seconds: float) -> None:
    pcm = np.ones((int(RATE_HZ * seconds), 2), dtype=np.int16)
    peaks = peaks_of(pcm, RATE_HZ)
    count = decoded(peaks.channels[0]).size
    assert 1 <= count <= BUCKETS
    assert count * peaks.bucket_ms >= peaks.duration_ms


def test_no_sound_has_no_peaks() -> None:
    assert peaks_of(np.zeros((0, 2), dtype=np.int16), RATE_HZ).channels == ("", "")


def test_flac_files_hold_the_samples_of_their_channel(tmp_path: Path) -> None:
    pcm = np.random.default_rng(1).integers(-20000, 20000, (RATE_HZ, 2)).astype(np.int16)
    write_sound(tmp_path / "call.flac", pcm, RATE_HZ)
    _, names = split_sound(tmp_path / "call.flac", tmp_path / "out", "flac")
    assert names == ["caller.flac", "agent.flac"]
    for number, name in enumerate(names):
        assert np.array_equal(read_sound(tmp_path / "out" / name).pcm, pcm[:, number])


def test_opus_files_are_of_the_same_length_to_a_packet(tmp_path: Path) -> None:
    at = np.arange(RATE_HZ * 3)
    tone = (8000 * np.sin(2 * np.pi * 300 * at / RATE_HZ)).astype(np.int16)
    write_sound(tmp_path / "call.flac", np.stack([tone, tone], axis=1), RATE_HZ)
    _, names = split_sound(tmp_path / "call.flac", tmp_path / "out", "opus")
    for name in names:
        info = soundfile.info(tmp_path / "out" / name)
        assert info.format == "OGG"
        assert info.frames / info.samplerate == pytest.approx(3.0, abs=0.03)


def test_without_sound_only_the_waveform_is_made(tmp_path: Path) -> None:
    write_sound(tmp_path / "call.flac", np.ones((RATE_HZ, 2), dtype=np.int16), RATE_HZ)
    peaks, names = split_sound(tmp_path / "call.flac", tmp_path / "out", "none")
    assert names == []
    assert peaks.duration_ms == 1000
    assert not (tmp_path / "out").exists()
