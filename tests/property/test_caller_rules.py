"""Whatever the agent says: nothing forbidden is said, the call ends, and the caller leaves only as it may."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.small_brief import small_brief

from callm_voice.caller.hearing import asks_to_confirm
from callm_voice.caller.patience import Patience
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.caller.text import TextDialogue, talk
from callm_voice.caller.values import HeardDate, dates_in

pytestmark = pytest.mark.property

PHRASES = (
    "How can I help you?", "Thank you.", "You owe $80.00.", "Shall I move it to Monday?", "It's moved.", "Goodbye.",
    "One moment, please.", "Sorry?", "What is your date of birth?", "Is your number 212-555-0100?", "Spell your name.",
    "Is your number 212-555-0199?", "Is that right?", "Friday?", "Shall I have it moved?", "Are you still there?", "",
    "Can I put you on hold for a moment?", "Would you like a callback?", "I see.", "Anything else?",
)  # fmt: skip
FLOORS = st.lists(st.sampled_from(PHRASES), min_size=1, max_size=3).map(" ".join) | st.text(max_size=40)
BEATS = sum(beat.repeat for beat in small_brief().beats)
LIMITS = Patience()
BOUND = (BEATS + 2) * (2 * LIMITS.max_repeats + LIMITS.max_answers + LIMITS.max_prods + 1)


def hold_call(floors: list[str]) -> TextDialogue:
    """A whole call; the agent goes through its floors again and again."""
    turn = iter(range(10**6))

    async def agent(_: str | None) -> str:
        return floors[next(turn) % len(floors)]

    return asyncio.run(talk(ScriptedCaller(small_brief()), agent, max_turns=BOUND + 1))


@settings(deadline=None)
@given(st.lists(FLOORS, min_size=1, max_size=8))
def test_nothing_forbidden_is_ever_said(floors: list[str]) -> None:
    lifted = False
    for turn in hold_call(floors).turns:
        if turn.party == "caller":
            lifted = lifted or turn.beat == "ask_move"
            assert lifted or not re.search(r"\bfriday\b", turn.text, re.IGNORECASE)
            assert not re.search(r"\bcall ?back\b", turn.text, re.IGNORECASE)


@settings(deadline=None)
@given(st.lists(FLOORS, min_size=1, max_size=8))
def test_the_caller_always_ends_the_call_within_its_bound(floors: list[str]) -> None:
    assert hold_call(floors).end == "caller_hangup"


@settings(deadline=None)
@given(st.lists(FLOORS, min_size=1, max_size=8))
def test_it_never_says_goodbye_to_a_question_that_wants_a_yes(floors: list[str]) -> None:
    turns = hold_call(floors).turns
    for before, turn in pairwise(turns):
        assert not (turn.beat == "leave" and asks_to_confirm(before.text))


@settings(deadline=None)
@given(st.lists(FLOORS, min_size=1, max_size=8))
def test_the_opening_beat_is_the_first_line_and_every_beat_keeps_its_number(floors: list[str]) -> None:
    said = [turn for turn in hold_call(floors).turns if turn.party == "caller"]
    repeats = {beat.id: beat.repeat for beat in small_brief().beats}
    assert not said or said[0].beat == "opening" or said[0].text.startswith("Hello?")
    for name, limit in repeats.items():
        assert sum(turn.why.startswith(f"beat {name}") for turn in said) <= limit


@settings(deadline=None)
@given(st.lists(FLOORS, min_size=1, max_size=8))
def test_the_same_agent_gets_the_same_call(floors: list[str]) -> None:
    assert hold_call(floors) == hold_call(floors)


@settings(deadline=None)
@given(st.dates(min_value=dt.date(1900, 1, 1)))
def test_a_date_in_words_is_heard_as_itself(date: dt.date) -> None:
    text = f"{date:%B} {date.day}, {date.year:04d}"
    assert dates_in(f"born {text}, right?") == [HeardDate(date.year, date.month, date.day)]
