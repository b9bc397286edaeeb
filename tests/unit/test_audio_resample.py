"""Sample rate conversion: level, aliases, length, reuse."""

from __future__ import annotations

import numpy as np
import pytest
import soxr

from callm_voice.audio.pcm import Pcm, level_dbov
from callm_voice.audio.resample import StreamResampler, resample_whole, resampled_length

pytestmark = pytest.mark.unit


def sine(hz: float, rate_hz: int, seconds: float = 1.0, peak: float = 16_000) -> Pcm:
    return (peak * np.sin(2 * np.pi * hz * np.arange(int(rate_hz * seconds)) / rate_hz)).astype(np.int16)


def test_a_tone_keeps_its_level_frequency_and_place() -> None:
    out = resample_whole(sine(1000, 24_000), 24_000, 8000)
    middle = slice(1000, -1000)
    assert np.abs(out[middle].astype(int) - sine(1000, 8000)[middle]).max() <= 2


@pytest.mark.parametrize("in_hz", [16_000, 22_050, 24_000, 48_000])
def test_what_lies_above_the_lower_nyquist_frequency_is_gone(in_hz: int) -> None:
    """4.3 kHz would fold to 3.7 kHz. All that is left is below one step of int16 (-90 dBov) away from the ends."""
    out = resample_whole(sine(4300, in_hz), in_hz, 8000)
    assert level_dbov(out[800:-800]) < -90


def test_speech_band_passes_unchanged_in_level() -> None:
    for hz in (100, 1000, 3400):
        out = resample_whole(sine(hz, 22_050), 22_050, 8000)
        assert level_dbov(out[800:-800]) == pytest.approx(level_dbov(sine(hz, 8000)), abs=0.05)


def test_full_scale_saturates_instead_of_wrapping() -> None:
    square = np.where(sine(200, 16_000) >= 0, 32767, -32768).astype(np.int16)
    out = resample_whole(square, 16_000, 8000).astype(int)
    assert np.abs(np.diff(np.sign(out))).sum() / 2 == pytest.approx(400, abs=2), "a wrapped overshoot changes sign"


def test_a_flushed_resampler_begins_a_new_stream() -> None:
    resampler = StreamResampler(22_050, 8000)
    first = np.concatenate([resampler.process(sine(500, 22_050)), resampler.flush()])
    second = np.concatenate([resampler.process(sine(500, 22_050)), resampler.flush()])
    assert np.array_equal(first, second)


def test_the_same_rate_passes_through_as_a_copy() -> None:
    pcm = sine(500, 8000)
    out = StreamResampler(8000, 8000).process(pcm)
    assert np.array_equal(out, pcm)
    assert not np.shares_memory(out, pcm)


def test_the_output_is_rounded_not_dithered() -> None:
    """soxr's own int16 output is dithered: a third of its samples are one step off."""
    pcm = sine(700, 22_050)
    exact = soxr.resample(pcm / 32768.0, 22_050, 8000, quality="HQ") * 32768
    out = resample_whole(pcm, 22_050, 8000)
    assert np.abs(out - exact)[400:-400].max() < 0.51


def test_the_length_is_rounded_exactly() -> None:
    assert resampled_length(22_050, 22_050, 8000) == 8000
    assert resampled_length(10**12 + 1, 3, 3) == 10**12 + 1
