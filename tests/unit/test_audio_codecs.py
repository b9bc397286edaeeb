"""Codecs: packet sizes, delay, state, silence, bytes that are no payload, errors."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.audio_speech import best_lag, speech_like

from callm_voice.audio.codecs import CODEC_NAMES, Codec, CodecInfo, codec_catalogue, make_codec
from callm_voice.audio.pcm import Pcm, level_dbov, split_frames
from callm_voice.core.errors import EngineError, NotFoundError

pytestmark = pytest.mark.unit

NOISE = np.random.default_rng(5).integers(-20_000, 20_000, 160).astype(np.int16)
EVERY_MODE = [
    pytest.param(info, rate_hz, mode, id="-".join(filter(None, (info.name, str(rate_hz), mode))))
    for info in codec_catalogue()
    for rate_hz in info.rates_hz
    for mode in info.modes or (None,)
]
EVERY_CODEC = [pytest.param(i, rate, id=f"{i.name}-{rate}") for i in codec_catalogue() for rate in i.rates_hz]
STATELESS = ["l16", "pcmu", "pcma"]
PHASE_SAMPLES = {"amr": 1, "opus": 1}
"""How far the best lag may lie from the stated delay: these two shift phases as well."""


def packets(pcm: Pcm, rate_hz: int) -> list[Pcm]:
    return list(split_frames(pcm, rate_hz // 50))


@cache
def sentence(name: str, rate_hz: int, mode: str | None) -> tuple[Pcm, list[bytes], list[Pcm]]:
    """Two seconds of speech-like sound through a fresh codec: what went in, the payloads, the frames that came out."""
    codec = make_codec(name, rate_hz, mode=mode)
    said = speech_like(rate_hz, 2.0)
    payloads = [codec.encode(frame) for frame in packets(said, rate_hz)]
    return said, payloads, [codec.decode(payload) for payload in payloads]


def through(codec: Codec, frames: list[Pcm]) -> Pcm:
    return np.concatenate([codec.decode(codec.encode(frame)) for frame in frames])


@pytest.mark.parametrize(("info", "rate_hz", "mode"), EVERY_MODE)
def test_a_codec_says_what_it_is(info: CodecInfo, rate_hz: int, mode: str | None) -> None:
    codec = make_codec(info.name, rate_hz, mode=mode)
    assert (codec.name, codec.rate_hz, codec.mode) == (info.name, rate_hz, mode)
    assert codec.frame_samples == (None if info.name in STATELESS else rate_hz // 50)


@pytest.mark.parametrize("name", CODEC_NAMES)
def test_no_mode_is_the_catalogues_default(name: str) -> None:
    info = next(i for i in codec_catalogue() if i.name == name)
    assert info.default_mode is None if not info.modes else info.default_mode in info.modes
    assert make_codec(name, info.rates_hz[0]).mode == info.default_mode


@pytest.mark.parametrize(("info", "rate_hz", "mode"), EVERY_MODE)
def test_a_packet_has_the_size_of_the_catalogue(info: CodecInfo, rate_hz: int, mode: str | None) -> None:
    sizes = [len(payload) for payload in sentence(info.name, rate_hz, mode)[1]]
    if info.payload_bytes:
        at = info.modes.index(mode) if mode else info.rates_hz.index(rate_hz)
        assert set(sizes) == {info.payload_bytes[at]}
    else:
        assert 1 < min(sizes) < max(sizes) < 120


def test_opus_spends_more_where_it_is_told_to() -> None:
    info = next(i for i in codec_catalogue() if i.name == "opus")
    spent = [sum(map(len, sentence("opus", 16_000, mode)[1])) for mode in info.modes]
    assert all(less < more for less, more in pairwise(spent))


@pytest.mark.parametrize(("info", "rate_hz", "mode"), EVERY_MODE)
def test_the_decoder_is_late_by_the_stated_delay(info: CodecInfo, rate_hz: int, mode: str | None) -> None:
    """Cross-correlation over two seconds of speech-like sound."""
    said, _, heard = sentence(info.name, rate_hz, mode)
    lag = best_lag(said, np.concatenate(heard), longest=rate_hz // 25)
    stated = make_codec(info.name, rate_hz, mode=mode).delay_samples
    assert abs(lag - stated) <= PHASE_SAMPLES.get(info.name, 0)


@pytest.mark.parametrize(("info", "rate_hz", "mode"), EVERY_MODE)
def test_one_packet_in_is_one_frame_out(info: CodecInfo, rate_hz: int, mode: str | None) -> None:
    heard = sentence(info.name, rate_hz, mode)[2]
    assert {(frame.shape, frame.dtype) for frame in heard} == {((rate_hz // 50,), np.dtype(np.int16))}


@pytest.mark.parametrize(("info", "rate_hz", "mode"), EVERY_MODE)
def test_speech_keeps_its_level(info: CodecInfo, rate_hz: int, mode: str | None) -> None:
    said, _, heard = sentence(info.name, rate_hz, mode)
    assert level_dbov(np.concatenate(heard)) == pytest.approx(level_dbov(said), abs=1.5)


@pytest.mark.parametrize(("info", "rate_hz", "mode"), EVERY_MODE)
def test_silence_stays_near_silence(info: CodecInfo, rate_hz: int, mode: str | None) -> None:
    heard = through(make_codec(info.name, rate_hz, mode=mode), [np.zeros(rate_hz // 50, np.int16)] * 50)
    assert np.max(np.abs(heard.astype(int))) <= 16


@pytest.mark.parametrize(("info", "rate_hz"), EVERY_CODEC)
def test_silence_after_speech_comes_back_to_silence(info: CodecInfo, rate_hz: int) -> None:
    codec = make_codec(info.name, rate_hz)
    through(codec, packets(speech_like(rate_hz, 1.0), rate_hz))
    heard = through(codec, [np.zeros(rate_hz // 50, np.int16)] * 50)[-rate_hz // 5 :]
    assert np.max(np.abs(heard.astype(int))) <= 16


@pytest.mark.parametrize("name", [n for n in CODEC_NAMES if n not in STATELESS])
def test_the_state_goes_from_packet_to_packet(name: str) -> None:
    """A decoder that starts in the middle of the stream hears something else than one that was there all the time."""
    rate_hz = next(i.rates_hz[0] for i in codec_catalogue() if i.name == name)
    codec, newcomer = make_codec(name, rate_hz), make_codec(name, rate_hz)
    payloads = [codec.encode(frame) for frame in packets(speech_like(rate_hz, 0.4), rate_hz)]
    heard = [codec.decode(payload) for payload in payloads]
    assert not np.array_equal(newcomer.decode(payloads[-1]), heard[-1])


def test_two_codecs_share_no_state() -> None:
    frames = packets(speech_like(8000, 0.5), 8000)
    alone = through(make_codec("amr", 8000), frames)
    one, other = make_codec("amr", 8000), make_codec("amr", 8000)
    beside = [(one.decode(one.encode(f)), other.decode(other.encode(f[::-1].copy())))[0] for f in frames]
    assert np.array_equal(np.concatenate(beside), alone)


@pytest.mark.parametrize(("info", "rate_hz"), [p for p in EVERY_CODEC if p.values[0].name not in STATELESS])
@pytest.mark.parametrize("payload", [b"", b"\x00", b"\xff", b"\xd0", b"abc", bytes(33), b"\xff" * 33, bytes(500)])
def test_bytes_that_are_no_payload_are_heard_as_a_lost_packet(info: CodecInfo, rate_hz: int, payload: bytes) -> None:
    codec = make_codec(info.name, rate_hz)
    frames = packets(speech_like(rate_hz, 0.5), rate_hz)
    through(codec, frames)
    heard = codec.decode(payload)
    assert (heard.shape, heard.dtype) == ((rate_hz // 50,), np.int16)
    assert level_dbov(through(codec, frames)[rate_hz // 10 :]) > -40  # and the codec goes on


@pytest.mark.parametrize(("info", "rate_hz"), EVERY_CODEC)
def test_a_codec_conceals_only_if_the_catalogue_says_so(info: CodecInfo, rate_hz: int) -> None:
    codec = make_codec(info.name, rate_hz)
    lost = codec.conceal()
    assert (lost is not None) == info.conceals
    if lost is not None:
        assert np.max(np.abs(lost.astype(int))) <= 16  # nothing was heard yet


@pytest.mark.parametrize(("info", "rate_hz"), [p for p in EVERY_CODEC if p.values[0].conceals])
def test_concealment_goes_on_with_the_sound_and_dies_away(info: CodecInfo, rate_hz: int) -> None:
    """A vowel breaks off: the first lost packet is still loud, half a second later there is nothing."""
    codec = make_codec(info.name, rate_hz)
    t = np.arange(rate_hz // 2) / rate_hz
    vowel = sum(6000 / k * np.sin(2 * np.pi * 140 * k * t) for k in range(1, 8)).astype(np.int16)
    heard = through(codec, packets(vowel, rate_hz))[-rate_hz // 50 :]
    lost = [codec.conceal() for _ in range(25)]
    assert level_dbov(lost[0]) > level_dbov(heard) - 10
    assert level_dbov(lost[-1]) < level_dbov(heard) - 45


@pytest.mark.parametrize(("info", "rate_hz"), [p for p in EVERY_CODEC if p.values[0].name not in STATELESS])
@pytest.mark.parametrize("extra", [-1, 1])
def test_a_frame_of_another_length_is_refused(info: CodecInfo, rate_hz: int, extra: int) -> None:
    samples = rate_hz // 50
    with pytest.raises(EngineError, match=f"one packet has {samples} samples, not {samples + extra}"):
        make_codec(info.name, rate_hz).encode(np.zeros(samples + extra, np.int16))


def test_l16_is_network_byte_order() -> None:
    """RFC 3551 §4.5.11."""
    assert make_codec("l16", 16_000).encode(np.array([1, -2], dtype=np.int16)) == b"\x00\x01\xff\xfe"


def test_l16_changes_nothing() -> None:
    codec = make_codec("l16", 16_000)
    assert np.array_equal(codec.decode(codec.encode(NOISE)), NOISE)


def test_half_a_sample_of_l16_is_dropped() -> None:
    assert make_codec("l16", 8000).decode(b"\x00\x01\xff").tolist() == [1]


@pytest.mark.parametrize(("name", "code", "heard"), [("pcmu", 0xFF, 0), ("pcma", 0xD5, 8)])
def test_silence_is_the_positive_zero_code(name: str, code: int, heard: int) -> None:
    """ITU-T G.711: µ-law has an output value 0; A-law has none, so an idle A-law channel rests at +8 of 32768."""
    codec = make_codec(name, 8000)
    payload = codec.encode(np.zeros(160, dtype=np.int16))
    assert payload == bytes([code]) * 160
    assert codec.decode(payload).tolist() == [heard] * 160


@pytest.mark.parametrize("name", STATELESS)
def test_a_codec_without_state_takes_any_length(name: str) -> None:
    codec = make_codec(name, 8000)
    assert codec.encode(NOISE[:0]) == b""
    assert codec.decode(b"").size == 0
    assert codec.decode(codec.encode(NOISE[:7])).size == 7


def test_an_amr_packet_is_octet_aligned() -> None:
    """RFC 4867 §4.4: no mode request, then frame type 7 (12.2 kbit/s) with its quality bit, then the speech."""
    assert make_codec("amr", 8000).encode(NOISE)[:2] == bytes([0xF0, 7 << 3 | 0x04])


def test_an_opus_packet_is_one_mono_frame_of_20_ms() -> None:
    """RFC 6716 §3.1: narrowband is configuration 1, wideband 9; neither stereo nor a frame count."""
    quiet = np.zeros(320, np.int16)
    assert make_codec("opus", 8000).encode(quiet[:160])[0] == 1 << 3
    assert make_codec("opus", 16_000).encode(quiet)[0] == 9 << 3


@pytest.mark.parametrize(("name", "rate_hz"), [("opus", 48_000), ("pcmu", 16_000), ("speex", 8000)])
def test_an_unknown_codec_or_rate_lists_what_is_known(name: str, rate_hz: int) -> None:
    with pytest.raises(NotFoundError, match=rf"{name}@{rate_hz}.*pcma@8000, pcmu@8000"):
        make_codec(name, rate_hz)


@pytest.mark.parametrize(("name", "mode"), [("amr", "12.20"), ("opus", "48000"), ("gsm", "13")])
def test_an_unknown_mode_lists_what_is_known(name: str, mode: str) -> None:
    with pytest.raises(NotFoundError, match=rf"no mode of codec {name} named '{mode}'; known: "):
        make_codec(name, 8000, mode=mode)


def page_row(name: str) -> list[str]:
    """The cells of a codec in docs/codecs.md, without emphasis and units."""
    page = (Path(__file__).parents[2] / "docs" / "codecs.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    return [cell.strip().replace("**", "").split(" (")[0] for cell in row.strip("|").split("|")]


@pytest.mark.parametrize("info", codec_catalogue(), ids=lambda info: info.name)
def test_the_page_says_what_the_catalogue_says(info: CodecInfo) -> None:
    _, rates_hz, modes, payload_bytes, delays, conceals, reference = page_row(info.name)
    assert rates_hz == ", ".join(map(str, info.rates_hz))
    assert modes == (", ".join(info.modes) or "-")
    assert payload_bytes == (", ".join(map(str, info.payload_bytes)) or "varies")
    assert delays == ", ".join(str(make_codec(info.name, rate).delay_samples) for rate in info.rates_hz)
    assert conceals == ("yes" if info.conceals else "no")
    assert reference == info.reference
