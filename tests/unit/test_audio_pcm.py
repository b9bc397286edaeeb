"""Levels, conversions and framing of PCM."""

from __future__ import annotations

import math

import numpy as np
import pytest

from callm_voice.audio.pcm import (
    Framer,
    apply_gain,
    level_dbfs,
    level_dbov,
    peak_dbov,
    split_frames,
    to_float,
    to_int16,
)

pytestmark = pytest.mark.unit

SINE = (32767 * np.sin(2 * np.pi * 1000 * np.arange(8000) / 8000)).astype(np.int16)


def test_every_int16_survives_the_way_to_float_and_back() -> None:
    every = np.arange(-32768, 32768).astype(np.int16)
    assert np.array_equal(to_int16(to_float(every)), every)


def test_floats_outside_full_scale_saturate_instead_of_wrapping() -> None:
    assert to_int16(np.array([1.5, 1.0, -1.5])).tolist() == [32767, 32767, -32768]


def test_a_full_scale_square_wave_has_0_dbov() -> None:
    """ITU-T G.100.1."""
    square = np.array([-32768, 32767] * 100, dtype=np.int16)
    assert level_dbov(square) == pytest.approx(0, abs=0.001)


def test_a_full_scale_sine_has_minus_3_01_dbov_and_0_dbfs() -> None:
    """ITU-T G.100.1 against AES17."""
    assert level_dbov(SINE) == pytest.approx(-3.01, abs=0.005)
    assert level_dbfs(SINE) == pytest.approx(0, abs=0.005)


@pytest.mark.parametrize("measure", [level_dbov, level_dbfs, peak_dbov])
def test_silence_and_nothing_have_no_level(measure) -> None:  # type: ignore[no-untyped-def]
    assert measure(np.zeros(160, dtype=np.int16)) == -math.inf
    assert measure(np.zeros(0, dtype=np.int16)) == -math.inf


def test_the_peak_of_the_most_negative_sample_is_0_dbov() -> None:
    assert peak_dbov(np.array([0, -32768, 5], dtype=np.int16)) == 0


def test_gain_moves_the_level_by_its_db() -> None:
    assert level_dbov(apply_gain(SINE, -12.0)) == pytest.approx(level_dbov(SINE) - 12, abs=0.01)


def test_the_last_frame_is_padded_with_silence() -> None:
    frames = split_frames(np.arange(1, 8, dtype=np.int16), 3)
    assert frames.tolist() == [[1, 2, 3], [4, 5, 6], [7, 0, 0]]


def test_no_samples_are_no_frames() -> None:
    assert split_frames(np.zeros(0, dtype=np.int16), 160).shape == (0, 160)


def test_a_framer_gives_frames_as_they_complete_and_the_rest_on_flush() -> None:
    framer = Framer(3)
    given = [f.tolist() for chunk in ([1], [2, 3, 4], [], [5, 6, 7]) for f in framer.push(np.array(chunk, np.int16))]
    last = framer.flush()
    assert given == [[1, 2, 3], [4, 5, 6]]
    assert last is not None
    assert last.tolist() == [7, 0, 0]
    assert framer.flush() is None
