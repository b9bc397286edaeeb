"""Any split of the input gives the same output: resampler, framer, codecs, band filter, whole channel."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callm_voice.audio.codecs import make_codec
from callm_voice.audio.pcm import Framer, Pcm, split_frames
from callm_voice.audio.resample import StreamResampler, resample_whole, resampled_length
from callm_voice.line.band import BandFilter
from callm_voice.line.channel import Channel
from callm_voice.line.profile import LineProfile

pytestmark = pytest.mark.property

RATES_HZ = [8000, 16_000, 22_050, 24_000, 44_100, 48_000]
sizes = st.lists(st.integers(0, 700), min_size=0, max_size=12)
seeds = st.integers(0, 2**32 - 1)


def sound(seed: int, samples: int) -> Pcm:
    """Noise in bursts between stretches of exact silence, some of it at full scale."""
    rng = np.random.default_rng(seed)
    loud = rng.integers(0, 3, samples // 200 + 1).repeat(200)[:samples] / 2
    return (rng.integers(-32768, 32768, samples) * loud).astype(np.int16)


def chunks(pcm: Pcm, lengths: list[int]) -> list[Pcm]:
    """`pcm` cut where `lengths` says."""
    ends = np.cumsum([0, *lengths])
    return [pcm[a:b] for a, b in pairwise(ends)]


def joined(parts: list[Pcm]) -> Pcm:
    return np.concatenate([np.zeros(0, dtype=np.int16), *parts])


@settings(max_examples=60, deadline=None)
@given(seeds, sizes, st.sampled_from(RATES_HZ), st.sampled_from(RATES_HZ))
def test_a_resampler_gives_the_same_samples_and_the_exact_length(
    seed: int, lengths: list[int], in_hz: int, out_hz: int
) -> None:
    pcm = sound(seed, sum(lengths))
    resampler = StreamResampler(in_hz, out_hz)
    parts = [resampler.process(c) for c in chunks(pcm, lengths)]
    out = joined([*parts, resampler.flush()])
    assert len(out) == resampled_length(len(pcm), in_hz, out_hz) == round(len(pcm) * out_hz / in_hz)
    assert np.array_equal(out, resample_whole(pcm, in_hz, out_hz))


@settings(max_examples=60, deadline=None)
@given(seeds, sizes, st.integers(1, 400))
def test_a_framer_gives_the_frames_of_the_whole(seed: int, lengths: list[int], frame_samples: int) -> None:
    pcm = sound(seed, sum(lengths))
    framer = Framer(frame_samples)
    frames = [f for c in chunks(pcm, lengths) for f in framer.push(c)]
    last = framer.flush()
    frames += [] if last is None else [last]
    assert [f.tolist() for f in frames] == split_frames(pcm, frame_samples).tolist()


def l16() -> Callable[[Pcm], Pcm]:
    codec = make_codec("l16", 8000)
    return lambda pcm: codec.decode(codec.encode(pcm))


def pcmu() -> Callable[[Pcm], Pcm]:
    codec = make_codec("pcmu", 8000)
    return lambda pcm: codec.decode(codec.encode(pcm))


def pcma() -> Callable[[Pcm], Pcm]:
    codec = make_codec("pcma", 8000)
    return lambda pcm: codec.decode(codec.encode(pcm))


def band() -> Callable[[Pcm], Pcm]:
    return BandFilter(300, 3400, 8000).process


def channel() -> Callable[[Pcm], Pcm]:
    profile = LineProfile(id="x", title="x", rate_hz=8000, codec="pcma", band_hz=(300, 3400), gain_db=6)
    return Channel(profile, seed=1).process


@pytest.mark.parametrize("make", [l16, pcmu, pcma, band, channel])
@settings(max_examples=40, deadline=None)
@given(seeds, sizes)
def test_packet_borders_leave_no_trace(make: Callable[[], Callable[[Pcm], Pcm]], seed: int, lengths: list[int]) -> None:
    pcm = sound(seed, sum(lengths))
    piecewise, whole = make(), make()
    assert np.array_equal(joined([piecewise(c) for c in chunks(pcm, lengths)]), whole(pcm))


@settings(max_examples=20, deadline=None)
@given(seeds, st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_a_band_filter_that_rested_gives_the_same_samples_as_one_that_did_not(seed: int, gaps: list[int]) -> None:
    """Packets of silence, long enough to come to rest, against one pass over everything."""
    packets = [p for gap in gaps for p in [*split_frames(sound(seed, 320), 160), *np.zeros((gap, 160), np.int16)]]
    piecewise, whole = band(), band()
    assert np.array_equal(joined([piecewise(p) for p in packets]), whole(joined(packets)))
