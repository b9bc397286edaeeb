"""What the fault proxy puts into a model's mouth, what it takes out again, and where an endless answer is cut."""

from __future__ import annotations

import json

import pytest
from support.llm_servers import DONE, ROLE, delta, fragment, sse

from callm_voice.llm.deltas import MAX_ANSWER_CHARS, StreamParser
from callm_voice.llm.fault_answers import Strip, rewritten
from callm_voice.llm.types import Finished, TextDelta, ToolCallReady

pytestmark = pytest.mark.faults
TOOLS = {"get_slots", "transfer_to_billing"}
REQUEST = {"messages": [], "tools": [{"type": "function", "function": {"name": name}} for name in sorted(TOOLS)]}


def answer(name: str) -> bytes:
    """An answer with one call in two pieces."""
    first = delta(tool_calls=[fragment(0, "own", name, '{"day": ')])
    rest = delta(tool_calls=[fragment(0, arguments='"monday"}')])
    return "".join(map(sse, (ROLE, first, rest, delta(finish="tool_calls"), DONE))).encode()


def calls_of(stream: bytes) -> list[ToolCallReady]:
    parser = StreamParser(TOOLS)
    return [e for e in [*parser.feed(stream, 0.0), *parser.end(0.0)] if isinstance(e, ToolCallReady)]


def test_an_unknown_tool_keeps_its_arguments_and_bad_json_its_name() -> None:
    [unknown] = calls_of(rewritten("llm-unknown-tool", answer("get_slots"), REQUEST, lambda: True, Strip()))
    assert (unknown.name, unknown.arguments) == ("no_such_tool", {"day": "monday"})
    [bad] = calls_of(rewritten("llm-bad-json", answer("get_slots"), REQUEST, lambda: True, Strip()))
    assert bad.name == "get_slots"
    assert bad.error is not None


def test_a_call_is_put_behind_a_handoff_and_behind_nothing_else() -> None:
    both = calls_of(rewritten("llm-parallel-handoff", answer("transfer_to_billing"), REQUEST, lambda: True, Strip()))
    assert [call.name for call in both] == ["transfer_to_billing", "get_slots"]
    asked = []
    plain = rewritten("llm-parallel-handoff", answer("get_slots"), REQUEST, lambda: asked.append(1) or True, Strip())
    assert (plain, asked) == (answer("get_slots"), [])


def test_what_was_put_in_is_taken_out_of_the_next_request() -> None:
    strip = Strip()
    [call] = calls_of(rewritten("llm-unknown-tool", answer("get_slots"), REQUEST, lambda: True, strip))
    own = {"role": "assistant", "content": None, "tool_calls": [{"id": "own"}, {"id": call.call_id}]}
    put_in = {"role": "assistant", "content": None, "tool_calls": [{"id": call.call_id}]}
    answers = [{"role": "tool", "tool_call_id": call.call_id}, {"role": "tool", "tool_call_id": "own"}]
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}, own, *answers, put_in]}).encode()
    kept = json.loads(strip.taken_out(body))["messages"]
    assert kept == [{"role": "user", "content": "Hi"}, {**own, "tool_calls": [{"id": "own"}]}, answers[1]]


@pytest.mark.parametrize("piece", [{"content": "word " * 20}, {"tool_calls": [fragment(0, arguments="x" * 100)]}])
def test_an_answer_without_end_is_cut_as_max_tokens_would(piece: dict[str, object]) -> None:
    parser = StreamParser(TOOLS)
    events = parser.feed(sse(delta(tool_calls=[fragment(0, "own", "get_slots")])).encode(), 0.0)
    fed = 0
    while not parser.finished:
        events += parser.feed(sse(delta(**piece)).encode(), 1.0)
        fed += 100
        assert fed <= MAX_ANSWER_CHARS + 100
    [finished] = [e for e in events if isinstance(e, Finished)]
    assert finished.reason == "length"
    assert any("cut after" in note for note in finished.notes)
    assert sum(len(e.text) for e in events if isinstance(e, TextDelta)) <= MAX_ANSWER_CHARS + 100
