"""Whole calls of the scripted caller: in text, and by scripted voice over the real line on the fast clock."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from support.small_brief import small_brief

from callm_voice.caller.base import Caller
from callm_voice.caller.leg import CallerLeg
from callm_voice.caller.listen import Listener, SpeechEnded, SpeechStarted
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.caller.text import TextDialogue, talk
from callm_voice.core.brief import Brief
from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import EventLog, UtteranceEnded, UtteranceStarted
from callm_voice.core.fastloop import FastClock, run
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.line.line import PhoneLine
from callm_voice.line.playout import Ended, PlayoutQueue
from callm_voice.line.profile import load_profile
from callm_voice.speech.settings import ScriptedTtsSettings
from callm_voice.speech.tts_scripted import ScriptedTts

pytestmark = pytest.mark.conversation

FLOORS = (
    "Good morning, how can I help you?",
    "Thank you. Can I have your full name and date of birth?",
    "I have Nora Quill, born February 19, 1980. Is that right?",
    "Sorry about that. February 9, 1980, and your number is 212-555-0100, is that right?",
    "Thank you, Nora. Let me look at your account.",
    "You owe $80.00. What else can I do?",
    "Shall I look for Monday at nine?",
    "It's moved to Monday at nine. Anything else?",
)
CALL = [
    "Hi, I have a question about my bill.",
    "How much do I owe?",
    "No, my date of birth is February 9, 1980.",
    "Yes, that's right.",
    "I also need Friday's visit moved.",
    "Yes, please.",
    "Thank you, goodbye.",
]


async def text_call(brief: Brief, floors: Sequence[str], *, max_turns: int = 30) -> TextDialogue:
    rest = iter(floors)

    async def agent(_: str | None) -> str:
        return next(rest, "")

    return await talk(ScriptedCaller(brief), agent, max_turns=max_turns)


async def test_an_errand_is_held_from_greeting_to_goodbye() -> None:
    floors = [*FLOORS[:4], f"{FLOORS[4]} {FLOORS[5]}", *FLOORS[6:]]
    dialogue = await text_call(small_brief(), floors)
    assert dialogue.caller_lines == CALL
    assert (dialogue.end, dialogue.detail) == ("caller_hangup", "beat leave")


async def test_an_agent_that_falls_silent_is_prodded_and_then_left() -> None:
    dialogue = await text_call(small_brief(), FLOORS[:2])
    assert dialogue.caller_lines[2:] == ["Hello? Are you still there?"] * 2 + ["I'd like to know how much I owe."]
    assert dialogue.detail == "gives up: the line stayed silent (30 s)"


async def test_an_agent_that_holds_without_coming_back_is_prodded() -> None:
    dialogue = await text_call(small_brief(), [*FLOORS[:2], "One moment, please."])
    assert dialogue.notes == ("waits: on hold", "waits: heard nothing", "waits: heard nothing", "waits: heard nothing")
    assert dialogue.caller_lines[2] == "Hello? Are you still there?"


async def test_turns_are_limited() -> None:
    dialogue = await text_call(small_brief(), FLOORS, max_turns=2)
    assert (dialogue.end, len(dialogue.caller_lines)) == ("max_turns", 2)


async def test_a_barge_in_in_text_cuts_the_whole_floor() -> None:
    cut_in = {"id": "cut_in", "say": "No, wait.", "barge_in_ms": 500, "when": {"any_of": ["how can i help"]}}
    brief = small_brief(beats=[cut_in, *[beat.model_dump() for beat in small_brief().beats]])
    dialogue = await text_call(brief, FLOORS)
    assert [(turn.party, turn.cut) for turn in dialogue.turns[:4]] == [
        ("agent", False), ("caller", False), ("agent", True), ("caller", False),
    ]  # fmt: skip
    assert dialogue.caller_lines[1] == "No, wait."


class FloorsLeg:
    """An agent that plays listed floors: it greets, and answers 500 ms after the caller fell silent."""

    def __init__(self, floors: Sequence[str], rate_hz: int) -> None:
        self._rest = list(floors)
        self._tts = ScriptedTts(ScriptedTtsSettings(rate_hz=8000))
        self._playout = PlayoutQueue(rate_hz * PTIME_MS // 1000)
        self._ear = Listener()
        self._due_ms: int | None = 300
        self._ms = 0
        self._texts: list[str] = []
        self.spans_ms: list[list[int]] = []
        self.leg: CallerLeg | None = None

    def pull(self) -> Frame | None:
        if self._due_ms is not None and self._ms >= self._due_ms and self._rest:
            self._due_ms = None
            self._texts.append(self._rest.pop(0))
            tag = len(self._texts)
            self._playout.put(tag, self._tts.synthesise(self._texts[-1]))
            self._playout.end(tag)
            self.spans_ms.append([self._ms, self._ms])
        frame, notices = self._playout.pull()
        self._ms += PTIME_MS
        for notice in notices:
            if isinstance(notice, Ended) and self.leg is not None:
                self.spans_ms[-1][1] = self._ms
                self.leg.agent_played(self._texts[-1])
                if self._texts[-1].endswith("account."):
                    self._due_ms = self._ms + 3000
        return frame

    def push(self, frame: Frame) -> None:
        change = self._ear.push(frame)
        if isinstance(change, SpeechStarted):
            self._due_ms = None
        if isinstance(change, SpeechEnded):
            self._due_ms = change.at_ms + 500

    def clear(self) -> None:
        self._playout.clear()


class VoiceCall:
    """The scripted caller on the line with an agent of listed floors."""

    def __init__(self, mind: Caller, floors: Sequence[str]) -> None:
        self.mind, self.floors = mind, floors
        self.reasons: list[str] = []
        self.errors: list[CallmError] = []

    def run(self) -> VoiceCall:
        clock = FastClock()
        try:
            run(lambda: self._call(clock), clock)
        finally:
            clock.close()
        return self

    async def _call(self, clock: Clock) -> None:
        profile = load_profile("pstn-g711u")
        self.log = EventLog(clock)
        self.agent = FloorsLeg(self.floors, profile.rate_hz)

        def leave(why: str) -> None:
            self.reasons.append(why)
            line.hang_up("caller_hangup", why)

        leg = self.agent.leg = CallerLeg(
            self.mind,
            ScriptedTts(ScriptedTtsSettings(rate_hz=24000)),
            clock=clock,
            log=self.log,
            rate_hz=profile.rate_hz,
            to_spoken=lambda text: text,
            on_hang_up=leave,
            on_error=self.errors.append,
        )
        line = PhoneLine(leg, self.agent, profile, clock, self.log, max_duration_s=180)
        await leg.prepare()
        self.report = await line.run()
        await leg.aclose()
        self.left = line.recorder

    @property
    def spans_ms(self) -> list[tuple[float, float]]:
        starts = [e.t_ms for e in self.log.of(UtteranceStarted)]
        return list(zip(starts, [e.t_ms for e in self.log.of(UtteranceEnded)], strict=True))


@pytest.fixture(scope="module")
def voice_call() -> VoiceCall:
    """One call by voice, for several claims."""
    return VoiceCall(ScriptedCaller(small_brief()), FLOORS).run()


def test_the_errand_is_held_by_voice_as_in_text(voice_call: VoiceCall) -> None:
    assert [e.said for e in voice_call.log.of(UtteranceStarted)] == CALL
    assert (voice_call.reasons, voice_call.errors) == (["beat leave"], [])
    assert voice_call.mind.finished == "done"
    assert voice_call.report.end_reason == "caller_hangup"


def test_by_voice_nobody_talks_over_the_other(voice_call: VoiceCall) -> None:
    spans = sorted([*voice_call.spans_ms, *map(tuple, voice_call.agent.spans_ms)])
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_by_voice_it_waits_through_the_hold(voice_call: VoiceCall) -> None:
    held, back = voice_call.agent.spans_ms[4:6]
    assert back[0] == held[1] + 3000
    assert not any(held[0] < start < back[1] for start, _ in voice_call.spans_ms)


def test_by_voice_it_answers_about_700_ms_after_the_agent_s_last_sound(voice_call: VoiceCall) -> None:
    answered = [*voice_call.agent.spans_ms[:4], *voice_call.agent.spans_ms[5:]]
    waits = [start - end for (start, _), (_, end) in zip(voice_call.spans_ms, answered, strict=True)]
    assert 600 <= min(waits) <= max(waits) <= 800


def test_the_line_is_left_300_ms_after_the_goodbye(voice_call: VoiceCall) -> None:
    assert voice_call.report.duration_ms == voice_call.spans_ms[-1][1] + 300


def test_the_call_by_voice_is_the_same_every_time(voice_call: VoiceCall) -> None:
    again = VoiceCall(ScriptedCaller(small_brief()), FLOORS).run()
    assert again.spans_ms == voice_call.spans_ms
