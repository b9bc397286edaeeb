"""Event streams by the rules of the WHATWG HTML standard, section 9.2.6."""

import pytest

from callm_voice.core.errors import ModelProtocolError
from callm_voice.llm.sse import SseDecoder

pytestmark = pytest.mark.unit


def decode(*pieces: bytes) -> list[tuple[str, str]]:
    decoder = SseDecoder()
    found = [event for t, piece in enumerate(pieces) for event in decoder.feed(piece, float(t))]
    return [(e.event, e.data) for e in [*found, *decoder.end(99.0)]]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_each_line_end_is_understood(end):
    assert decode(b"data: a" + end + end + b"data: b" + end + end) == [("message", "a"), ("message", "b")]


def test_a_crlf_that_is_split_is_one_line_end():
    assert decode(b"data: a\r", b"\n\r", b"\ndata: b\r", b"\n\r\n") == [("message", "a"), ("message", "b")]


def test_data_lines_are_joined_by_newlines():
    assert decode(b"data: a\ndata: b\n\n") == [("message", "a\nb")]


def test_one_space_after_the_colon_is_dropped_and_no_more():
    assert decode(b"data:a\n\ndata:  b\n\n") == [("message", "a"), ("message", " b")]


def test_comments_ids_and_unknown_fields_are_no_data():
    assert decode(b": ping\n\nid: 7\nretry: 10\nfoo: bar\n\ndata: a\n\n") == [("message", "a")]


def test_an_event_has_its_type_and_the_next_has_not():
    assert decode(b"event: error\ndata: a\n\ndata: b\n\n") == [("error", "a"), ("message", "b")]


def test_a_byte_order_mark_is_dropped_also_in_pieces():
    assert decode(b"\xef", b"\xbb", b"\xbfdata: a\n\n") == [("message", "a")]


def test_the_final_blank_line_may_be_missing():
    assert decode(b"data: a\n\ndata: [DONE]") == [("message", "a"), ("message", "[DONE]")]


def test_a_character_split_between_pieces_is_whole():
    assert decode(b"data: caf\xc3", b"\xa9\n\n") == [("message", "café")]


def test_the_time_is_that_of_the_first_byte_of_the_data():
    decoder = SseDecoder()
    decoder.feed(b": ping\n\nda", 1.0)
    decoder.feed(b"ta: a\n", 2.0)
    assert [e.t_s for e in decoder.feed(b"\n", 3.0)] == [1.0]


@pytest.mark.parametrize("page", [b"<!DOCTYPE html>\n", b'{"choices": []}\n', b"Internal Server Error\n"])
def test_what_is_no_event_stream_is_shown(page):
    with pytest.raises(ModelProtocolError, match="not an event stream") as caught:
        SseDecoder().feed(page, 0.0)
    assert page.decode().strip()[:10] in caught.value.message


def test_a_line_without_end_is_refused():
    with pytest.raises(ModelProtocolError, match="longer than"):
        decode(*[b"x" * 100_000] * 50)
