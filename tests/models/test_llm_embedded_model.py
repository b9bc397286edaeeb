"""The small real model, run by llama.cpp in a process of its own. Without its weight these tests fail, and say so."""

from contextlib import asynccontextmanager

import pytest

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import HarnessError, ModelTimeoutError
from callm_voice.llm.embedded import EmbeddedChatModel
from callm_voice.llm.spec import BUILT_IN, EMBEDDED_MODEL, Timeouts
from callm_voice.llm.types import (
    ChatRequest,
    Finished,
    StreamOpened,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    UsageReport,
)

pytestmark = [pytest.mark.models, pytest.mark.timeout(300)]


def tool(name, description, **properties):
    parameters = {
        "type": "object",
        "properties": {key: {"type": "string", "description": text} for key, text in properties.items()},
        "required": list(properties),
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    tool("get_balance", "The sum that the patient owes.", patient_id="Id of the patient, such as P-7"),
    tool("list_slots", "Free appointments of one day.", day="YYYY-MM-DD"),
]
RULES = "Be brief and polite. Never guess a number. Answer questions about money only after calling get_balance. "


def request(role, *said, tools=True):
    system = {"role": "system", "content": f"You are the {role} desk of a clinic. " + RULES * 8}
    history = [{"role": "user" if n % 2 == 0 else "assistant", "content": text} for n, text in enumerate(said)]
    return ChatRequest([system, *history], TOOLS if tools else [], role=role)


@asynccontextmanager
async def running(folder, roles=("front", "billing"), **changes):
    """A running model with its cache in `folder`, and the progress lines."""
    clock, lines = RealClock(), []
    spec = BUILT_IN[EMBEDDED_MODEL].model_copy(update=changes)
    model = await EmbeddedChatModel.start(
        spec, name=EMBEDDED_MODEL, clock=clock, roles=roles, on_progress=lines.append, cache_folder=folder
    )
    try:
        yield model, lines
    finally:
        await model.aclose()
        clock.close()
    assert not model.server.alive
    assert not any(clock.in_flight.values())


async def ask(model, asked):
    return [event async for event in model.stream(asked)]


def of(kind, events):
    return [e for e in events if isinstance(e, kind)]


def cached_share(events):
    usage = of(UsageReport, events)[-1]
    return usage.cached_tokens / usage.prompt_tokens


async def test_it_answers_with_text_counts_and_times(tmp_path):
    async with running(tmp_path) as (model, lines):
        asked = request("front", "What is the capital of France? Answer in one word.", tools=False)
        events = await ask(model, asked)
        assert "paris" in "".join(e.text for e in of(TextDelta, events)).lower()
        assert isinstance(events[-1], Finished)
        usage = of(UsageReport, events)[0]
        assert usage.prompt_tokens > 100
        assert usage.completion_tokens >= 1
        times = [e.t_s for e in events if not isinstance(e, UsageReport)]
        assert of(StreamOpened, events)[0].sent_s <= times[0]
        assert times == sorted(times)
        assert lines == [f"loading {EMBEDDED_MODEL}"]


async def test_its_tool_call_in_json_text_is_recovered(tmp_path):
    async with running(tmp_path) as (model, _):
        events = await ask(model, request("billing", "I am patient P-7. How much do I owe you?"))
        calls = of(ToolCallReady, events)
        assert calls, f"no tool call but {''.join(e.text for e in of(TextDelta, events))!r}"
        assert (calls[0].name, calls[0].arguments, calls[0].recovered) == ("get_balance", {"patient_id": "P-7"}, True)
        assert '{"name"' not in "".join(e.text for e in of(TextDelta, events))
        assert of(ToolCallStarted, events)[0].t_s < calls[0].t_s


async def test_each_role_keeps_its_prefix_and_the_next_process_restores_it(tmp_path):
    roles = ("front", "billing")
    prefixes = [request(role, "[The caller is on the line.]") for role in roles]
    async with running(tmp_path) as (model, lines):
        await model.warm(prefixes)
        assert sum("for the first time" in line for line in lines) == 2
        for role in (*roles, *roles):
            assert cached_share(await ask(model, request(role, "Hello, who is this?"))) > 0.9
    async with running(tmp_path) as (model, lines):
        await model.warm(prefixes)
        assert sum("restored" in line for line in lines) == 2
        for role in roles:
            assert cached_share(await ask(model, request(role, "Hello, who is this?"))) > 0.9


async def test_a_damaged_file_of_the_cache_is_read_again_and_replaced(tmp_path):
    prefix = request("front", "[The caller is on the line.]")
    async with running(tmp_path, ["front"]) as (model, _):
        await model.warm([prefix])
    (saved,) = tmp_path.glob("*.slot")
    whole = saved.stat().st_size
    saved.write_bytes(saved.read_bytes()[:1000])
    async with running(tmp_path, ["front"]) as (model, lines):
        await model.warm([prefix])
        assert any("for the first time" in line for line in lines)
        assert cached_share(await ask(model, request("front", "Hello?"))) > 0.9
    assert saved.stat().st_size == whole


async def test_reading_a_prompt_beforehand_has_no_answer_s_limits(tmp_path):
    async with running(tmp_path, timeouts=Timeouts(first_token_s=0.02)) as (model, lines):
        await model.warm([request("front", "Hello")])
        assert "prompt read" in lines[-1]
        with pytest.raises(ModelTimeoutError):
            async for _ in model.stream(request("billing", "How much do I owe?")):
                pass


async def test_a_role_without_slot_is_refused(tmp_path):
    async with running(tmp_path, ["front"]) as (model, _):
        with pytest.raises(HarnessError, match="'billing' has no slot"):
            await ask(model, request("billing", "Hi"))


async def test_leaving_an_answer_early_frees_the_slot_for_the_next(tmp_path):
    """Barge-in: the server stops decoding when the connection closes."""
    async with running(tmp_path, ["front"]) as (model, _):
        events = model.stream(request("front", "Count from one to fifty in words.", tools=False))
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
        following = await ask(model, request("front", "Say yes.", tools=False))
        assert of(TextDelta, following)
