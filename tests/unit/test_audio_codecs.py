"""Codecs: packet sizes, silence, errors."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.audio.codecs import CODEC_NAMES, make_codec
from callm_voice.core.errors import EngineError, NotFoundError

pytestmark = pytest.mark.unit

NOISE = np.random.default_rng(5).integers(-20_000, 20_000, 160).astype(np.int16)


@pytest.mark.parametrize("name", CODEC_NAMES)
def test_a_codec_says_what_it_is(name: str) -> None:
    codec = make_codec(name, 8000)
    assert (codec.name, codec.rate_hz, codec.delay_samples, codec.frame_samples) == (name, 8000, 0, None)


@pytest.mark.parametrize(("name", "payload_bytes"), [("l16", 320), ("pcmu", 160), ("pcma", 160)])
def test_20_ms_at_8_khz_have_the_payload_size_of_rfc_3551(name: str, payload_bytes: int) -> None:
    assert len(make_codec(name, 8000).encode(NOISE)) == payload_bytes


def test_l16_is_network_byte_order() -> None:
    """RFC 3551 §4.5.11."""
    assert make_codec("l16", 16_000).encode(np.array([1, -2], dtype=np.int16)) == b"\x00\x01\xff\xfe"


def test_l16_changes_nothing() -> None:
    codec = make_codec("l16", 16_000)
    assert np.array_equal(codec.decode(codec.encode(NOISE)), NOISE)


@pytest.mark.parametrize(("name", "code", "heard"), [("pcmu", 0xFF, 0), ("pcma", 0xD5, 8)])
def test_silence_is_the_positive_zero_code(name: str, code: int, heard: int) -> None:
    """ITU-T G.711: µ-law has an output value 0; A-law has none, so an idle A-law channel rests at +8 of 32768."""
    codec = make_codec(name, 8000)
    payload = codec.encode(np.zeros(160, dtype=np.int16))
    assert payload == bytes([code]) * 160
    assert codec.decode(payload).tolist() == [heard] * 160


@pytest.mark.parametrize("name", CODEC_NAMES)
def test_an_empty_packet_does_not_end_the_stream(name: str) -> None:
    codec = make_codec(name, 8000)
    assert codec.encode(NOISE[:0]) == b""
    assert codec.decode(b"").size == 0
    assert codec.decode(codec.encode(NOISE)).size == 160


def test_half_a_sample_of_l16_is_refused() -> None:
    with pytest.raises(EngineError, match="3 bytes is not whole samples"):
        make_codec("l16", 8000).decode(b"abc")


@pytest.mark.parametrize(("name", "rate_hz"), [("opus", 8000), ("pcmu", 16_000)])
def test_an_unknown_codec_or_rate_lists_what_is_known(name: str, rate_hz: int) -> None:
    with pytest.raises(NotFoundError, match=rf"{name}@{rate_hz}.*pcma@8000, pcmu@8000"):
        make_codec(name, rate_hz)
