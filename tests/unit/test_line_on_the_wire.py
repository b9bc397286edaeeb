"""What the probes read off a recording that went through delay, losses and noise."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.audio.pcm import Pcm, split_frames
from callm_voice.line.channel import Channel
from callm_voice.line.profile import load_profile
from callm_voice.probes.wire import Wire

pytestmark = pytest.mark.unit

START_MS, END_MS = 1013, 1677


def heard(name: str, *, seed: int = 1) -> tuple[Pcm, Channel]:
    """A tone burst in three seconds, as the agent hears it."""
    profile = load_profile(name)
    per_ms = profile.rate_hz // 1000
    sent = np.zeros(3000 * per_ms, np.int16)
    time_s = np.arange((END_MS - START_MS) * per_ms) / profile.rate_hz
    sent[START_MS * per_ms : END_MS * per_ms] = 6000 * np.cos(2 * np.pi * 1000 * time_s)
    channel = Channel(profile, seed)
    return np.concatenate([channel.process(frame) for frame in split_frames(sent, profile.frame_samples)]), channel


def lossless_seed(name: str) -> int:
    """A seed whose losses spare the burst's packets."""
    for seed in range(200):
        bursts = (pcm_channel := heard(name, seed=seed))[1].finished_bursts(end=True)
        if not any(b.first_tick * 20 < END_MS + 200 and (b.first_tick + b.packets) * 20 > START_MS for b in bursts):
            assert pcm_channel[0].any()
            return seed
    raise AssertionError("every seed loses some")


@pytest.mark.parametrize("name", ["mobile-amr-12k2", "hd-g722", "tandem-mobile-pstn"])
def test_a_sound_is_found_where_the_delay_of_the_codec_puts_it(name: str) -> None:
    pcm, channel = heard(name)
    (segment,) = Wire(pcm, channel.profile.rate_hz).segments
    assert segment.start_ms == pytest.approx(START_MS + channel.delay_ms, abs=8)
    assert END_MS - 5 <= segment.end_ms <= END_MS + channel.delay_ms + 40


def test_a_fixed_jitter_buffer_delays_by_its_depth() -> None:
    pcm, channel = heard("loss-bad", seed=lossless_seed("loss-bad"))
    (segment,) = Wire(pcm, 8000).segments
    assert channel.delay_ms == pytest.approx(60.2, abs=0.1)
    assert segment.start_ms == pytest.approx(START_MS + channel.delay_ms, abs=1)


def test_in_street_noise_the_sound_is_still_one_segment_near_its_place() -> None:
    pcm, channel = heard("noise-street-20")
    found = [s for s in Wire(pcm, 8000).segments if s.end_ms > START_MS and s.start_ms < END_MS]
    assert len(found) == 1
    assert found[0].start_ms == pytest.approx(START_MS + channel.delay_ms, abs=30)
    assert found[0].end_ms == pytest.approx(END_MS, abs=60)
