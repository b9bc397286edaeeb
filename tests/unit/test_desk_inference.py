"""Marks of one inference are taken with the times at which the stream was read."""

from __future__ import annotations

import asyncio

import pytest
from support.desk_call import desk_call
from support.scripted_model import answer, call

from callm_voice.core.errors import ModelProtocolError, ModelTimeoutError
from callm_voice.core.events import InferenceEnded, InferenceMark, InferenceStarted
from callm_voice.llm.types import (
    Finished,
    FirstChunk,
    ReasoningDelta,
    StreamOpened,
    TextDelta,
    ToolCallStarted,
    UsageReport,
)

pytestmark = pytest.mark.unit


async def marks_of(*events):
    """Mark → milliseconds for one answer."""
    with desk_call(list(events), answer("Done.")) as made:
        await made.hear("Hello")
        return {m.mark: m.t_ms for m in made.log.of(InferenceMark) if m.inference_id == 1}


async def test_every_mark_has_the_time_of_its_first_event():
    assert await marks_of(
        StreamOpened(1.0), FirstChunk(1.1), ReasoningDelta(1.2, "hm"), ReasoningDelta(1.3, "so"), TextDelta(1.4, ""),
        TextDelta(1.5, "* "), TextDelta(1.6, "Hi"), TextDelta(1.7, " there"), UsageReport(1.8), Finished(1.9, "stop"),
    ) == {
        "stream_opened": 1000.0, "first_chunk": 1100.0, "first_reasoning": 1200.0, "first_token": 1500.0,
        "first_speakable": 1600.0, "last_token": 1700.0,
    }  # fmt: skip


async def test_the_first_token_of_a_tool_answer_is_its_first_delta():
    ready = call("list_orders")
    marks = await marks_of(
        StreamOpened(1.0), FirstChunk(1.0), ToolCallStarted(1.2, 0), ready, Finished(2.0, "tool_calls")
    )
    assert marks["first_token"] == 1200.0
    assert "first_speakable" not in marks


async def test_a_role_only_chunk_or_reasoning_is_no_first_token():
    assert "first_token" not in await marks_of(
        StreamOpened(1.0), FirstChunk(1.0), ReasoningDelta(1.1, "hm"), Finished(1.2, "stop")
    )


async def test_the_end_carries_text_usage_and_counts():
    with desk_call(answer("Hi ", "you.", usage=UsageReport(0.0, 50, 40, 3))) as made:
        await made.hear("Hello")
        started, ended = made.log.of(InferenceStarted)[0], made.log.of(InferenceEnded)[0]
    assert (started.cause, started.role, started.model, started.messages, started.tools) == (
        "caller_turn", "front", "scripted", 2, 2,
    )  # fmt: skip
    assert (ended.text, ended.finish_reason, ended.prompt_tokens, ended.cached_tokens) == ("Hi you.", "stop", 50, 40)
    assert (ended.interrupted, ended.error) == (False, None)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ([StreamOpened(0.0), ModelTimeoutError("nothing for 5 s")], ModelTimeoutError),
        ([TextDelta(0.0, "Half"), ModelTimeoutError("stalled for 5 s")], ModelTimeoutError),
        (answer("No end", finish=False), ModelProtocolError),
        ([RuntimeError("a fault of ours")], RuntimeError),
    ],
)
async def test_an_error_goes_up_after_the_inference_was_ended_with_it(script, error):
    with desk_call(script) as made:
        with pytest.raises(error):
            await made.hear("Hello")
        (ended,) = made.log.of(InferenceEnded)
        assert error.__name__ in ended.error
        assert not ended.interrupted
        assert made.model.open_streams == 0


async def test_an_interrupted_inference_has_no_last_token_and_closes_its_stream():
    with desk_call(answer("One ", "two ", "three")) as made:
        outputs = made.agent.respond("Hello", 1)
        await anext(outputs)
        await outputs.aclose()
        (ended,) = made.log.of(InferenceEnded)
        assert (ended.interrupted, ended.text, ended.error) == (True, "One ", None)
        assert "last_token" not in {m.mark for m in made.log.of(InferenceMark)}
        assert made.model.open_streams == 0


async def test_a_cancelled_task_ends_its_inference_as_interrupted():
    with desk_call(answer("One ", "two ", "three")) as made:
        task = asyncio.create_task(made.hear("Hello"))
        for _ in range(4):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [e.interrupted for e in made.log.of(InferenceEnded)] == [True]
        assert made.model.open_streams == 0


async def test_calls_of_an_answer_that_broke_off_are_dropped():
    with desk_call([call("list_orders"), ModelTimeoutError("stalled for 5 s")]) as made:
        with pytest.raises(ModelTimeoutError):
            await made.hear("Hello")
        assert made.log.of(InferenceEnded)[0].tool_calls == 0
        assert made.agent.trace().calls == ()


async def test_lone_surrogates_in_text_do_not_reach_the_record():
    with desk_call(answer("a\ud800b")) as made:
        await made.hear("Hello")
        assert made.log.of(InferenceEnded)[0].text == "a\ufffdb"
