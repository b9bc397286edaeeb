"""Session descriptions from outside: what is taken, what is refused and with which words, what ours say."""

from __future__ import annotations

import pytest
from aiortc.sdp import SessionDescription
from support.sdp_texts import MALFORMED, audio_sdp

from callm_voice.pipeline.rtc_sdp import (
    AudioFormat,
    RtcError,
    check_sdp,
    choose,
    codecs_at,
    with_direction,
    with_extras,
    without_names,
)

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_description_of_one_audio_stream_raises_one_clear_error(name: str) -> None:
    with pytest.raises(RtcError) as caught:
        choose(check_sdp(MALFORMED[name]), ("pcmu",))
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300
    assert caught.value.fault == "infrastructure"


def test_the_first_codec_of_the_other_end_that_we_want_is_chosen_with_its_events() -> None:
    session = check_sdp(
        audio_sdp(codecs=((111, "opus/48000/2"), (8, "PCMA/8000"), (0, "PCMU/8000"), (126, "telephone-event/8000")))
    )
    assert choose(session, ("pcmu", "pcma")) == AudioFormat("pcma", 8, 126)
    assert choose(session, ("pcmu",)) == AudioFormat("pcmu", 0, 126)
    assert choose(session, ("opus",)) == AudioFormat("opus", 111, None), "events at 8,000 Hz are not Opus' clock"


def test_g722_has_the_clock_of_8000_hz_though_it_has_16000_samples() -> None:
    """RFC 3551 §4.5.2."""
    audio = choose(check_sdp(audio_sdp(codecs=((9, "G722/8000"),))), ("g722",))
    assert (audio.clock_hz, audio.step) == (8000, 160)


def test_opus_has_a_clock_of_48000_hz_at_any_rate() -> None:
    """RFC 7587 §4.1."""
    assert AudioFormat("opus", 96, None).step == 960
    assert codecs_at(8000) == ("pcmu", "pcma", "opus")
    assert codecs_at(16_000) == ("g722", "opus")


def test_the_refusal_names_what_was_expected_and_what_was_found() -> None:
    with pytest.raises(RtcError, match="expected pcmu or opus, found AMR"):
        choose(check_sdp(audio_sdp(codecs=((96, "AMR/8000"),))), ("pcmu", "opus"))


def test_our_description_tells_packet_time_and_events_and_is_read_back() -> None:
    text = with_extras(audio_sdp(codecs=((0, "PCMU/8000"),)), clock_hz=8000, events=101)
    assert "a=ptime:20\r\n" in text
    assert "a=fmtp:101 0-15\r\n" in text
    media = SessionDescription.parse(text).media[0]
    assert media.fmt == [0, 101]
    assert choose(check_sdp(text), ("pcmu",)) == AudioFormat("pcmu", 0, 101)


@pytest.mark.parametrize(
    ("told", "direction"),
    [("", "sendrecv"), ("a=sendrecv\r\n", "sendrecv"), ("a=recvonly\r\n", "recvonly"), ("a=inactive\r\n", "inactive")],
)
def test_a_stream_without_a_direction_has_the_sessions_or_both(told: str, direction: str) -> None:
    bare = audio_sdp().replace("a=sendrecv\r\n", "").replace("m=audio", f"{told}m=audio")
    assert SessionDescription.parse(with_direction(bare)).media[0].direction == direction
    assert with_direction(audio_sdp(direction="sendonly")) == audio_sdp(direction="sendonly")
    if direction == "sendrecv":
        assert check_sdp(bare).media[0].direction == direction
    else:
        with pytest.raises(RtcError, match="both ways"):
            check_sdp(bare)


def test_names_of_mdns_are_left_out_where_there_is_an_address() -> None:
    both = audio_sdp(candidates=("0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f.local", "127.0.0.1"))
    assert ".local" not in without_names(both)
    assert "127.0.0.1 50000" in without_names(both)
    only = audio_sdp(candidates=("0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f.local",))
    assert ".local" in without_names(only)
