"""However a stream is cut into pieces, the same events come out; nothing of the text is lost."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.llm_servers import DONE, ROLE, delta, fragment

from callm_voice.core.errors import ModelProtocolError
from callm_voice.llm.deltas import StreamParser
from callm_voice.llm.recover import CallRecoverer, FoundCall, HeldText
from callm_voice.llm.types import Finished, ReasoningDelta, TextDelta, ToolCallReady, ToolCallStarted

pytestmark = pytest.mark.property
TOOLS = ("get_balance", "find_patient")
CALL = json.dumps({"name": "get_balance", "arguments": {"id": "P-1"}})

texts = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=12)
MARKS = ["<think>", "</think>", CALL, CALL[:9], CALL[9:], "{", "```json\n", "```", "[", "]", ", ", "<tool_call>"]
contents = st.one_of(texts, st.sampled_from(MARKS))
fragments = st.builds(
    fragment,
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, "a", "b"]),
    st.sampled_from([None, "get_balance", "find_patient", "find_", "patient"]),
    st.sampled_from([None, "", "{}", '{"x"', ": 1}", '{"y": 2}', {"z": 3}]),
)
chunks = st.one_of(
    contents.map(lambda text: delta(content=text)),
    texts.map(lambda text: delta(reasoning_content=text)),
    st.lists(fragments, min_size=1, max_size=3).map(lambda calls: delta(tool_calls=calls)),
    st.just({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
    st.just(ROLE),
)


@st.composite
def streams(draw):
    """The bytes of a whole stream, in any of the standard's spellings."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    blocks = []
    for chunk in draw(st.lists(chunks, max_size=12)):
        blocks.append(f"data: {json.dumps(chunk, ensure_ascii=draw(st.booleans()))}{end}{end}")
        if draw(st.booleans()):
            blocks.append(f": keep-alive{end}{end}")
    blocks.append(f"data: {json.dumps(delta(finish='stop'))}{end}{end}")
    blocks.append(f"data: {DONE}{draw(st.sampled_from(['', end, end + end]))}")
    return (draw(st.sampled_from(["", "\ufeff"])) + "".join(blocks)).encode()


def events_of(data: bytes, cuts: list[int], *, recover: bool):
    parser = StreamParser(TOOLS, recover_calls=recover)
    edges = [0, *sorted(cuts), len(data)]
    events = [e for a, b in itertools.pairwise(edges) for e in parser.feed(data[a:b], 1.0)]
    return events + ([] if parser.finished else parser.end(1.0))


@given(data=streams(), where=st.data(), recover=st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_chunking_gives_the_same_events(data, where, recover):
    whole = events_of(data, [], recover=recover)
    cuts = where.draw(st.lists(st.integers(0, len(data)), max_size=20))
    assert events_of(data, cuts, recover=recover) == whole
    assert events_of(data, list(range(len(data))), recover=recover) == whole


@given(data=streams(), recover=st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_stream_ends_with_one_finish_and_calls_are_started_before_they_are_ready(data, recover):
    events = events_of(data, [], recover=recover)
    assert [isinstance(e, Finished) for e in events].count(True) == 1
    assert isinstance(events[-1], Finished)
    started = [e for e in events if isinstance(e, ToolCallStarted)]
    ready = [e for e in events if isinstance(e, ToolCallReady)]
    assert len(started) == len(ready)
    assert len({call.call_id for call in ready}) == len(ready)
    assert all(call.error is None or call.arguments == {} for call in ready)


@given(parts=st.lists(contents, max_size=12), recover=st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_text_is_lost_or_invented_besides_what_becomes_calls(parts, recover):
    data = "".join(f"data: {json.dumps(delta(content=p))}\n\n" for p in parts) + "data: [DONE]\n\n"
    events = events_of(data.encode(), [], recover=recover)
    text = "".join(e.text for e in events if isinstance(e, TextDelta | ReasoningDelta))
    rest = iter("".join(parts))
    assert all(character in rest for character in text), "the text is not a subsequence of the content"
    no_calls = not any(isinstance(e, ToolCallReady) for e in events)
    if no_calls and "<think>" not in "".join(parts):
        assert text == "".join(parts)


@given(parts=st.lists(contents, max_size=12), where=st.data())
@settings(max_examples=150, deadline=None)
def test_recovery_does_not_depend_on_how_the_text_is_cut(parts, where):
    text = "".join(parts)
    cuts = [0, *sorted(where.draw(st.lists(st.integers(0, len(text)), max_size=12))), len(text)]

    def run(pieces):
        recoverer = CallRecoverer(TOOLS)
        found = [x for piece in pieces for x in recoverer.feed(piece, 0.0)] + recoverer.end()
        calls = [(x.name, x.arguments, x.raw_arguments, x.error) for x in found if isinstance(x, FoundCall)]
        return "".join(x.text for x in found if isinstance(x, HeldText)), calls

    assert run([text[a:b] for a, b in itertools.pairwise(cuts)]) == run([text])


@given(garbage=st.binary(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_bytes_end_in_events_or_in_a_protocol_error(garbage):
    parser = StreamParser(TOOLS)
    try:
        parser.feed(garbage, 0.0)
        parser.end(1.0)
    except ModelProtocolError as error:
        assert error.message  # noqa: PT017 - either outcome is right


@given(
    calls=st.lists(
        st.tuples(st.sampled_from(TOOLS), st.dictionaries(st.text(max_size=4), st.integers(), max_size=3)),
        min_size=1, max_size=4,
    ),
    first=st.integers(0, 3), repeat_ids=st.booleans(), where=st.data(),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_calls_in_interleaved_pieces_are_reassembled(calls, first, repeat_ids, where):
    """Each call's fragments stay in order; those of different calls are mixed as drawn."""
    queues = []
    for n, (name, arguments) in enumerate(calls):
        raw = json.dumps(arguments)
        at = where.draw(st.integers(0, len(raw)))
        again = f"id{n}" if repeat_ids else None
        queues.append(
            [
                fragment(first + n, f"id{n}", name, ""),
                fragment(first + n, again, None, raw[:at]),
                fragment(first + n, again, None, raw[at:]),
            ]
        )
    lines = [queue.pop(0) for queue in queues]  # heads first: servers begin calls in the order of their index
    while any(queues):
        lines.append(where.draw(st.sampled_from([q for q in queues if q])).pop(0))
    data = "".join(f"data: {json.dumps(delta(tool_calls=[line]))}\n\n" for line in lines) + "data: [DONE]\n\n"
    ready = [e for e in events_of(data.encode(), [], recover=False) if isinstance(e, ToolCallReady)]
    assert [(c.call_id, c.name, c.arguments) for c in ready] == [(f"id{n}", *call) for n, call in enumerate(calls)]
