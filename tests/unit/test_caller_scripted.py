"""The scripted caller: which action follows which words."""

from __future__ import annotations

from typing import Any

import pytest
from support.small_brief import small_brief

from callm_voice.caller.base import CallerAction, HangUp, Say, Wait
from callm_voice.caller.patience import PROD, Patience
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.core.errors import HarnessError

pytestmark = pytest.mark.unit


async def hear(caller: ScriptedCaller, *floors: str) -> CallerAction:
    """Each floor in turn; what the caller says to all but the last is said."""
    action: CallerAction = Wait()
    for floor in floors:
        if isinstance(action, Say):
            caller.said(action.text, beat=action.beat)
        action = await caller.heard(floor)
    return action


def text(action: CallerAction) -> str:
    assert isinstance(action, Say), action
    return action.text


GREETING = "How can I help you?"
TO_OWE = (GREETING, "I can help with that. What is it about?")
TO_MOVE = (*TO_OWE, "You owe $80.00. What else?")


async def test_the_opening_follows_the_greeting() -> None:
    assert await hear(ScriptedCaller(small_brief()), GREETING) == Say(
        "Hi, I have a question about my bill.", beat="opening", why="opening"
    )


async def test_without_a_greeting_it_opens_after_some_silence() -> None:
    caller = ScriptedCaller(small_brief())
    assert isinstance(await caller.silence(3000), Wait)
    assert text(await caller.silence(4000)) == "Hi, I have a question about my bill."


async def test_the_first_beat_in_file_order_that_matches_is_played() -> None:
    twice = [
        {"id": "a", "say": "A.", "ask": True, "when": {"any_of": ["blue"]}},
        {"id": "b", "say": "B.", "when": {"any_of": ["blue"]}},
        {"id": "c", "say": "C.", "hang_up": True, "after": ["b"], "when": {"any_of": ["blue"]}},
    ]
    caller = ScriptedCaller(small_brief(beats=twice))
    assert [text(await hear(caller, GREETING, "blue?")), text(await hear(caller, "", "blue?"))] == ["A.", "A."]


async def test_a_beat_that_is_used_up_gives_way_to_the_next() -> None:
    twice = [
        {"id": "a", "say": "A.", "ask": True, "when": {"any_of": ["blue"]}},
        {"id": "b", "say": "B.", "when": {"any_of": ["blue"]}},
    ]
    caller = ScriptedCaller(small_brief(beats=twice))
    assert text(await hear(caller, GREETING, "blue?", "blue?")) == "B."


async def test_after_and_before_are_kept() -> None:
    beats = [
        {"id": "late", "say": "Late.", "after": ["early"], "when": {"any_of": ["blue"]}},
        {"id": "early", "say": "Early.", "ask": True, "before": ["late"], "repeat": 9, "when": {"any_of": ["blue"]}},
    ]
    caller = ScriptedCaller(small_brief(beats=beats))
    assert text(await hear(caller, GREETING, "blue?")) == "Early."
    assert text(await hear(caller, "", "blue?")) == "Early."
    caller.said("Early.", beat="early")
    assert text(await hear(caller, "blue?")) == "Late."


async def test_what_was_proposed_but_not_said_does_not_count() -> None:
    caller = ScriptedCaller(small_brief())
    assert text(await caller.heard(GREETING)) == text(await caller.heard(f"{GREETING} Hello?"))
    assert caller.played == {}


async def test_an_utterance_that_was_cut_does_not_move_the_script() -> None:
    caller = ScriptedCaller(small_brief())
    await hear(caller, *TO_OWE)
    caller.said("How much", cut=True, beat="ask_owe")
    assert text(await caller.heard("Yes? How can I help?")) == "How much do I owe?"


async def test_being_told_that_it_said_something_unasked_is_a_harness_error() -> None:
    with pytest.raises(HarnessError, match="had nothing to say"):
        ScriptedCaller(small_brief()).said("Hello?")


async def test_it_waits_on_hold_and_answers_when_the_agent_is_back() -> None:
    caller = ScriptedCaller(small_brief())
    held = "Thank you. One moment, please."
    assert await hear(caller, *TO_OWE, held) == Wait("on hold")
    assert text(await caller.heard(f"{held} You owe $80.00.")) == "I also need Friday's visit moved."


async def test_words_from_before_a_hold_still_count_after_it() -> None:
    caller = ScriptedCaller(small_brief())
    held = "You owe $80.00. Let me pull up the rest."
    assert isinstance(await hear(caller, *TO_OWE, held), Wait)
    assert text(await caller.heard(f"{held} Okay, what else?")) == "I also need Friday's visit moved."


async def test_a_hold_that_never_ends_is_answered_by_the_beat_that_matched_it() -> None:
    caller = ScriptedCaller(small_brief())
    await hear(caller, *TO_OWE, "You owe $80.00. Let me pull up the rest.")
    assert isinstance(await caller.silence(7000), Wait)
    assert text(await caller.silence(8000)) == "I also need Friday's visit moved."


async def test_nothing_is_said_at_once_to_words_that_ask_nothing() -> None:
    caller = ScriptedCaller(small_brief())
    assert await hear(caller, *TO_OWE, "I see the account.") == Wait("nothing was asked")
    assert isinstance(await caller.silence(4000), Wait)
    assert text(await caller.silence(5000)) == "I'd like to know how much I owe."


async def test_a_question_that_nothing_matches_gets_the_current_ask_again() -> None:
    caller = ScriptedCaller(small_brief())
    action = await hear(caller, *TO_MOVE, "Do you like the weather?")
    assert action == Say(
        "Please move Friday's visit.", beat="ask_move", why="repeats its ask: nothing in the script matches"
    )


async def test_before_any_ask_was_played_the_opening_is_the_ask() -> None:
    caller = ScriptedCaller(small_brief())
    assert text(await hear(caller, GREETING, "Is it raining?")) == "Hi, I have a question about my bill."


async def test_after_three_repeats_in_a_row_it_gives_up_with_a_reason() -> None:
    caller = ScriptedCaller(small_brief())
    rain = "Is it raining?"
    action = await hear(caller, *TO_OWE, rain, rain, rain, rain)
    assert action == HangUp("gives up: nothing in the script matches, after 3 repeats of its ask")
    assert caller.finished == "gave_up"


async def test_a_beat_in_between_makes_it_patient_again() -> None:
    caller = ScriptedCaller(small_brief())
    rain = "Is it raining?"
    assert isinstance(await hear(caller, *TO_OWE, rain, rain, rain, "You owe $80.00. Okay?", rain), Say)


async def test_it_has_more_patience_while_it_is_asked_to_confirm() -> None:
    caller = ScriptedCaller(small_brief())
    assert isinstance(await hear(caller, *TO_OWE, *["Would you like to wait, is that okay?"] * 6), Say)
    assert isinstance(await hear(caller, "", *["Would you like to wait, is that okay?"]), Say)


async def test_a_hang_up_beat_is_not_played_while_it_is_asked_to_confirm() -> None:
    caller = ScriptedCaller(small_brief())
    action = await hear(caller, *TO_MOVE, "Shall I have it moved to Monday?")
    assert isinstance(action, Say)
    assert (action.beat, action.hang_up_after) == ("agree", False)
    assert "leave skipped: it is being asked to confirm" in action.why


async def test_it_leaves_by_its_hang_up_beat_once_the_thing_is_done() -> None:
    caller = ScriptedCaller(small_brief())
    action = await hear(caller, *TO_MOVE, "It's moved. Anything else?")
    assert isinstance(action, Say)
    assert action.hang_up_after
    assert caller.finished == "no"
    caller.said(action.text, beat=action.beat)
    assert caller.finished == "done"


async def test_after_it_left_it_says_nothing_any_more() -> None:
    caller = ScriptedCaller(small_brief())
    assert isinstance(await hear(caller, *TO_MOVE, "It's moved.", "Wait, one more question?"), HangUp)
    assert isinstance(await caller.silence(9000), HangUp)


async def test_a_beat_without_words_hangs_up_or_waits() -> None:
    beats = [
        {"id": "go", "say": "", "hang_up": True, "when": {"any_of": ["closed"]}},
        {"id": "pause", "say": "", "when": {"any_of": ["music"]}},
    ]
    caller = ScriptedCaller(small_brief(beats=beats))
    assert await hear(caller, GREETING, "Here is some music?") == Wait("beat pause")
    assert await caller.heard("We are closed?") == HangUp("beat go")
    assert caller.finished == "done"


async def test_a_forbidden_line_is_skipped_and_the_skip_is_noted() -> None:
    beats = [
        {"id": "early", "say": "About Friday.", "when": {"any_of": ["weather"]}},
        {"id": "ask_move", "say": "Move Friday.", "ask": True, "when": {"any_of": ["bill"]}},
    ]
    action = await hear(ScriptedCaller(small_brief(beats=beats)), GREETING, "How is the weather?")
    assert text(action) == "Hi, I have a question about my bill."
    assert "early skipped: never '\\\\bfriday\\\\b' until ask_move (Only once the balance is known.)" in action.why


async def test_a_general_answer_is_forbidden_like_any_other_line() -> None:
    caller = ScriptedCaller(small_brief(never=[{"pattern": "212"}]))
    action = await hear(caller, *TO_OWE, "What is your mobile number?")
    assert text(action) == "I'd like to know how much I owe."


async def test_a_wrong_read_back_is_corrected_before_any_beat() -> None:
    caller = ScriptedCaller(small_brief())
    action = await hear(caller, *TO_MOVE, "Shall I write that you were born February 8, 1980, is that right?")
    assert text(action) == "No, my date of birth is February 9, 1980."


async def test_a_beat_that_wants_no_words_gives_way_to_its_own_answers() -> None:
    beats = [{"id": "any", "say": "How much do I owe?", "ask": True}, {"id": "end", "say": "Bye.", "hang_up": True}]
    caller = ScriptedCaller(small_brief(beats=beats))
    assert text(await hear(caller, GREETING, "What is your zip code?")) == "My zip code is 10001."
    assert text(await hear(caller, "", "So what is it about?")) != ""
    assert caller.played == {"opening": 1}


async def test_silence_is_broken_by_two_prods_then_the_ask_and_then_it_leaves() -> None:
    caller = ScriptedCaller(small_brief())
    action = await hear(caller, *TO_OWE)
    caller.said(text(action), beat="ask_owe")
    said = []
    for _ in range(3):
        assert isinstance(await caller.silence(7000), Wait)
        action = await caller.silence(8000)
        said.append(text(action))
        caller.said(said[-1], beat=action.beat if isinstance(action, Say) else "")
    assert said == [PROD, PROD, "I'd like to know how much I owe."]
    assert isinstance(await caller.silence(5000), Wait)
    assert await caller.silence(6000) == HangUp("gives up: the line stayed silent (30 s)")
    assert caller.finished == "gave_up"


async def test_who_had_to_ask_too_often_whether_anybody_is_there_leaves_and_says_so() -> None:
    caller = ScriptedCaller(small_brief(), patience=Patience(max_prods=3))
    action = await hear(caller, *TO_OWE)
    caller.said(text(action), beat="ask_owe")
    for _ in range(3):
        assert text(await caller.silence(8000)) == PROD
        caller.said(PROD)
        await caller.heard("Um.", interrupted=True)
    assert await caller.silence(1000) == HangUp("gives up: had to ask 3 times whether anybody is there")


async def test_the_agent_s_voice_begins_the_silence_anew() -> None:
    caller = ScriptedCaller(small_brief(), patience=Patience(statement_wait_ms=60_000))
    await hear(caller, GREETING, "I see.")
    caller_said = await caller.silence(8000)
    caller.said(text(caller_said))
    await caller.heard("I am here.")
    assert text(await caller.silence(8000)) == PROD


async def test_a_barge_in_is_planned_when_the_floor_before_matched() -> None:
    beats: list[dict[str, Any]] = [
        {"id": "cut_in", "say": "No, wait.", "barge_in_ms": 800, "when": {"any_of": ["policy"]}},
        {"id": "ask", "say": "How much?", "ask": True, "repeat": 9},
    ]
    caller = ScriptedCaller(small_brief(beats=beats))
    assert text(await hear(caller, GREETING, "Our policy is long. Okay?")) == "How much?"
    caller.said("How much?", beat="ask")
    plan = caller.barge_in()
    assert plan is not None
    assert (plan.after_ms, plan.say.text) == (800, "No, wait.")
    assert await caller.heard("As I said, our", interrupted=True) == Wait("it spoke over this floor itself")
    caller.said("No, wait.", beat="cut_in")
    assert caller.played["cut_in"] == 1
    assert caller.barge_in() is None


async def test_two_callers_with_the_same_brief_say_the_same() -> None:
    first, second = ScriptedCaller(small_brief(), seed=1), ScriptedCaller(small_brief(), seed=2)
    assert await hear(first, *TO_MOVE) == await hear(second, *TO_MOVE)


def test_all_that_is_known_beforehand_can_be_synthesised_beforehand() -> None:
    lines = ScriptedCaller(small_brief()).lines()
    assert lines[0] == "Hi, I have a question about my bill."
    assert {"Please move Friday's visit.", PROD, "My date of birth is February 9, 1980."} <= set(lines)
    assert len(lines) == len(set(lines))
