"""The recording: which side is which, exact length, and the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from callm_voice.audio.files import read_sound
from callm_voice.core.errors import DiskError, HarnessError
from callm_voice.line.recorder import Recorder

pytestmark = pytest.mark.unit


def filled(ticks: int, rate_hz: int = 8000) -> Recorder:
    """Left counts ticks up from 0, right down from -1."""
    recorder = Recorder(rate_hz)
    for n in range(ticks):
        frame = np.full(recorder.frame_samples, n % 30_000, dtype=np.int16)
        recorder.add(frame, ~frame)
    return recorder


@pytest.mark.parametrize("rate_hz", [8000, 16_000])
def test_each_channel_has_exactly_one_packet_a_tick(rate_hz: int) -> None:
    recorder = filled(7, rate_hz)
    left, right = recorder.channels()
    assert len(left) == len(right) == 7 * rate_hz // 50
    assert (recorder.ticks, recorder.duration_ms) == (7, 140)


def test_packets_lie_in_the_order_of_the_ticks_left_and_right() -> None:
    left, right = filled(5).channels()
    assert left[::160].tolist() == [0, 1, 2, 3, 4]
    assert right[::160].tolist() == [-1, -2, -3, -4, -5]


def test_more_than_the_room_made_at_first_is_kept() -> None:
    left, _ = filled(7000).channels()
    assert np.array_equal(left[::160], np.arange(7000))


def test_packets_are_copied() -> None:
    recorder = Recorder(8000)
    frame = np.ones(160, dtype=np.int16)
    recorder.add(frame, frame)
    frame[:] = 9
    assert set(recorder.channels()[0].tolist()) == {1}


def test_the_file_is_flac_with_both_channels_bit_for_bit(tmp_path: Path) -> None:
    recorder = filled(9)
    recorder.write(tmp_path / "call.flac")
    sound = read_sound(tmp_path / "call.flac")
    assert sound.rate_hz == 8000
    assert np.array_equal(sound.pcm, np.stack(recorder.channels(), axis=1))


def test_a_line_that_never_ticked_has_no_file(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="never ticked"):
        Recorder(8000).write(tmp_path / "call.flac")
    assert not (tmp_path / "call.flac").exists()


def test_an_unwritable_path_is_a_disk_error(tmp_path: Path) -> None:
    with pytest.raises(DiskError):
        filled(1).write(tmp_path / "no" / "call.flac")
