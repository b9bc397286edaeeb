"""The caller audit: what is held against a caller, and what is not."""

from __future__ import annotations

import pytest
from support.small_brief import small_brief

from callm_voice.caller.audit import audit_caller
from callm_voice.core.record import TranscriptTurn

pytestmark = pytest.mark.unit

OPENING = "Hi, I have a question about my bill."
OWE = "How much do I owe?"
MOVE = "I also need Friday's visit moved."
BYE = "Thank you, goodbye."
WHOLE = [
    "a: Hello, how can I help?", f"c: {OPENING}",
    "a: Your name and date of birth?", "c: My name is Nora Quill. My date of birth is February 9, 1980.",
    "a: Thank you. What can I do?", f"c: {OWE}",
    "a: You owe $48.00.", f"c: {MOVE}",
    "a: Shall I move it to Monday?", "c: Yes, please.",
    "a: It is moved.", f"c: {BYE}",
]  # fmt: skip


def faults(lines, *, caller="scripted", end="caller_hangup", detail="beat leave", brief=None):
    turns = []
    for n, line in enumerate(lines):
        party, said = line.split(": ", 1)
        turns.append(
            TranscriptTurn(
                party="caller" if party == "c" else "agent", turn_id=n, start_ms=n * 1000.0, end_ms=n * 1000.0 + 900,
                said=said, played=said if party == "a" else None,
            )
        )  # fmt: skip
    return audit_caller(brief or small_brief(), turns, caller=caller, end_reason=end, detail=detail)


def kinds(*args, **options):
    return [fault.kind for fault in faults(*args, **options)]


def model_said(*swaps):
    """The whole call with some of the caller's lines in a model's own words."""
    lines = list(WHOLE)
    for old, new in swaps:
        lines[lines.index(f"c: {old}")] = f"c: {new}"
    return lines


@pytest.mark.parametrize("caller", ["scripted", "llm:some"])
def test_a_call_that_keeps_to_the_brief_has_no_fault(caller):
    assert faults(WHOLE, caller=caller) == ()


# --- forbidden ------------------------------------------------------------------------------------------------------


def test_what_is_never_to_be_said_is_a_fault_with_its_words_and_time():
    found = faults(model_said((OWE, "How much do I owe? Or just call back.")), caller="llm:some")
    assert [(f.kind, f.at_ms) for f in found] == [("forbidden", 5000.0)]
    assert "call back" in found[0].reason


def test_what_is_said_too_early_is_a_fault():
    early = model_said((OWE, "How much do I owe, and can you move Friday's visit?"))
    assert kinds(early, caller="llm:some") == ["forbidden"]
    assert kinds(model_said((OWE, MOVE))) == []  # the scripted beat that lifts the rule may say it itself


def test_the_rule_is_lifted_for_a_model_once_the_desk_said_what_the_beat_waits_for():
    assert kinds(model_said((MOVE, "Okay. And Friday's visit, can it be moved?")), caller="llm:some") == []


def test_a_beat_without_words_lifts_its_rule():
    beats = [b.model_dump() for b in small_brief().beats]
    beats[2] = {**beats[2], "say": "", "repeat_say": "", "ask": False}
    brief = small_brief(beats=beats, never=[{"pattern": "moved", "until": "ask_move"}])
    assert kinds(model_said((MOVE, "Moved?")), brief=brief) == []


# --- left early -----------------------------------------------------------------------------------------------------


def test_leaving_before_the_goal_was_heard_done_is_a_fault():
    assert kinds(WHOLE[:8], caller="llm:some", detail="gives up: the customer is done") == ["left_early"]


@pytest.mark.parametrize(
    "detail",
    [
        "gives up: the line stayed silent (30 s)",
        "gives up: had to ask 6 times whether anybody is there",
        "gives up: nothing in the script matches, after 3 repeats of its ask",
        "gives up: 80 lines said",
    ],
)
def test_the_end_of_patience_is_no_fault(detail):
    assert kinds(WHOLE[:8], detail=detail) == []


@pytest.mark.parametrize(
    "last",
    ["a: I can't do that. Goodbye.", "a: Is there anything else?", "a: You owe $48.00."],
)
def test_leaving_a_desk_that_took_its_leave_or_goes_in_circles_is_no_fault(last):
    assert kinds([*WHOLE[:8], last], caller="llm:some", detail="gives up: they are gone") == []


def test_a_call_that_something_else_ended_was_not_left():
    assert kinds(WHOLE[:8], caller="llm:some", end="max_turns", detail="") == []


def test_a_hang_up_beat_without_words_is_an_end():
    beats = [{**b.model_dump(), **({"say": ""} if b.id == "leave" else {})} for b in small_brief().beats]
    assert kinds(WHOLE[:11], detail="beat leave", brief=small_brief(beats=beats)) == []


def test_the_goal_counts_as_heard_if_one_of_the_desks_floors_said_it():
    lines = [*WHOLE[:10], "a: It is moved.", "a: Anything you want to have moved besides?", f"c: {BYE}"]
    assert kinds(lines, caller="llm:some", detail="hung up: done") == []


# --- invented -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("My name is Nora Quill, born March 9, 1980.", "the date 3/9/1980"),
        ("Nora Quill, and you reach me on 646-555-0177.", "the number 6465550177"),
        ("Nora Quill, zip code 10032.", "the zip code 10032"),
        ("That is spelled Q-U-I-N-N.", "the spelling QUINN"),
        ("My name is Harriet Vandermeer.", "the name Harriet Vandermeer"),
    ],
)
def test_a_value_of_its_own_is_a_fault(said, what):
    found = faults(
        model_said(("My name is Nora Quill. My date of birth is February 9, 1980.", said)), caller="llm:some"
    )
    assert [f.kind for f in found] == ["invented"]
    assert what in found[0].reason


@pytest.mark.parametrize(
    "said",
    [
        "It's Nora Quill, N-O-R-A, Q-U-I-L-L, born on the 9th of February 1980.",
        "2 1 2, 5 5 5, 0 1 0 0, and my zip code is 10001.",
        "My number is 212-555-0100. 10001.",
        "My name is Nora Quil.",
        "Two one two, five five five, oh one double oh.",
        "The visit on Friday, August 21, 2026.",
    ],
)
def test_its_own_facts_in_other_words_are_not_invented(said):
    found = faults(model_said((MOVE, said)), caller="llm:some", brief=small_brief(never=[]))
    assert [f.kind for f in found if f.kind == "invented"] == []


def test_what_the_desk_said_first_may_be_repeated():
    lines = [*WHOLE[:6], "a: You owe $48.00 on account 4455667788.", "c: Account 4455667788, I see.", *WHOLE[6:]]
    assert kinds(lines, caller="llm:some") == []


# --- never asked, repeated ------------------------------------------------------------------------------------------


def test_leaving_without_a_word_is_a_fault():
    assert "never_asked" in kinds(["a: Hello, how can I help?"], detail="gives up: the line stayed silent (30 s)")


def test_a_model_that_lets_the_time_of_its_request_go_by_is_at_fault():
    chat = [line for n in range(3) for line in (f"a: I see {n}.", f"c: Right, number {n} sounds lovely.")]
    lines = [*WHOLE[:7], "c: Oh, good to know.", *chat]
    assert kinds(lines, caller="llm:some", end="max_turns", detail="") == ["never_asked"]


def test_a_request_in_other_words_was_made():
    chat = [line for n in range(3) for line in (f"a: I see {n}.", f"c: Right, number {n} sounds lovely.")]
    lines = [*WHOLE[:7], "c: Then the visit on Friday, can it go to another day?", *chat]
    assert kinds(lines, caller="llm:some", end="max_turns", detail="") == []


def test_the_same_words_again_and_again_while_the_desk_goes_on_are_a_fault():
    stuck = [line for n in range(4) for line in (f"a: Let us see about number {n}.", "c: I want it moved.")]
    assert kinds([*WHOLE[:8], *stuck], caller="llm:some", end="max_turns", detail="") == ["repeated"]


@pytest.mark.parametrize("floor", ["Sorry, could you repeat that?", "Let us see."])
def test_the_same_words_with_a_cause_are_no_fault(floor):
    stuck = [line for _ in range(4) for line in (f"a: {floor}", "c: I want it moved.")]
    assert kinds([*WHOLE[:8], *stuck], caller="llm:some", end="max_turns", detail="") == []
