"""The caller may barge in at any moment: the history stays valid and every inference ends exactly once."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.desk_call import desk_call, problems_of
from support.scripted_model import answer, call

from callm_voice.core.events import InferenceEnded, InferenceStarted, ToolFinished, ToolStarted

pytestmark = pytest.mark.property

PIECES = st.sampled_from(
    [
        "One moment. ", "Hello", " ", "",
        call("find_customer", "same", full_name="Otto Sample", mobile="+12125550102"),
        call("transfer_to_baking", "same"), call("transfer_to_front"), call("list_orders"), call("break_half_way"),
        call("place_order", item="challah", day="2026-08-21"), call("nope"), call("quote", error="cut"),
    ]
)  # fmt: skip
SCRIPTS = st.lists(st.lists(PIECES, max_size=4).map(lambda pieces: answer(*pieces)), min_size=1, max_size=5)
LAST = [answer("The end.")] * 12


def check(made):
    """What must hold whenever nobody is in the middle of a step."""
    assert problems_of(made.agent.messages()) == []
    assert made.model.open_streams == 0
    started = [e.inference_id for e in made.log.of(InferenceStarted)]
    assert [e.inference_id for e in made.log.of(InferenceEnded)] == started == sorted(set(started))
    ran = [c.call_id for c in made.agent.trace().calls]
    assert [e.call_id for e in made.log.of(ToolStarted)] == [e.call_id for e in made.log.of(ToolFinished)] == ran
    told = [m["tool_call_id"] for m in made.agent.messages() if m["role"] == "tool"]
    assert told == ran, "a tool that ran stays in the history with its result"
    assert made.agent.role == ([made.agent.trace().start_role, *(h.to_role for h in made.agent.trace().handoffs)][-1])


async def cancelled_after(made, steps):
    """Run a turn as a task and cancel it after so many turns of the event loop; whether it was still running."""
    task = asyncio.create_task(made.hear("Hello"))
    for _ in range(steps):
        await asyncio.sleep(0)
    running = not task.done()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task  # whatever else it raises is a fault
    return running


async def closed_after(made, outputs):
    """Take so many outputs of a turn and close it; whether it had more."""
    turn = made.agent.respond("Hello", 1)
    for _ in range(outputs):
        if await anext(turn, None) is None:
            return False
    await turn.aclose()
    return True


async def interrupt_everywhere(script, interrupt):
    """Interrupt the turn at its first moment, its second, and so on, each time in a new call, then go on."""
    moment, running = 0, True
    while running:
        with desk_call(*script, *LAST) as made:
            running = await interrupt(made, moment)
            check(made)
            made.agent.interrupted({1: "One"} if moment % 2 else {})
            check(made)
            await made.hear("And now?")
            check(made)
            for request in made.model.requests:
                assert request.messages[0]["role"] == "system"
        moment += 1


@settings(max_examples=25, deadline=None)
@given(script=SCRIPTS)
def test_cancelling_at_any_await_leaves_a_valid_history(script):
    asyncio.run(interrupt_everywhere(script, cancelled_after))


@settings(max_examples=25, deadline=None)
@given(script=SCRIPTS)
def test_closing_at_any_output_leaves_a_valid_history(script):
    asyncio.run(interrupt_everywhere(script, closed_after))


def test_a_long_answer_with_everything_can_be_cut_anywhere():
    """The same, for one script in which each kind of step stands."""
    find = call("find_customer", full_name="Otto Sample", mobile="+12125550102")
    order = call("place_order", item="challah", day="2026-08-21")
    script = [answer("Let me ", "look. ", find, call("transfer_to_baking"), order), answer(""), answer("Done. ", order)]
    asyncio.run(interrupt_everywhere(script, cancelled_after))
