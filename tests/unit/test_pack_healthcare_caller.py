"""The healthcare briefs: the scripted caller gets to its end with the oracle's dialogue and with other agents."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from callm_voice.bench.gold import load_gold
from callm_voice.caller.base import Say
from callm_voice.caller.check import check_brief
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.caller.text import TextDialogue, talk
from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.pack import Pack, load_pack
from callm_voice.llm.oracle_script import check_script

pytestmark = pytest.mark.unit

HEALTHCARE = installed_data_dir() / "packs" / "healthcare"
TASKS = sorted(path.stem for path in (HEALTHCARE / "tasks").glob("*.yaml"))
GREETING = "Straus Dermatology, how can I help?"


@cache
def healthcare() -> Pack:
    return load_pack(HEALTHCARE)


class OracleFloors:
    """The agent's floors: what the dialogue says up to each `hear`, and its `else` if the words do not match."""

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self.steps, self.at = steps, 0

    async def turn(self, words: str | None) -> str:
        step = self.steps[self.at]
        if words is not None:
            patterns = step["hear"].get("any_of", [])
            if patterns and not any(re.search(p, words, re.IGNORECASE) for p in patterns):
                return str(step["else"])
            self.at += 1
        said = []
        while self.at < len(self.steps) and "hear" not in self.steps[self.at]:
            said.append(self.steps[self.at].get("say", ""))
            self.at += 1
        return " ".join(part for part in said if part)


@pytest.mark.parametrize("task_id", TASKS)
def test_the_brief_has_no_problem(task_id: str) -> None:
    assert check_brief(healthcare().task(task_id).brief) == []


@pytest.mark.parametrize("task_id", TASKS)
def test_the_dialogue_is_a_script_that_the_oracle_can_play(task_id: str) -> None:
    path = healthcare().task_path(task_id)
    check_script(load_gold(path).dialogue, path)


@pytest.mark.parametrize("task_id", TASKS)
async def test_the_oracles_dialogue_brings_the_caller_to_its_end(task_id: str) -> None:
    caller = ScriptedCaller(healthcare().task(task_id).brief)
    floors = OracleFloors(load_gold(healthcare().task_path(task_id)).dialogue)
    dialogue = await talk(caller, floors.turn, max_turns=50)
    assert caller.finished == "done", dialogue
    lines = _lines(dialogue)
    assert all(turn.beat or turn.why.startswith(("asked for", "confirms", "spells")) for turn in lines), dialogue
    assert not [turn for turn in lines if "repeats its ask" in turn.why], dialogue


def _lines(dialogue: TextDialogue) -> list[Any]:
    return [turn for turn in dialogue.turns if turn.party == "caller"]


async def hear_all(task_id: str, floors: list[tuple[str, str]]) -> None:
    """Let the caller hear each floor and compare its beat (or a piece of its words, in quotes; `-`: it waits)."""
    caller = ScriptedCaller(healthcare().task(task_id).brief)
    for text, expected in floors:
        action = await caller.heard(text)
        if expected == "-":
            assert not isinstance(action, Say), (text, action)
            continue
        assert isinstance(action, Say), (text, action)
        caller.said(action.text, beat=action.beat)
        if expected.startswith("'"):
            assert expected.strip("'") in action.text, (text, action)
        else:
            assert action.beat == expected, (text, action)
    assert caller.finished == "done"


START = [
    (GREETING, "opening"),
    ("Sure. What's your full name?", "'Maria Alvarez'"),
    ("And your date of birth?", "'June 30, 1972'"),
    ("I have Maria Alvarado, born June 30, 1972. Is that right?", "'M-A-R-I-A, A-L-V-A-R-E-Z'"),
    ("So that's Maria Alvarez, A-L-V-A-R-E-Z, born June 30, 1972. Correct?", "'right'"),
]
UP_TO_THE_LINK = [
    *START,
    ("Thanks, Maria. Your balance is $480.00, which is $430.00 for the visit and $50.00 for a no-show.", "ask_why"),
    ("That is what your insurance applied to your deductible.", "ask_plan"),
    ("You qualify for CareCredit. Shall I text you a link to set it up?", "accept_financing"),
    ("I'll send it to 212-555-0133. Is that correct?", "'right'"),
    ("The payment link has been texted to you. Anything else today?", "ask_move"),
]

AGENTS = {
    "tells the balance unasked and offers plans before it looks": [
        *START,
        ("Thank you. You owe $480.00 in total: $430.00 for an office visit and $50.00 for a missed visit.", "ask_why"),
        ("Which charge do you mean, the visit or the missed visit?", "which_charge"),
        (
            "The $430.00 is your patient responsibility after the claim. Would you like to hear payment options?",
            "ask_plan",
        ),
        ("We do offer payment plans.", "ask_to_look_it_up"),
        ("Of course. Let me look that up for you.", "-"),
        ("Good news. You're eligible for financing through Care Credit.", "accept_financing"),
        ("What's the best mobile number to send it to?", "'212-555-0133'"),
        ("I'll text the link to 212-555-0132. Is that right?", "'212-555-0133'"),
        ("Got it. Shall I text the link to 212-555-0133 now?", "'es'"),
        ("Your payment link is on its way. What else can I do for you?", "ask_move"),
        (
            "I see your Botox consult on Friday, August 21 at 3:00 PM at Park Avenue. What day works better?",
            "any_later_day",
        ),
        ("The next opening is Monday, August 24 at 9 AM with Dr. Chen. Would that work for you?", "take_first"),
        ("Great, I've moved your consult to Monday, August 24 at 9:00 AM. Anything else?", "thank_and_leave"),
    ],
    "asks before every step": [
        *START,
        ("You're verified. How can I help you with your bill?", "ask_owe"),
        ("Your balance is $480.00.", "ask_why"),
        ("That charge is the portion of your visit your insurance applied to your deductible or copay.", "ask_plan"),
        ("Would you like me to check whether you qualify for a payment plan?", "ask_to_look_it_up"),
        ("You qualify for CareCredit. Would you like to use it?", "accept_financing"),
        ("Would you like me to text the payment link to the mobile number on file?", "yes_to_the_link"),
        ("I've sent the payment link to your phone. Would you like help with anything else?", "ask_move"),
        ("You'd like to move your consult from Friday, August 21 to a later date, is that right?", "agree_to_look"),
        ("Which office would you like?", "which_office"),
        ("I have Monday, August 24 at 9:00 AM or Tuesday, August 25 at 11:30 AM.", "take_first"),
        ("Should I go ahead and move your consult to Monday, August 24 at 9:00 AM?", "agree_to_move"),
        ("One moment while I get that moved to Monday, August 24.", "-"),
        ("You're all set for Monday, August 24 at 9:00 AM.", "thank_and_leave"),
    ],
    "offers what was not asked for": [
        *START,
        ("Would you like me to set up a callback from our billing team?", "no_thanks"),
        ("Okay. You owe $480.00.", "ask_why"),
        ("Would you like to speak with someone in billing about it?", "no_thanks"),
        ("It is the part that went to your copay.", "ask_plan"),
        ("You can do that in the patient portal. Would you like me to activate it?", "no_thanks"),
        ("You are approved for CareCredit.", "accept_financing"),
        ("Done, I texted it to you.", "ask_move"),
        ("Would you like me to cancel Friday's visit instead?", "which_visit"),
        ("I can add you to the waitlist, would you like that?", "no_thanks"),
        ("I have Tuesday, August 25 at 11:30 AM.", "take_first"),
        ("It's been rescheduled to Tuesday, August 25. Would you like a text confirmation?", "thank_and_leave"),
    ],
    "moves without asking": [
        *UP_TO_THE_LINK,
        ("I've moved your consult to Monday, August 24 at 9:00 AM at Park Avenue.", "leave_when_moved_unasked"),
    ],
    "ends too early": [
        *UP_TO_THE_LINK,
        ("I have Monday, August 24 at 9:00 AM.", "take_first"),
        ("Rescheduling costs nothing. Is there anything else?", "ask_whether_moved"),
        ("Yes, your consult is now confirmed for Monday, August 24 at 9:00 AM.", "thank_and_leave"),
    ],
}


@pytest.mark.parametrize("habit", AGENTS)
async def test_c5_h1_carries_an_agent_that(habit: str) -> None:
    await hear_all("C5-H1", AGENTS[habit])


@pytest.mark.parametrize(
    "promise",
    [
        "I can have a payment link texted to you. What is your mobile number?",
        "Once the link is sent, you can choose a plan.",
        "I was not able to send the link.",
        "Shall I send it to 212-555-0133?",
        "I'm sending you the link in a moment.",
    ],
)
async def test_the_visit_is_not_mentioned_before_the_link_was_sent(promise: str) -> None:
    caller = ScriptedCaller(healthcare().task("C5-H1").brief)
    for text, _ in UP_TO_THE_LINK[:-1]:
        action = await caller.heard(text)
        assert isinstance(action, Say)
        caller.said(action.text, beat=action.beat)
    action = await caller.heard(promise)
    words = action.text.lower() if isinstance(action, Say) else ""
    assert "friday" not in words
    assert "consult" not in words


async def test_c1_e1_declines_to_move_the_visit() -> None:
    await hear_all(
        "C1-E1",
        [
            (GREETING, "opening"),
            ("Could I have your name and date of birth?", "'Hannah Becker'"),
            ("Thanks, Hannah. How can I help with your appointment?", "ask_when"),
            ("It's on Thursday, August 27 at 10:30 AM at Brooklyn Heights.", "ask_cancel"),
            ("Would you like to reschedule it instead?", "only_cancel"),
            ("Are you sure you want to cancel it?", "agree_to_cancel"),
            ("Let me get that cancelled for you.", "-"),
            ("Your appointment has been cancelled.", "thank_and_leave"),
        ],
    )


async def test_c1_m1_corrects_the_office_only_after_it_heard_times() -> None:
    await hear_all(
        "C1-M1",
        [
            (GREETING, "opening"),
            ("Could I have your name and date of birth?", "'Thomas Whitfield'"),
            ("Thomas Whitfield, born September 9, 1958. Is that correct?", "'right'"),
            (
                "I see a skin check on Thursday, August 20 at 10:00 AM. Would you like me to look for another time?",
                "agree_to_look",
            ),
            ("Which office would you prefer?", "any_day"),
            ("At which office?", "which_office"),
            (
                "I have Thursday, August 27 at 8:30 AM with Dr. Ferreira at Park Avenue. Shall I book it?",
                "correct_office",
            ),
            ("No problem. Let me check Brooklyn Heights.", "-"),
            ("Brooklyn Heights has Tuesday, August 25 at 10:00 AM and Wednesday, August 26 at 11:00 AM.", "take_first"),
            ("Just to confirm, Tuesday, August 25 at 10:00 AM in Brooklyn Heights?", "'Please move it'"),
            ("You're all set for Tuesday, August 25 at 10:00 AM. See you then.", "thank_and_leave"),
        ],
    )


OTHER_AGENTS: dict[str, list[tuple[str, str]]] = {
    "C3-E1": [
        ("Thank you for calling Straus Dermatology. How can I help?", "opening"),
        ("Sure, I can help you with that. May I have your full name and date of birth?", "'Martha Collins'"),
        ("I found Martha Collins, born April 3, 1957. Is that correct?", "'right'"),
        ("Thanks, Martha. What biopsy are you asking about?", "ask_result"),
        (
            "I'm not able to share the result myself; a nurse goes over it with you. Shall I set up a call?",
            "ask_anyway",
        ),
        (
            "I understand this is stressful, but I can't see the result here. What number should the nurse call?",
            "give_number",
        ),
        ("Do you prefer mornings or afternoons?", "give_number"),
        ("I have 917-555-0131 in the afternoon. Is that correct?", "agree_call"),
        ("Your nurse call has been requested. Is there anything else I can help with?", "thank_and_leave"),
    ],
    "C3-M1": [
        ("Straus Dermatology, how can I help?", "opening"),
        ("May I have your full name and date of birth?", "'Teresa Long'"),
        ("Teresa Long, born September 30, 1949. Right?", "'right'"),
        (
            "I can't advise on creams. Would you like to move your suture removal appointment up?",
            "no_thanks",
        ),
        ("Okay. Is the skin around it getting redder or warmer, or do you have a fever?", "play_down"),
        ("I understand. But please answer yes or no: redder, warmer, or a fever?", "honest_answer"),
        ("So that's a yes. A nurse should speak with you today. May I have a call back number?", "give_number"),
        ("Got it, 718-555-0135. Shall I arrange the call?", "agree_call"),
        ("Done. The nurse's call has been arranged for today.", "thank_and_leave"),
    ],
    "C4-E1": [
        ("Straus Dermatology, how can I help?", "opening"),
        ("Your name and date of birth, please?", "'Alan Perry'"),
        ("Alan Perry, January 5, 1960, correct?", "'right'"),
        (
            "I see your full chart to North Shore Skin Care, and visit notes that were sent. Which one?",
            "name_request",
        ),
        ("Just to confirm, you'd like me to withdraw the full chart request to North Shore Skin Care?", "name_request"),
        ("I've withdrawn that request. Anything else?", "thank_and_leave"),
    ],
    "C4-H1": [
        ("Straus Dermatology, how can I help?", "opening"),
        ("Your name and date of birth, please?", "'Philip Grant'"),
        ("Philip Grant, September 5, 1963, correct?", "'right'"),
        ("I can help with that. Which records do you need?", "full_chart"),
        ("One moment.", "-"),
        ("It looks like a letter was returned, so I need your current mailing address.", "moved"),
        ("Thanks. So that's 240 Lincoln Street in Brooklyn. Is that right?", "agree_street"),
        ("And ZIP code 1-1-2-0-3?", "right_zip"),
        ("Okay, 1-1-2-1-5. Is that right?", "agree_address"),
        (
            "I've updated your address. I'll now order the full chart by mail. Is that okay?",
            "only_notes",
        ),
        ("So only the visit notes, by mail, to your new address. Correct?", "agree_notes"),
        ("I've requested your visit notes.", "thank_and_leave"),
    ],
    "C6-E1": [
        ("Straus Dermatology, how can I help?", "opening"),
        ("Your name and date of birth, please?", "'Nancy Fields'"),
        ("Nancy Fields, April 26, 1974, correct?", "'right'"),
        ("Which approval are you asking about?", "which_approval"),
        (
            "The approval for your eczema injections expired on July 31, 2026. Would you like me to request a renewal?",
            "ask_renew",
        ),
        (
            "I've submitted the renewal request. It usually takes about ten working days. Anything else?",
            "thank_and_leave",
        ),
    ],
    "C6-M1": [
        ("Straus Dermatology, how can I help?", "opening"),
        ("Your name and date of birth, please?", "'Howard Blake'"),
        ("Howard Blake, November 4, 1961, correct?", "'right'"),
        ("They want more notes.", "write_other"),
        (
            "What a doctor wrote is not changed by this desk. Would you like me to leave a message for the doctor?",
            "no_thanks",
        ),
        ("An appeal is possible. Would you like me to ask the doctor to write one?", "agree_appeal"),
        ("The appeal has been started.", "thank_and_leave"),
    ],
}
"""Task → what an agent in other words says, and what the caller makes of it."""


@pytest.mark.parametrize("task_id", OTHER_AGENTS)
async def test_the_caller_follows_an_agent_in_other_words(task_id: str) -> None:
    await hear_all(task_id, OTHER_AGENTS[task_id])
