"""One direction of the line: what each shipped profile does to sound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal
from support.line_sounds import phrase

from callm_voice.audio.codecs import make_codec
from callm_voice.audio.pcm import Pcm, level_dbov, split_frames
from callm_voice.core.errors import HarnessError
from callm_voice.core.events import Direction
from callm_voice.line.channel import Channel, ChannelStream
from callm_voice.line.profile import LineProfile, all_profiles, load_profile

pytestmark = pytest.mark.unit

PROFILES = ["clean-16k", "pstn-g711u", "pstn-g711a"]
EVERY = [profile.id for profile in all_profiles()]


def noise(samples: int, peak: int = 8000) -> Pcm:
    return np.random.default_rng(3).integers(-peak, peak, samples).astype(np.int16)


@pytest.mark.parametrize("name", EVERY)
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


def through(name: str, pcm: Pcm, seed: int = 1, direction: Direction = "to_agent") -> tuple[Pcm, Channel]:
    channel = Channel(load_profile(name), seed, direction)
    frames = split_frames(pcm, channel.profile.frame_samples)
    return np.concatenate([channel.process(frame) for frame in frames]), channel


@pytest.mark.parametrize("name", EVERY)
def test_the_same_seed_gives_the_same_sound_and_counts(name: str) -> None:
    pcm = phrase(load_profile(name).rate_hz, 2.0)
    (first, one), (second, two) = through(name, pcm), through(name, pcm)
    assert np.array_equal(first, second)
    assert one.packet_counts == two.packet_counts


@pytest.mark.parametrize("name", [p.id for p in all_profiles() if p.network or p.microphone])
def test_another_seed_and_the_other_direction_draw_anew(name: str) -> None:
    pcm = phrase(8000, 3.0)
    first = through(name, pcm)[0]
    assert not np.array_equal(first, through(name, pcm, seed=2)[0])
    assert not np.array_equal(first, through(name, pcm, direction="to_caller")[0])


@pytest.mark.parametrize("name", EVERY)
def test_no_profile_clips(name: str) -> None:
    """Speech whose highest sample is at -3 dBov, as the voices give it; worst draw of the gain error included."""
    pcm = phrase(load_profile(name).rate_hz, 3.0).astype(float)
    loud = (pcm * 32768 * 10 ** (-3 / 20) / np.abs(pcm).max()).astype(np.int16)
    out = through(name, loud)[0]
    assert np.abs(out.astype(int)).max() < 32_767


def test_the_agents_voice_has_no_microphone_and_no_noise() -> None:
    pcm = phrase(8000, 1.0)
    plain, noisy = (through(name, pcm, direction="to_caller")[0] for name in ("pstn-g711u", "noise-cafe-5"))
    assert np.array_equal(plain, noisy)


def test_the_way_back_has_the_codecs_in_reverse() -> None:
    """The last decoder on the way shows: A-law idles at 8, µ-law at 0."""
    two = {"id": "x", "title": "x", "rate_hz": 8000, "codec": "pcmu", "tandem": [{"codec": "pcma"}], "band_hz": None}
    profile, silence = LineProfile.model_validate(two), np.zeros(160, np.int16)
    assert set(Channel(profile, 1, "to_agent").process(silence).tolist()) == {8}
    assert set(Channel(profile, 1, "to_caller").process(silence).tolist()) <= {0, 8}
    once = np.arange(-8000, 8000, 100, dtype=np.int16)
    back = Channel(profile, 1, "to_caller").process(once)
    assert np.array_equal(make_codec("pcmu", 8000).decode(make_codec("pcmu", 8000).encode(back)), back)


@pytest.mark.parametrize("name", ["mobile-amr-12k2", "loss-bad", "noise-car-10"])
def test_a_line_of_packets_takes_packets_only(name: str) -> None:
    with pytest.raises(HarnessError, match="160 samples, not 80"):
        Channel(load_profile(name)).process(np.zeros(80, np.int16))


@pytest.mark.parametrize("name", EVERY)
def test_sound_comes_out_as_much_later_as_the_delay_says(name: str) -> None:
    """Cross-correlation of what went in and came out, without noise, losses and room."""
    profile = load_profile(name)
    updates: dict[str, object] = {"microphone": None}
    if profile.network is not None:
        updates["network"] = profile.network.model_copy(update={"loss": None, "jitter": None, "spikes": None})
    pcm = phrase(profile.rate_hz, 2.0, seed=4)
    channel = Channel(profile.model_copy(update=updates), 1)
    out = np.concatenate([channel.process(f) for f in split_frames(pcm, profile.frame_samples)]).astype(float)
    likeness = signal.correlate(out, pcm.astype(float), mode="full", method="fft")
    found_ms = 1000 * (int(np.argmax(likeness)) - (pcm.size - 1)) / profile.rate_hz
    assert found_ms == pytest.approx(channel.delay_ms, abs=1.0)


def test_a_stream_gives_all_that_went_in_and_the_delay_behind_it() -> None:
    pcm = phrase(8000, 1.0)
    stream = ChannelStream(Channel(load_profile("loss-bad")))
    out = np.concatenate([stream.push(pcm), stream.flush()])
    assert out.size == -(-pcm.size // 160) * 160 + 4 * 160, "60 ms of buffer and the band's fraction of a millisecond"
