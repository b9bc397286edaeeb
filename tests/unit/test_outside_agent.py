"""What the line tells of an agent that runs elsewhere: stretches of its speech, barge-ins, its turns as text."""

from __future__ import annotations

import numpy as np
import pytest
from support.manual_clock import ManualClock

from callm_voice.bench.outside_agent import FIRST_SOUND_LIMIT_MS, ListenedLeg
from callm_voice.bench.outside_transcript import heard_only
from callm_voice.bench.transcript import build_transcript
from callm_voice.core.events import (
    AgentHeard,
    AgentSpeechEnded,
    AgentSpeechStarted,
    BargeIn,
    Event,
    EventLog,
    InferenceStarted,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    UtteranceEnded,
    UtteranceStarted,
)
from callm_voice.line.leg import PTIME_MS, Frame

pytestmark = pytest.mark.unit
LOUD = np.tile(np.array([4000, -4000], np.int16), 80)


class Script:
    """A leg that says what it is told, tick by tick; a dot is nothing."""

    def __init__(self, sounds: str) -> None:
        self._sounds, self.pushed = iter(sounds), 0

    def pull(self) -> Frame | None:
        return LOUD if next(self._sounds, ".") == "x" else None

    def push(self, frame: Frame) -> None:
        self.pushed += 1

    def clear(self) -> None:
        pass


def listened(sounds: str) -> tuple[ListenedLeg, EventLog, ManualClock, list[str]]:
    clock, never = ManualClock(), list[str]()
    log = EventLog(clock)
    leg = ListenedLeg(Script(sounds), log, 160, lambda: never.append("never"))
    log.start_line(clock.now_s())
    return leg, log, clock, never


def test_stretches_of_speech_have_the_times_of_their_packets() -> None:
    leg, log, _, never = listened("." * 10 + "x" * 20 + "." * 30 + "x" * 10 + "." * 30)
    for _ in range(100):
        leg.pull()
    told = [(type(e).__name__, e.t_ms, e.stretch_id) for e in log.events]  # type: ignore[attr-defined]
    assert told == [
        ("AgentSpeechStarted", 200.0, 1),
        ("AgentSpeechEnded", 600.0, 1),
        ("AgentSpeechStarted", 1200.0, 2),
        ("AgentSpeechEnded", 1400.0, 2),
    ]
    assert leg.spoke
    assert never == []


def test_what_is_being_said_when_the_line_ends_ends_with_it() -> None:
    leg, log, _, _ = listened("." * 10 + "x" * 20)
    for _ in range(30):
        leg.pull()
    leg.close()
    leg.close()
    assert [e.t_ms for e in log.of(AgentSpeechEnded)] == [600.0]


def test_an_agent_that_is_not_heard_in_time_is_told_of_once() -> None:
    leg, _, _, never = listened("")
    for _ in range(FIRST_SOUND_LIMIT_MS // PTIME_MS - 1):
        leg.pull()
    assert never == []
    for _ in range(100):
        leg.pull()
    assert never == ["never"]
    assert not leg.spoke


def test_a_caller_that_speaks_up_over_the_agent_barges_in() -> None:
    leg, log, _, _ = listened("." * 10 + "x" * 20)
    for _ in range(20):
        leg.pull()
    log.emit(UtteranceStarted, at_s=log.to_s(400), utterance_id=1, said="Stop.", spoken="Stop.")
    assert [(e.t_ms, e.turn_id) for e in log.of(BargeIn)] == [(400.0, 0)]


def test_sound_that_goes_to_the_agent_passes_through() -> None:
    leg, _, _, _ = listened("")
    leg.push(LOUD)
    assert leg._inner.pushed == 1  # type: ignore[attr-defined]


def utterance(number: int, start_ms: float, end_ms: float) -> list[Event]:
    return [
        UtteranceStarted(t_ms=start_ms, utterance_id=number, said=f"line {number}", spoken="x"),
        UtteranceEnded(t_ms=end_ms, utterance_id=number),
    ]


def stretch(number: int, start_ms: float, end_ms: float, *heard: str) -> list[Event]:
    return [
        AgentSpeechStarted(t_ms=start_ms, stretch_id=number),
        AgentSpeechEnded(t_ms=end_ms, stretch_id=number),
        *(AgentHeard(t_ms=end_ms + 300, heard=text, start_ms=start_ms, end_ms=end_ms) for text in heard),
    ]


def test_stretches_between_two_lines_of_the_callers_are_one_turn_with_what_was_heard() -> None:
    events = [
        *stretch(1, 100, 900, "Hello."),
        *stretch(2, 1200, 2000, "How can I help?"),
        *utterance(1, 3000, 4000),
        *stretch(3, 5000, 6000, ""),
        *utterance(2, 7000, 8000),
    ]
    assert heard_only(events)
    turns = build_transcript(events, end_ms=9000)
    assert [(t.party, t.turn_id, t.start_ms, t.end_ms, t.said, t.heard, t.played) for t in turns] == [
        ("agent", 0, 100, 2000, "", "Hello. How can I help?", None),
        ("caller", 1, 3000, 4000, "line 1", None, None),
        ("agent", 1, 5000, 6000, "", "", None),
        ("caller", 2, 7000, 8000, "line 2", None, None),
    ]


def test_a_turn_that_the_caller_spoke_over_is_cut() -> None:
    events = [*stretch(1, 100, 2000, "Hello"), BargeIn(t_ms=1500, turn_id=0), *utterance(1, 1500, 2500)]
    assert [t.cut for t in build_transcript(events, end_ms=3000) if t.party == "agent"] == [True]


def test_our_own_agents_turns_say_what_the_callers_recogniser_made_of_them() -> None:
    events: list[Event] = []
    for n, start_ms in ((1, 1000.0), (2, 5000.0)):
        events += [
            InferenceStarted(
                t_ms=start_ms - 500, inference_id=n, turn_id=n, cause="caller_turn", role="r", model="m", messages=1,
                tools=0,
            ),
            SentenceReady(t_ms=start_ms - 100, sentence_id=n, turn_id=n, inference_id=n, text=f"said {n}"),
            PlayoutStarted(t_ms=start_ms, sentence_id=n, turn_id=n),
            PlayoutEnded(t_ms=start_ms + 1000, sentence_id=n, turn_id=n, played=f"said {n}"),
        ]  # fmt: skip
    plain = build_transcript(events, end_ms=9000)
    assert [t.heard for t in plain] == [None, None]
    heard = [AgentHeard(t_ms=2400, heard="sad one", start_ms=900, end_ms=2100)]
    assert [t.heard for t in build_transcript([*events, *heard], end_ms=9000)] == ["sad one", None]
