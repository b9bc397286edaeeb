"""Streams of chat completions, from bytes to events."""

import pytest
from support.llm_servers import DONE, ROLE, STOP, delta, fragment, sse

from callm_voice.core.errors import ModelProtocolError
from callm_voice.llm.deltas import StreamParser
from callm_voice.llm.types import (
    Finished,
    FirstChunk,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    UsageReport,
)

pytestmark = pytest.mark.unit
TOOLS = ("get_balance", "list_slots")
CALL = '{"name": "get_balance", "arguments": {}}'


def parse(*chunks, recover=False, end=True):
    """One chunk a second, the first at 1."""
    parser = StreamParser(TOOLS, recover_calls=recover)
    events = [e for t, chunk in enumerate(chunks, start=1) for e in parser.feed(sse(chunk).encode(), float(t))]
    return events + (parser.end(99.0) if end and not parser.finished else [])


def only(kind, events):
    return [e for e in events if isinstance(e, kind)]


def test_a_plain_answer():
    events = parse(ROLE, delta(content="Hi"), delta(content=" there"), STOP, DONE)
    assert events == [FirstChunk(1.0), TextDelta(2.0, "Hi"), TextDelta(3.0, " there"), Finished(5.0, "stop")]


def test_a_role_only_stream_has_no_first_token():
    events = parse(ROLE, STOP, DONE)
    assert only(TextDelta, events) == []
    assert events[-1] == Finished(3.0, "stop", ("no answer token",))


def test_a_role_only_chunk_is_no_token():
    parser = StreamParser()
    parser.feed(sse(ROLE).encode(), 1.0)
    assert parser.first_token_s is None
    parser.feed(sse(delta(content="x")).encode(), 2.0)
    assert parser.first_token_s == 2.0


def test_a_tool_delta_is_the_first_token():
    events = parse(ROLE, delta(tool_calls=[fragment(0, "a", "get_balance", "")]), delta(finish="tool_calls"), DONE)
    assert only(ToolCallStarted, events) == [ToolCallStarted(2.0, 0)]
    assert only(ToolCallReady, events) == [ToolCallReady(2.0, "a", "get_balance", {}, "")]


def test_two_calls_in_one_delta_are_two():
    events = parse(
        delta(tool_calls=[fragment(0, "a", "get_balance", "{}"), fragment(1, "b", "list_slots", "{}")]), STOP, DONE
    )
    assert [c.name for c in only(ToolCallReady, events)] == ["get_balance", "list_slots"]


def test_calls_come_after_the_stream_has_ended():
    parser = StreamParser(TOOLS)
    call = delta(tool_calls=[fragment(0, "a", "get_balance", "{}")])
    events = parser.feed((sse(call) + sse(delta(finish="tool_calls"))).encode(), 1.0)
    assert only(ToolCallReady, events) == []
    assert only(ToolCallReady, parser.feed(sse(DONE).encode(), 2.0))


def test_the_older_function_call_is_taken():
    events = parse(
        delta(function_call={"name": "get_balance", "arguments": '{"a"'}),
        delta(function_call={"arguments": ": 1}"}), delta(finish="function_call"), DONE,
    )  # fmt: skip
    calls = only(ToolCallReady, events)
    assert [(c.name, c.arguments, c.error) for c in calls] == [("get_balance", {"a": 1}, None)]


def test_a_cut_call_says_that_the_length_limit_cut_it():
    events = parse(delta(tool_calls=[fragment(0, "a", "get_balance", '{"a"')]), delta(finish="length"), DONE)
    assert only(ToolCallReady, events)[0].error == "the arguments were cut at the length limit"
    assert events[-1].notes == ("a tool call that cannot be used",)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_no_answer_token(field):
    parser = StreamParser()
    events = parser.feed(sse(delta(**{field: "hm"})).encode(), 1.0)
    assert events == [FirstChunk(1.0), ReasoningDelta(1.0, "hm")]
    assert parser.first_token_s is None


def test_thinking_in_the_content_is_reasoning():
    events = parse(delta(content="<think>hm</think>"), delta(content="\n\nHi"), STOP, DONE)
    assert only(ReasoningDelta, events) == [ReasoningDelta(1.0, "hm")]
    assert only(TextDelta, events) == [TextDelta(2.0, "Hi")]


def test_content_in_parts_is_joined():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Hi"}]
    events = parse(delta(content=parts), STOP, DONE)
    assert (only(ReasoningDelta, events), only(TextDelta, events)) == (
        [ReasoningDelta(1.0, "hm")],
        [TextDelta(1.0, "Hi")],
    )


def test_a_refusal_is_text():
    assert only(TextDelta, parse(delta(refusal="No."), STOP, DONE)) == [TextDelta(1.0, "No.")]


def test_usage_comes_from_a_last_chunk_without_choices():
    usage = {
        "prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }  # fmt: skip
    events = parse(delta(content="x"), STOP, {"choices": [], "usage": usage}, DONE)
    assert only(UsageReport, events) == [UsageReport(3.0, 10, 8, 5, 2)]


@pytest.mark.parametrize(
    ("more", "cached"),
    [({"timings": {"cache_n": 7}}, 7), ({}, None), ({"timings": {"cache_n": -1}}, None)],
)
def test_cached_tokens_are_unknown_unless_said(more, cached):
    chunk = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}, **more}
    assert only(UsageReport, parse(delta(content="x"), STOP, chunk, DONE))[0].cached_tokens == cached


def test_usage_with_every_chunk_is_reported_once():
    chunks = [{**delta(content="x"), "usage": {"prompt_tokens": 1, "completion_tokens": n}} for n in (1, 2, 3)]
    assert [u.completion_tokens for u in only(UsageReport, parse(*chunks, STOP, DONE))] == [3]


def test_a_missing_finish_reason_is_noted():
    assert parse(delta(content="x"), DONE)[-1] == Finished(2.0, None, ("no finish_reason",))


def test_a_missing_done_is_noted():
    assert parse(delta(content="x"), STOP)[-1] == Finished(99.0, "stop", ("no [DONE]",))


def test_what_follows_done_is_not_read():
    assert len(only(TextDelta, parse(delta(content="x"), STOP, DONE, delta(content="y"), end=False))) == 1


def test_other_choices_are_left_out_and_noted():
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": None}]}
    events = parse(delta(content="x"), other, STOP, DONE)
    assert [e.text for e in only(TextDelta, events)] == ["x"]
    assert events[-1].notes == ("more than one choice",)


def test_a_whole_message_instead_of_deltas_is_taken():
    chunk = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    assert [e.text for e in only(TextDelta, parse(chunk, DONE))] == ["Hi"]


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        ({"error": {"message": "overloaded", "code": 503}}, "broke off: 'overloaded'"),
        ({"error": "overloaded"}, "broke off: 'overloaded'"),
        ({"object": "error", "message": "too long"}, "broke off: 'too long'"),
        ("{oops", "not JSON: '{oops'"),
        ("[1]", "not an object"),
        ({"choices": 7}, "choices is not a list"),
        ({"choices": [{"delta": 7}]}, "delta is not an object"),
        ({"choices": [{"delta": {"content": 7}}]}, "content is neither"),
        ({"choices": [{"delta": {"tool_calls": ["x"]}}]}, "tool_calls is not a list of objects"),
    ],
)
def test_what_is_no_answer_is_a_protocol_error(chunk, message):
    with pytest.raises(ModelProtocolError, match=message.replace("{", r"\{")):
        parse(delta(content="x"), chunk)


def test_an_error_event_is_a_protocol_error():
    parser = StreamParser()
    with pytest.raises(ModelProtocolError, match="broke off"):
        parser.feed(b'event: error\ndata: {"message": "gone"}\n\n', 0.0)


@pytest.mark.parametrize("chunks", [(ROLE,), (delta(content="half a"),)])
def test_a_stream_that_just_stops_was_cut(chunks):
    with pytest.raises(ModelProtocolError, match="cut"):
        parse(*chunks)


def test_an_empty_stream_is_a_protocol_error():
    with pytest.raises(ModelProtocolError, match="empty"):
        StreamParser().end(0.0)


def test_comments_and_empty_deltas_are_no_progress():
    parser = StreamParser()
    parser.feed(sse(delta(content="x")).encode(), 1.0)
    parser.feed(b": keep-alive\n\n" + sse(delta(content="")).encode() + sse(delta()).encode(), 2.0)
    assert parser.last_progress_s == 1.0
    parser.feed(sse(delta(content="y")).encode(), 3.0)
    assert parser.last_progress_s == 3.0


def test_json_text_stays_text_unless_the_spec_says_so():
    events = parse(delta(content=CALL), STOP, DONE)
    assert [e.text for e in only(TextDelta, events)] == [CALL]
    assert only(ToolCallReady, events) == []


def test_json_text_becomes_a_recovered_call():
    events = parse(ROLE, *(delta(content=c) for c in CALL), STOP, DONE, recover=True)
    assert only(TextDelta, events) == []
    assert only(ToolCallStarted, events) == [ToolCallStarted(2.0, 0)]
    call = only(ToolCallReady, events)[0]
    assert (call.name, call.arguments, call.recovered, call.error) == ("get_balance", {}, True, None)


def test_the_first_token_is_known_while_text_is_held_back():
    parser = StreamParser(TOOLS, recover_calls=True)
    assert parser.feed(sse(delta(content="{")).encode(), 1.0) == [FirstChunk(1.0)]
    assert parser.first_token_s == 1.0


def test_two_recovered_calls_have_different_ids():
    events = parse(delta(content=f"{CALL},\n{CALL}"), STOP, DONE, recover=True)
    assert len({c.call_id for c in only(ToolCallReady, events)}) == 2


def test_a_missing_last_brace_is_mended_and_noted():
    events = parse(delta(content=CALL[:-1]), STOP, DONE, recover=True)
    assert [(c.name, c.error) for c in only(ToolCallReady, events)] == [("get_balance", None)]
    assert events[-1].notes == ("a recovered call without its last brace",)


def test_a_missing_last_brace_at_the_length_limit_is_an_error():
    events = parse(delta(content=CALL[:-1]), delta(finish="length"), DONE, recover=True)
    assert only(ToolCallReady, events)[0].error == "the call is cut: its JSON does not end"
