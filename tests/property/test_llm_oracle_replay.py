"""A conversation with the oracle reaches the end of its script, whatever the caller does on the way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callm_voice.llm.oracle_replay import CLOSING, next_reply
from callm_voice.llm.oracle_script import parse_script

pytestmark = pytest.mark.property
TOOLS = ["look", "book"]
words = st.sampled_from(["Hello there.", "One moment.", "I see you.", "Shall I?", "It is done.", "Anything else?"])
steps = st.one_of(
    words.map(lambda w: {"say": w}),
    st.just({"hear": {}}),
    st.just({"hear": {"any_of": ["yes"]}, "else": "Sorry?"}),
    st.sampled_from(TOOLS).map(lambda t: {"call": t, "args": {"a": 1}}),
)


@given(script=st.lists(steps, max_size=12), where=st.data())
@settings(max_examples=100, deadline=None)
def test_a_patient_caller_always_reaches_the_end(script, where):
    parsed = parse_script(script)
    history = [{"role": "user", "content": "[The caller is on the line.]"}]
    called = []
    barge_ins = where.draw(st.integers(0, 3))
    for n in range(8 * len(script) + 8):
        reply = next_reply(parsed, history, TOOLS)
        if reply.step > len(parsed):
            assert reply.text == CLOSING
            break
        text = reply.text
        if text and barge_ins and where.draw(st.booleans()):  # some first words were heard, or none
            barge_ins -= 1
            kept = text.split()[: where.draw(st.integers(0, len(text.split())))]
            text = " ".join(kept)
        if text or reply.calls:
            message = {"role": "assistant", "content": text or None}
            if reply.calls:
                called += [c.call for c in reply.calls]
                message["tool_calls"] = [
                    {"id": f"{n}-{i}", "type": "function", "function": {"name": c.call, "arguments": "{}"}}
                    for i, c in enumerate(reply.calls)
                ]
            history.append(message)
            history += [
                {"role": "tool", "tool_call_id": f"{n}-{i}", "content": '{"ok": true}'} for i in range(len(reply.calls))
            ]
        if not reply.calls:
            history.append({"role": "user", "content": where.draw(st.sampled_from(["yes", "yes please", "hm yes"]))})
    else:
        pytest.fail(f"the script was not played to its end: {history}")
    assert called == [step["call"] for step in script if "call" in step]


@given(script=st.lists(steps, max_size=8), texts=st.lists(st.text(max_size=20), max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_answer_depends_on_the_history_alone(script, texts):
    parsed = parse_script(script)
    history = [{"role": "user" if n % 2 else "assistant", "content": t} for n, t in enumerate(texts)]
    assert next_reply(parsed, history, TOOLS) == next_reply(parsed, [dict(m) for m in history], TOOLS)
