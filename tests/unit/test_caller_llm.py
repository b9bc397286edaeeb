"""The caller that a model plays: what it is shown, what it may say, when it may leave."""

from __future__ import annotations

import pytest
from support.scripted_model import ScriptedModel, answer, call
from support.small_brief import small_brief

from callm_voice.caller.asking import spoken_only
from callm_voice.caller.base import CallerAction, HangUp, Say, Wait
from callm_voice.caller.llm import LlmCaller
from callm_voice.caller.patience import PROD
from callm_voice.core.errors import HarnessError, ModelTimeoutError
from callm_voice.llm.types import UsageReport

pytestmark = pytest.mark.unit

OPENING = "Hi, I have a question about my bill."


async def opened(model: ScriptedModel) -> LlmCaller:
    """A caller that has said its opening."""
    caller = LlmCaller(small_brief(), model)
    await say(caller, "How can I help you?")
    return caller


async def say(caller: LlmCaller, floor: str) -> CallerAction:
    """One floor of the agent's; what the caller answers is said."""
    action = await caller.heard(floor)
    if isinstance(action, Say):
        caller.said(action.text, beat=action.beat)
    return action


async def test_the_opening_is_the_brief_s_and_needs_no_model() -> None:
    model = ScriptedModel()
    action = await LlmCaller(small_brief(), model).heard("How can I help you?")
    assert isinstance(action, Say)
    assert (action.text, model.requests) == (OPENING, [])


async def test_the_opening_stays_in_the_history_as_its_own_words() -> None:
    model = ScriptedModel(answer("How much do I owe?"))
    caller = await opened(model)
    await say(caller, "Sure, what is it?")
    shown = [(m["role"], m["content"]) for m in model.requests[0].messages[1:]]
    assert shown == [("user", "How can I help you?"), ("assistant", OPENING), ("user", "Sure, what is it?")]


async def test_the_system_prompt_has_traits_script_and_rules() -> None:
    system = LlmCaller(small_brief(), ScriptedModel()).history[0]
    assert system["role"] == "system"
    for part in ("mobile: 212-555-0100", "Ask what you owe.", "Only once the balance is known."):
        assert part in system["content"]


async def test_it_is_asked_with_the_tools_hang_up_and_wait() -> None:
    model = ScriptedModel(answer("Fine."))
    await say(await opened(model), "Okay?")
    assert [tool["function"]["name"] for tool in model.requests[0].tools] == ["hang_up", "wait"]


async def test_what_it_really_said_goes_into_the_history_not_what_it_meant_to_say() -> None:
    model = ScriptedModel(answer("My name is Nora Quill."), answer("Yes."))
    caller = await opened(model)
    await caller.heard("Your name?")
    caller.said("My name is", cut=True)
    await caller.heard("Sorry?")
    assert [m["content"] for m in model.requests[1].messages[-2:]] == ["My name is", "Sorry?"]


async def test_a_proposal_that_was_not_said_leaves_no_trace() -> None:
    model = ScriptedModel(answer("One."), answer("Two."))
    caller = await opened(model)
    await caller.heard("First.")
    await caller.heard("First. Second?")
    assert [m["content"] for m in model.requests[1].messages[2:]] == [OPENING, "First. Second?"]


async def test_a_forbidden_line_is_asked_for_again_with_the_rule_named() -> None:
    model = ScriptedModel(answer("And Friday's visit?"), answer("How much do I owe?"))
    action = await say(await opened(model), "Yes?")
    assert isinstance(action, Say)
    assert action.text == "How much do I owe?"
    assert "Only once the balance is known." in model.requests[1].messages[-1]["content"]
    assert "asked again: never" in action.why


async def test_the_second_try_s_forbidden_sentence_is_dropped_and_noted() -> None:
    model = ScriptedModel(answer("Friday?"), answer("How much do I owe? And move Friday."))
    action = await say(await opened(model), "Yes?")
    assert isinstance(action, Say)
    assert action.text == "How much do I owe?"
    assert "dropped 'And move Friday.'" in action.why


async def test_if_nothing_is_left_it_waits() -> None:
    model = ScriptedModel(answer("Friday?"), answer("Friday!"))
    assert isinstance(await say(await opened(model), "Yes?"), Wait)


async def test_a_rule_is_lifted_once_the_agent_said_what_its_beat_waits_for() -> None:
    model = ScriptedModel(answer("I also need Friday's visit moved."))
    action = await say(await opened(model), "You owe $80.00. Anything else?")
    assert isinstance(action, Say)
    assert action.text == "I also need Friday's visit moved."


async def test_it_may_not_hang_up_before_its_goal_was_heard_done() -> None:
    model = ScriptedModel(answer("Okay, bye.", call("hang_up", reason="tired")))
    action = await say(await opened(model), "Your balance is a lot. Anything else?")
    assert isinstance(action, Say)
    assert not action.hang_up_after
    assert "hang-up refused: its goal was not heard to be done" in action.why


async def test_it_may_not_hang_up_while_it_is_asked_to_confirm() -> None:
    model = ScriptedModel(answer(call("hang_up", reason="done")))
    action = await say(await opened(model), "Shall I have it moved to Monday?")
    assert isinstance(action, Wait)
    assert "it is being asked to confirm" in action.why


async def test_it_says_goodbye_and_hangs_up_when_it_is_done() -> None:
    model = ScriptedModel(answer("Thanks, bye.", call("hang_up", reason="visit moved")))
    caller = await opened(model)
    action = await say(caller, "It's moved to Monday.")
    assert action == Say("Thanks, bye.", hang_up_after=True, why="hung up: visit moved")
    assert caller.finished == "done"
    assert isinstance(await caller.heard("Hello?"), HangUp)


async def test_a_model_that_insists_on_leaving_is_let_go_as_having_given_up() -> None:
    leave = answer("Bye.", call("hang_up", reason="no use"))
    caller = await opened(ScriptedModel(leave, leave, leave))
    for _ in range(2):
        assert isinstance(await say(caller, "No."), Say)
    assert await say(caller, "No.") == HangUp("gives up: no use")
    assert caller.finished == "gave_up"


async def test_a_model_that_says_the_same_over_and_over_has_given_up() -> None:
    caller = await opened(ScriptedModel(*[answer("I don't know.")] * 4))
    for _ in range(3):
        assert isinstance(await say(caller, "Yes?"), Say)
    assert await say(caller, "Yes?") == HangUp('gives up: the model would say "I don\'t know." for the 4th time')
    assert caller.finished == "gave_up"


async def test_its_prefix_is_what_each_request_begins_with() -> None:
    model = ScriptedModel(answer("Fine."))
    caller = await opened(model)
    await say(caller, "Okay?")
    prefix = caller.prefix()
    assert list(model.requests[0].messages[:1]) == list(prefix.messages)
    assert model.requests[0].tools == prefix.tools


async def test_the_wait_tool_waits_and_so_does_a_hold() -> None:
    model = ScriptedModel(answer(call("wait", reason="they look it up")))
    caller = await opened(model)
    assert await say(caller, "Well, now.") == Wait("they look it up")
    assert await say(caller, "One moment, please.") == Wait("on hold")
    assert model.unplayed == 0


async def test_silence_needs_no_model() -> None:
    caller = await opened(ScriptedModel())
    assert isinstance(await caller.silence(7000), Wait)
    prod = await caller.silence(8000)
    assert isinstance(prod, Say)
    assert prod.text == PROD
    caller.said(PROD)
    assert isinstance(await caller.silence(22_000), HangUp)
    assert caller.finished == "gave_up"


async def test_usage_is_the_sum_over_its_own_inferences() -> None:
    first = UsageReport(0.0, prompt_tokens=100, cached_tokens=0, completion_tokens=7)
    second = UsageReport(0.0, prompt_tokens=120, cached_tokens=90, completion_tokens=5)
    caller = await opened(ScriptedModel(answer("A.", usage=first), answer("B.", usage=second)))
    await say(caller, "Yes?")
    await say(caller, "And?")
    usage = caller.usage()
    assert (usage.inferences, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (2, 220, 90, 12)


async def test_a_count_that_the_server_left_out_is_unknown_not_zero() -> None:
    known = UsageReport(0.0, prompt_tokens=100, completion_tokens=7)
    caller = await opened(ScriptedModel(answer("A.", usage=known), answer("B.")))
    await say(caller, "Yes?")
    assert (caller.usage().prompt_tokens, caller.usage().cached_tokens) == (100, None)
    await say(caller, "And?")
    assert caller.usage().prompt_tokens is None


async def test_before_any_inference_nothing_was_used() -> None:
    usage = LlmCaller(small_brief(), ScriptedModel()).usage()
    assert (usage.inferences, usage.prompt_tokens) == (0, None)


async def test_a_model_error_is_passed_on_and_its_stream_is_closed() -> None:
    model = ScriptedModel([ModelTimeoutError("no first token within 20 s")])
    with pytest.raises(ModelTimeoutError):
        await say(await opened(model), "Yes?")
    assert model.open_streams == 0


async def test_being_told_that_it_said_something_unasked_is_a_harness_error() -> None:
    with pytest.raises(HarnessError):
        LlmCaller(small_brief(), ScriptedModel()).said("Hello")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('Caller: "Yes, please."', "Yes, please."),
        ("*sighs* It's Nora. [pause]", "It's Nora."),
        ("One.\nTwo.", "One. Two."),
        ("One. Two. Three. Four.", "One. Two. Three."),
        ("My number is 212-555-0100.", "My number is 212-555-0100."),
    ],
)
def test_only_what_a_person_would_say_is_spoken(text: str, said: str) -> None:
    assert spoken_only(text)[0] == said
