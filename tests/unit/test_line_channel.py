"""One direction of the line: what each shipped profile does to sound."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.audio.pcm import Pcm, level_dbov
from callm_voice.line.channel import Channel
from callm_voice.line.profile import LineProfile, load_profile

pytestmark = pytest.mark.unit

PROFILES = ["clean-16k", "pstn-g711u", "pstn-g711a"]


def noise(samples: int, peak: int = 8000) -> Pcm:
    return np.random.default_rng(3).integers(-peak, peak, samples).astype(np.int16)


@pytest.mark.parametrize("name", PROFILES)
def test_a_packet_keeps_its_length_type_and_is_a_new_array(name: str) -> None:
    profile = load_profile(name)
    frame = noise(profile.frame_samples)
    out = Channel(profile).process(frame)
    assert (out.shape, out.dtype) == (frame.shape, np.int16)
    assert not np.shares_memory(out, frame)


def test_the_clean_line_changes_nothing() -> None:
    frame = noise(320, peak=32768)
    assert np.array_equal(Channel(load_profile("clean-16k")).process(frame), frame)


@pytest.mark.parametrize(("name", "idle"), [("clean-16k", 0), ("pstn-g711u", 0), ("pstn-g711a", 8)])
def test_silence_comes_out_as_the_idle_value(name: str, idle: int) -> None:
    profile = load_profile(name)
    out = Channel(profile).process(np.zeros(profile.frame_samples, dtype=np.int16))
    assert set(out.tolist()) == {idle}


@pytest.mark.parametrize("name", ["pstn-g711u", "pstn-g711a"])
def test_a_speech_level_tone_keeps_at_least_33_db_of_signal_to_distortion(name: str) -> None:
    """ITU-T G.712 asks for 33 dB of signal to total distortion between -30 and 0 dBm0 (about -36 and -6 dBov)."""
    peak = 32768 * 10 ** (-20 / 20)
    tone = (peak * np.sin(2 * np.pi * 1020 * np.arange(8000) / 8000)).astype(np.int16)
    out = Channel(load_profile(name)).process(tone)[800:].astype(float)
    t = 2 * np.pi * 1020 * np.arange(800, 8000) / 8000
    basis = np.stack([np.sin(t), np.cos(t)], axis=1)
    fitted = basis @ np.linalg.lstsq(basis, out, rcond=None)[0]
    assert 10 * np.log10(np.mean(fitted**2) / np.mean((out - fitted) ** 2)) > 33


@pytest.mark.parametrize(("name", "low_ms", "high_ms"), [("clean-16k", 0, 0), ("pstn-g711u", 0.1, 0.3)])
def test_the_delay_is_that_of_the_band_at_1_khz(name: str, low_ms: float, high_ms: float) -> None:
    assert low_ms <= Channel(load_profile(name)).delay_ms <= high_ms


def test_gain_changes_the_level() -> None:
    quiet = LineProfile(id="q", title="q", rate_hz=16_000, codec="l16", band_hz=None, gain_db=-10)
    frame = noise(3200)
    assert level_dbov(Channel(quiet).process(frame)) == pytest.approx(level_dbov(frame) - 10, abs=0.02)


def test_two_channels_with_one_seed_give_the_same_bits() -> None:
    profile = load_profile("pstn-g711u")
    frames = noise(1600).reshape(10, 160)
    first, second = ([Channel(profile, seed=4).process(f).tolist() for f in frames] for _ in range(2))
    assert first == second
