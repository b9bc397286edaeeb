"""One measured request: the moments, the pace of decoding, failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest
from support.manual_clock import ManualClock

from callm_voice.bench.profile.measure import Exchange, exchange
from callm_voice.core.errors import ModelStatusError
from callm_voice.llm.scripted import ScriptedChatModel, ScriptedReply
from callm_voice.llm.types import (
    ChatRequest,
    Finished,
    FirstChunk,
    ReasoningDelta,
    StreamEvent,
    StreamOpened,
    TextDelta,
    UsageReport,
)

pytestmark = pytest.mark.unit
TEN_WORDS = "one two three four five six seven eight nine ten"


class Played:
    """A model that gives set events at once; their times are in them."""

    name = "played"

    def __init__(self, *events: StreamEvent) -> None:
        self._events = events

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        for event in self._events:
            yield event

    async def warm(self, prefixes: Sequence[ChatRequest]) -> None:
        pass

    async def aclose(self) -> None:
        pass


async def ask(reply: ScriptedReply) -> Exchange:
    clock = ManualClock()
    task = asyncio.create_task(exchange(ScriptedChatModel([reply], clock), ChatRequest([]), clock))
    await clock.advance(60)
    return await task


async def test_ttft_and_decoding_are_those_of_the_script() -> None:
    usage = UsageReport(0.0, prompt_tokens=900, completion_tokens=10)
    found = await ask(ScriptedReply(TEN_WORDS, ttft_ms=400, token_ms=20, usage=usage))
    assert found.ms(found.first_token_s) == pytest.approx(400)
    assert found.ms(found.last_token_s) == pytest.approx(580)
    assert found.tokens_per_s(by_pieces=False) == found.tokens_per_s(by_pieces=True) == pytest.approx(50)
    assert found.usage.prompt_tokens == 900


async def test_what_the_server_does_not_say_is_not_zero() -> None:
    found = await ask(ScriptedReply(TEN_WORDS, ttft_ms=10, token_ms=20))
    assert found.tokens_per_s(by_pieces=False) is None
    assert found.usage.prompt_tokens is None


async def test_a_short_answer_says_nothing_about_decoding() -> None:
    found = await ask(ScriptedReply("Yes, of course.", ttft_ms=10, token_ms=20))
    assert found.tokens_per_s(by_pieces=True) is None


async def test_a_tool_call_is_a_first_token() -> None:
    found = await ask(ScriptedReply(calls=[("find_slots", {})], ttft_ms=250))
    assert found.ms(found.first_token_s) == pytest.approx(250)
    assert (found.tool_calls, found.first_speakable_s) == (1, None)


async def test_a_failure_is_kept_not_raised() -> None:
    error = ModelStatusError(500, "out of memory", url="http://127.0.0.1/v1")
    found = await ask(ScriptedReply("Well", ttft_ms=10, error=error))
    assert found.error is error
    assert found.error_line() == "ModelStatusError: http://127.0.0.1/v1 answered HTTP 500: out of memory"


async def test_time_counts_from_the_sending_not_from_the_connecting() -> None:
    events = (
        StreamOpened(1003.1, sent_s=1003.0), FirstChunk(1003.2), TextDelta(1003.4, "("), TextDelta(1003.5, "Yes"),
        Finished(1003.5, "stop"),
    )  # fmt: skip
    found = await exchange(Played(*events), ChatRequest([]), ManualClock())
    moments = (found.stream_opened_s, found.first_chunk_s, found.first_token_s, found.first_speakable_s)
    assert [found.ms(t) for t in moments] == pytest.approx([100, 200, 400, 500])


async def test_thinking_is_not_answering() -> None:
    events = (
        StreamOpened(0.1, sent_s=0.0), FirstChunk(0.1), ReasoningDelta(0.2, "hm"), TextDelta(3.0, "a"),
        TextDelta(4.0, "b"), UsageReport(4.0, completion_tokens=60, reasoning_tokens=49), Finished(4.0, "stop"),
    )  # fmt: skip
    found = await exchange(Played(*events), ChatRequest([]), ManualClock())
    assert (found.ms(found.first_reasoning_s), found.ms(found.first_token_s)) == (200, 3000)
    assert found.tokens_per_s(by_pieces=False) == pytest.approx(10)
    assert found.thought


async def test_an_answer_cut_before_its_first_token_has_thought() -> None:
    events = (StreamOpened(0.1, sent_s=0.0), FirstChunk(0.1), Finished(4.0, "length"))
    assert (await exchange(Played(*events), ChatRequest([]), ManualClock())).thought
