"""The model double: strict, on the clock, by the real interface."""

import pytest

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import HarnessError, ModelTimeoutError
from callm_voice.llm.scripted import ScriptedChatModel, ScriptedReply
from callm_voice.llm.types import ChatModel, ChatRequest, Finished, TextDelta, ToolCallReady, ToolCallStarted

pytestmark = pytest.mark.unit
HI = ChatRequest([{"role": "user", "content": "Hi"}])


@pytest.fixture
def clock():
    clock = RealClock()
    yield clock
    clock.close()


async def test_it_plays_text_then_calls_then_finishes(clock):
    model: ChatModel = ScriptedChatModel([ScriptedReply("One moment.", [("get", {"a": 1})])], clock)
    events = [e async for e in model.stream(HI)]
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "One moment."
    assert [(e.name, e.arguments) for e in events if isinstance(e, ToolCallReady)] == [("get", {"a": 1})]
    assert [type(e) for e in events[-3:]] == [ToolCallStarted, ToolCallReady, Finished]


async def test_the_first_token_comes_at_the_scripted_time(clock):
    model = ScriptedChatModel([ScriptedReply("Hi", ttft_ms=20)], clock)
    events = [e async for e in model.stream(HI)]
    text = next(e for e in events if isinstance(e, TextDelta))
    assert text.t_s - events[0].t_s >= 0.02


async def test_it_fails_when_the_script_runs_out(clock):
    model = ScriptedChatModel([], clock)
    with pytest.raises(HarnessError, match="ran out of replies at request 1"):
        [e async for e in model.stream(HI)]


async def test_a_scripted_fault_is_raised_after_the_text(clock):
    model = ScriptedChatModel([ScriptedReply("Half", error=ModelTimeoutError("stalled"))], clock)
    events = model.stream(HI)
    seen = [await anext(events) for _ in range(3)]
    assert any(isinstance(e, TextDelta) for e in seen)
    with pytest.raises(ModelTimeoutError):
        await anext(events)


async def test_replies_that_were_never_asked_for_are_an_error(clock):
    with pytest.raises(HarnessError, match="1 replies"):
        await ScriptedChatModel([ScriptedReply("Hi")], clock).aclose()
    await ScriptedChatModel([ScriptedReply("Hi")], clock, strict=False).aclose()
