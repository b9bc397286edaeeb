"""The wire truth on what really comes out of the lines that ship: band filter and codec included."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.line.channel import Channel
from callm_voice.line.profile import load_profile
from callm_voice.probes.wire import speech_segments

pytestmark = pytest.mark.unit

START_MS, END_MS = 1013, 1677
"""Not on a packet's edge."""


@pytest.mark.parametrize(("profile_name", "ringing_ms"), [("clean-16k", 0), ("pstn-g711u", 6), ("pstn-g711a", 6)])
def test_a_tone_through_the_line_begins_where_it_began_and_ends_with_the_filter(
    profile_name: str, ringing_ms: float
) -> None:
    """A 300 Hz high-pass rings for some milliseconds after an abrupt end; that sound is really there."""
    profile = load_profile(profile_name)
    per_ms = profile.rate_hz // 1000
    sent = np.zeros(3000 * per_ms, np.int16)
    time_s = np.arange((END_MS - START_MS) * per_ms) / profile.rate_hz
    sent[START_MS * per_ms : END_MS * per_ms] = 3000 * np.cos(2 * np.pi * 1000 * time_s)
    channel, size = Channel(profile), profile.frame_samples
    heard = np.concatenate([channel.process(sent[i : i + size]) for i in range(0, len(sent), size)])
    (segment,) = speech_segments(heard, profile.rate_hz)
    assert segment.start_ms == pytest.approx(START_MS + channel.delay_ms, abs=0.5)
    assert END_MS <= segment.end_ms <= END_MS + ringing_ms
