"""The desk's turn loop: text, tools, handoffs, empty answers, limits, barge-in."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.desk_call import desk_call, problems_of, take
from support.scripted_model import answer, call

from callm_voice.core.errors import HarnessError
from callm_voice.core.events import Failed, HandedOff, InferenceEnded, InferenceStarted, ToolFinished, ToolStarted
from callm_voice.desk.agent import EMPTY_REPLY_NOTE, GREETING_NOTE, UNHEARD_NOTE, AgentLimits
from callm_voice.desk.outputs import RoleChanged, Say, SayEnd, ToolRan
from callm_voice.llm.types import UsageReport

pytestmark = pytest.mark.unit
FIND = call("find_customer", full_name="Otto Sample", mobile="+12125550102")
TO_BAKING = call("transfer_to_baking", next_intent="order")
ORDER = call("place_order", item="challah", day="2026-08-21", quantity=2)


def causes(made):
    return [e.cause for e in made.log.of(InferenceStarted)]


async def test_the_greeting_answers_a_note_and_both_stay_in_the_history():
    with desk_call(answer("Crumb and Co, ", "hello.")) as made:
        outputs = [o async for o in made.agent.greet(0)]
        assert outputs == [Say(1, "front", "Crumb and Co, "), Say(1, "front", "hello."), SayEnd(1)]
        assert made.agent.messages() == [
            {"role": "user", "content": GREETING_NOTE},
            {"role": "assistant", "content": "Crumb and Co, hello."},
        ]
        assert causes(made) == ["greeting"]


async def test_a_whole_call_with_tools_and_a_handoff_is_traced():
    with desk_call(
        answer("Who is calling?"), answer("Let me look. ", FIND), answer(TO_BAKING), answer(ORDER), answer("Ordered.")
    ) as made:
        await made.hear("Two challahs please.", "Otto Sample, 212 555 0102.")
        trace = made.agent.trace()
        assert [(c.role, c.name, c.ok) for c in trace.calls] == [
            ("front", "find_customer", True), ("front", "transfer_to_baking", True), ("baking", "place_order", True),
        ]  # fmt: skip
        assert [(h.from_role, h.to_role) for h in trace.handoffs] == [("front", "baking")]
        assert causes(made) == ["caller_turn", "caller_turn", "tool_result", "handoff", "tool_result"]
        assert made.database.dump()["orders"][-1]["quantity"] == 2
        assert made.model.unplayed == 0


async def test_text_is_flushed_before_its_tools_run():
    with desk_call(answer("Let me look. ", FIND), answer("Hello Otto.")) as made:
        outputs = await made.hear("It is Otto.")
        assert [type(o) for o in outputs] == [Say, SayEnd, ToolRan, Say, SayEnd]


async def test_text_is_flushed_when_a_tool_call_begins_and_not_when_its_arguments_are_complete():
    with desk_call(answer("Let me look. ", FIND), answer("Hello Otto.")) as made:
        outputs = made.agent.respond("It is Otto.", 1)
        assert [type(await anext(outputs)) for _ in range(2)] == [Say, SayEnd]
        assert (made.model.open_streams, made.log.of(InferenceEnded)) == (1, [])
        await outputs.aclose()


async def test_text_behind_a_tool_call_is_flushed_too():
    with desk_call(answer("Let me look. ", FIND, "I have it."), answer("Hello Otto.")) as made:
        outputs = await made.hear("It is Otto.")
        assert [type(o) for o in outputs] == [Say, SayEnd, Say, SayEnd, ToolRan, Say, SayEnd]
        assert [o.text_delta for o in outputs if isinstance(o, Say)] == ["Let me look. ", "I have it.", "Hello Otto."]


async def test_a_handoff_swaps_prompt_and_tools_while_the_history_stays():
    with desk_call(answer(TO_BAKING), answer("What shall we bake?")) as made:
        outputs = await made.hear("An order, please.")
        before, after = made.model.requests
        assert RoleChanged("front", "baking") in outputs
        assert made.agent.role == after.role == "baking"
        assert after.messages[0]["content"].startswith("You take orders for Crumb and Co.")
        assert "place_order" in {t["function"]["name"] for t in after.tools}
        assert after.messages[1 : len(before.messages)] == before.messages[1:]
        assert [m["role"] for m in after.messages] == ["system", "user", "assistant", "tool"]
        assert [(h.from_role, h.to_role) for h in made.log.of(HandedOff)] == [("front", "baking")]


async def test_after_a_handoff_the_rest_of_the_answer_is_held_to_the_new_role():
    with desk_call(answer(TO_BAKING, FIND, call("list_orders")), answer("Yes?")) as made:
        await made.hear("An order.")
        outputs = [c.output for c in made.agent.trace().calls]
        assert outputs[1]["error_code"] == "not_available_in_role"
        assert outputs[2]["ok"] is True
        assert problems_of(made.agent.messages()) == []


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (call("bake_a_house"), "unknown_tool"),
        (call("find_customer", error="cut after 8 characters"), "cut after 8 characters"),
        (call("place_order"), "not_available_in_role"),
        (call("transfer_to_cellar"), "cannot transfer"),
        (call(""), "unknown_tool"),
    ],
)
async def test_a_call_that_cannot_run_is_answered_so_that_the_model_can_go_on(bad, told):
    with desk_call(answer(bad), answer("Sorry about that.")) as made:
        await made.hear("Hello")
        assert told in made.model.requests[1].messages[-1]["content"]
        (traced,) = made.agent.trace().calls
        assert (traced.ok, bool(traced.error)) == (False, True)
        assert problems_of(made.agent.messages()) == []


async def test_arguments_nested_without_end_do_not_break_the_call():
    deep = json.loads("[" * 700 + "]" * 700)
    with desk_call(answer(TO_BAKING, call("quote", at=deep)), answer("Pardon?")) as made:
        await made.hear("Hello")
        assert made.agent.trace().calls[1].output["error_code"] == "invalid_arguments"
        assert made.agent.trace().model_dump_json()
        assert made.log.of(ToolStarted)[1].model_dump_json()


async def test_a_result_without_data_is_still_answered_to_the_model():
    with desk_call(answer(TO_BAKING, call("list_orders")), answer("There is none.")) as made:
        await made.hear("Any orders?")
        assert json.loads(made.agent.messages()[3]["content"])["data"] == {"orders": []}
        assert made.agent.messages()[-1]["content"] == "There is none."


async def test_tool_events_frame_the_call():
    with desk_call(answer(FIND), answer("Hello.")) as made:
        await made.hear("Otto.")
        (started,), (finished,) = made.log.of(ToolStarted), made.log.of(ToolFinished)
        assert (started.name, started.args["full_name"], started.inference_id) == ("find_customer", "Otto Sample", 1)
        assert (finished.call_id, finished.ok, finished.duration_ms >= 0) == (started.call_id, True, True)


async def test_call_ids_are_unique_in_the_call_whatever_the_server_says():
    twice = call("find_customer", "id1", full_name="A", mobile="+12125550102")
    with desk_call(answer(twice, twice, call("nope")), answer(twice), answer("Hm.")) as made:
        await made.hear("Otto.")
        ids = [c.call_id for c in made.agent.trace().calls]
        assert ids[0] == "id1"
        assert len(set(ids)) == 4
        assert all(i == "id1" or (len(i) == 9 and i.isalnum()) for i in ids)


@pytest.mark.parametrize("nothing", ["", " \n"])
async def test_an_empty_answer_is_asked_again_once_with_a_note_that_does_not_stay(nothing):
    with desk_call(answer(nothing), answer("Here I am.")) as made:
        await made.hear("Hello?")
        assert made.model.requests[1].messages[-1]["content"].endswith(EMPTY_REPLY_NOTE)
        assert [m["content"] for m in made.agent.messages()] == ["Hello?", "Here I am."]
        assert made.log.of(Failed) == []


async def test_a_second_empty_answer_is_noted_and_the_desk_is_silent():
    with desk_call(answer(), answer(), answer("At last.")) as made:
        assert await made.hear("Hello?") == []
        (note,) = made.log.of(Failed)
        assert (note.stage, note.fault) == ("desk", "model")
        await made.hear("Anybody there?")
        assert [m["content"] for m in made.agent.messages()] == ["Hello?\nAnybody there?", "At last."]


async def test_an_empty_answer_after_a_tool_is_asked_again():
    with desk_call(answer("Looking. ", FIND), answer(), answer("Hello Otto.")) as made:
        await made.hear("Otto.")
        assert made.model.requests[2].messages[-1] == {"role": "user", "content": EMPTY_REPLY_NOTE}
        assert causes(made) == ["caller_turn", "tool_result", "tool_result"]
        assert problems_of(made.agent.messages()) == []


async def test_a_model_that_goes_round_in_circles_is_stopped_and_the_next_turn_works():
    script = [answer(call("nope"))] * 3 + [answer("Hello.")]
    with desk_call(*script, limits=AgentLimits(inferences_per_turn=3)) as made:
        await made.hear("Hello?")
        assert "stopped after 3 inferences" in made.log.of(Failed)[0].message
        await made.hear("Still there?")
        assert made.agent.messages()[-1]["content"] == "Hello."
        assert problems_of(made.agent.messages()) == []


async def test_tool_calls_over_the_limit_are_answered_and_not_run():
    with desk_call(answer(FIND, FIND), answer("Hm."), limits=AgentLimits(tool_calls_per_call=1)) as made:
        await made.hear("Otto.")
        first, second = made.agent.trace().calls
        assert (first.ok, second.output["error_code"]) == (True, "too_many_calls")


async def test_barge_in_while_text_streams_keeps_what_was_played():
    with desk_call(answer("One two ", "three four."), answer("Yes?")) as made:
        await take(made.agent.respond("Count.", 1), 1)
        made.agent.interrupted({1: "One"})
        await made.hear("Stop.")
        assert [m["content"] for m in made.agent.messages()] == ["Count.", "One", "Stop.", "Yes?"]


async def test_barge_in_before_anything_was_played_leaves_only_the_callers_words():
    with desk_call(answer("One two ", "three four."), answer("Yes?")) as made:
        await take(made.agent.respond("Count.", 1), 1)
        made.agent.interrupted({})
        await made.hear("Stop.")
        assert [m["content"] for m in made.agent.messages()] == ["Count.\nStop.", "Yes?"]


async def test_barge_in_after_a_tool_ran_keeps_call_and_result():
    with desk_call(answer("Looking. ", FIND, FIND), answer("Yes?")) as made:
        await take(made.agent.respond("Otto.", 1), 3)
        made.agent.interrupted({})
        assert [m["role"] for m in made.agent.messages()] == ["user", "assistant", "tool"]
        assert len(made.agent.trace().calls) == 1, "the second call of the answer had not run"
        await made.hear("Go on.")
        assert problems_of(made.model.requests[-1].messages[1:]) == []


async def test_nothing_new_heard_answers_what_stands_open():
    with desk_call(answer("One two."), answer("One two three.")) as made:
        await take(made.agent.respond("Count.", 1), 1)
        made.agent.interrupted({})
        _ = [o async for o in made.agent.respond(None, 2)]
        assert made.model.requests[1].messages[1:] == [{"role": "user", "content": "Count."}]


async def test_nothing_heard_and_nothing_open_says_so_to_the_model():
    with desk_call(answer("Hello."), answer("Pardon?"), answer("Yes?")) as made:
        await made.hear("Hi")
        _ = [o async for o in made.agent.respond(None, 2)]
        _ = [o async for o in made.agent.respond("  ", 3)]
        assert [m["content"] for m in made.agent.messages() if m["role"] == "user"] == [
            "Hi",
            UNHEARD_NOTE,
            UNHEARD_NOTE,
        ]


async def test_a_turn_that_was_left_without_closing_it_is_closed_by_the_next():
    with desk_call(answer("One ", "two."), answer("Yes?")) as made:
        left = made.agent.respond("Count.", 1)
        await anext(left)
        await made.hear("Stop.")
        assert [e.interrupted for e in made.log.of(InferenceEnded)] == [True, False]
        await left.aclose()


async def test_two_turns_at_once_are_our_own_fault():
    with desk_call(answer("One ", "two."), answer("Yes?")) as made:
        task = asyncio.create_task(made.hear("Count."))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(HarnessError, match="while another one runs"):
            await made.hear("At the same time.")
        await task


async def test_usage_is_summed_and_unknown_where_a_server_did_not_say():
    with desk_call(answer("a", usage=UsageReport(0, 10, None, 1)), answer("b", usage=UsageReport(0, 20, 5, 2))) as made:
        await made.hear("Hello", "Hello again")
        usage = made.agent.usage()
        assert (usage.inferences, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (2, 30, None, 3)


async def test_an_interrupted_inference_does_not_make_the_counts_unknown():
    with desk_call(answer("a ", "b"), answer("c", usage=UsageReport(0, 20, 5, 2))) as made:
        await take(made.agent.respond("Hello", 1), 1)
        await made.hear("Stop")
        assert (made.agent.usage().inferences, made.agent.usage().prompt_tokens) == (2, 20)


async def test_before_anything_was_asked_counts_are_unknown():
    with desk_call() as made:
        assert made.agent.usage().prompt_tokens is None
        assert made.agent.trace().calls == ()


async def test_every_role_is_warmed_with_its_own_prefix_start_role_first():
    with desk_call(answer("Hello.")) as made:
        warm = made.agent.requests_to_warm()
        assert [r.role for r in warm] == ["front", "baking"]
        assert all(r.max_tokens == 1 for r in warm)
        _ = [o async for o in made.agent.greet(0)]
        assert (warm[0].messages, warm[0].tools) == (made.model.requests[0].messages, made.model.requests[0].tools)
