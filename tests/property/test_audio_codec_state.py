"""Codecs under any sequence of packets: good ones, lost ones, bytes that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callm_voice.audio.codecs import Codec, codec_catalogue, make_codec
from callm_voice.audio.pcm import Pcm, level_dbov

pytestmark = pytest.mark.property

WITH_STATE = [(i.name, rate) for i in codec_catalogue() for rate in i.rates_hz if i.name not in ("l16", "pcmu", "pcma")]
WITHOUT = [("l16", 8000), ("l16", 16_000), ("pcmu", 8000), ("pcma", 8000)]
seeds = st.integers(0, 2**32 - 1)
whats = st.lists(st.sampled_from(["speech", "silence", "full scale", "lost", "garbage", "truncated"]), max_size=12)


def frame_of(what: str, rng: np.random.Generator, samples: int) -> Pcm:
    if what == "silence":
        return np.zeros(samples, np.int16)
    if what == "full scale":
        return rng.choice(np.array([-32768, 32767], np.int16), samples)
    pitch = np.sin(2 * np.pi * rng.uniform(100, 300) * np.arange(samples) / 8000)
    return (pitch * rng.uniform(500, 12_000) + rng.standard_normal(samples) * 300).astype(np.int16)


def run(codec: Codec, whats: list[str], seed: int) -> list[Pcm | None]:
    """What is heard of each packet."""
    rng = np.random.default_rng(seed)
    heard: list[Pcm | None] = []
    for what in whats:
        payload = codec.encode(frame_of(what, rng, codec.rate_hz // 50))
        if what == "garbage":
            payload = rng.bytes(int(rng.integers(0, 300)))
        elif what == "truncated":
            payload = payload[: int(rng.integers(0, len(payload)))]
        heard.append(codec.conceal() if what == "lost" else codec.decode(payload))
    return heard


@pytest.mark.parametrize(("name", "rate_hz"), WITH_STATE)
@settings(max_examples=15, deadline=None)
@given(seeds, whats)
def test_whatever_comes_each_packet_is_one_frame(name: str, rate_hz: int, seed: int, whats: list[str]) -> None:
    codec = make_codec(name, rate_hz)
    for what, frame in zip(whats, run(codec, whats, seed), strict=True):
        assert (frame is None) == (what == "lost" and codec.conceal() is None)
        if frame is not None:
            assert (frame.shape, frame.dtype) == ((rate_hz // 50,), np.int16)


@pytest.mark.parametrize(("name", "rate_hz"), WITH_STATE)
@settings(max_examples=10, deadline=None)
@given(seeds, whats)
def test_the_same_packets_give_the_same_sound(name: str, rate_hz: int, seed: int, whats: list[str]) -> None:
    once, again = (run(make_codec(name, rate_hz), whats, seed) for _ in range(2))
    assert [None if f is None else f.tolist() for f in once] == [None if f is None else f.tolist() for f in again]


@pytest.mark.parametrize(("name", "rate_hz"), WITH_STATE)
@settings(max_examples=10, deadline=None)
@given(seeds, whats)
def test_a_second_of_good_packets_heals_whatever_was_before(
    name: str, rate_hz: int, seed: int, whats: list[str]
) -> None:
    """ADPCM states forget, CELP filters decay: then a tone sounds at its level again."""
    codec = make_codec(name, rate_hz)
    run(codec, whats, seed)
    t = np.arange(rate_hz) / rate_hz
    tone = (8000 * np.sin(2 * np.pi * 440 * t)).astype(np.int16).reshape(50, -1)
    heard = np.concatenate([codec.decode(codec.encode(frame)) for frame in tone])[rate_hz // 2 :]
    assert level_dbov(heard) == pytest.approx(level_dbov(tone), abs=3.0)


@pytest.mark.parametrize(("name", "rate_hz"), WITHOUT)
@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=700))
def test_a_codec_without_state_decodes_any_bytes_to_whole_samples(name: str, rate_hz: int, payload: bytes) -> None:
    width = 2 if name == "l16" else 1
    assert make_codec(name, rate_hz).decode(payload).size == len(payload) // width


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["pcmu", "pcma"]), st.binary(max_size=400))
def test_g711_codes_survive_decoding_and_encoding(name: str, payload: bytes) -> None:
    """But for the negative zero of the µ-law, which int16 does not have."""
    codec = make_codec(name, 8000)
    expected = payload.replace(b"\x7f", b"\xff") if name == "pcmu" else payload
    assert codec.encode(codec.decode(payload)) == expected
