"""A person's end of the line: what the events say of speech and keys, with a scripted connection."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.manual_clock import ManualClock

from callm_voice.core.events import DtmfSent, EventLog, UtteranceEnded, UtteranceStarted
from callm_voice.line.leg import Frame, KeypadLeg
from callm_voice.pipeline.person_leg import PersonLeg

pytestmark = pytest.mark.unit

SAMPLES = 160
LOUD = np.clip(np.random.default_rng(5).normal(0, 3000, SAMPLES), -32768, 32767).astype(np.int16)
QUIET: Frame = np.zeros(SAMPLES, np.int16)
Slot = tuple[Frame, str | None]


class ScriptedPeer:
    """Gives its slots in order and fails when they run out."""

    def __init__(self, slots: list[Slot]) -> None:
        self._slots: Iterator[Slot] = iter(slots)
        self.key: str | None = None
        self.sent: list[Frame] = []

    def pull(self) -> Frame:
        frame, self.key = next(self._slots)
        return frame

    def send(self, frame: Frame, key: str | None = None) -> None:
        self.sent.append(frame)


class Talk:
    """A leg that was pulled over all its slots."""

    def __init__(self, *stretches: tuple[Frame, str | None, int]) -> None:
        slots = [(frame, key) for frame, key, ms in stretches for _ in range(ms // 20)]
        self.log = EventLog(ManualClock())
        self.log.start_line(ManualClock().now_s())
        self.peer = ScriptedPeer(slots)
        self.speech: list[tuple[float, float]] = []
        self.leg = PersonLeg(self.peer, self.log, lambda begin, end: self.speech.append((begin, end)))
        self.pulled = [(self.leg.pull(), self.leg.pressing) for _ in slots]


def test_speech_is_an_utterance_without_words_at_the_times_of_its_samples() -> None:
    talk = Talk((QUIET, None, 1000), (LOUD, None, 800), (QUIET, None, 600))
    assert [(e.t_ms, e.said) for e in talk.log.of(UtteranceStarted)] == [(1000, "")]
    assert [(e.t_ms, e.cut) for e in talk.log.of(UtteranceEnded)] == [(1800, False)]
    assert talk.speech == [(1000, 1800)]


def test_the_line_gets_the_persons_frames_as_they_come_and_the_person_the_lines() -> None:
    talk = Talk((QUIET, None, 40), (LOUD, None, 40))
    assert [frame is LOUD for frame, _ in talk.pulled] == [False, False, True, True]
    talk.leg.push(LOUD)
    assert talk.peer.sent == [LOUD]


def test_a_pressed_key_is_an_utterance_of_its_own_and_no_speech() -> None:
    talk = Talk((QUIET, None, 500), (LOUD, "7", 120), (QUIET, None, 500))
    assert isinstance(talk.leg, KeypadLeg)
    assert [pressing for _, pressing in talk.pulled] == [False] * 25 + [True] * 6 + [False] * 25
    assert [(e.t_ms, e.said) for e in talk.log.of(UtteranceStarted)] == [(500, "[keypad: 7]")]
    assert [(e.t_ms, e.digits, e.utterance_id) for e in talk.log.of(DtmfSent)] == [(500, "7", 1)]
    assert [e.t_ms for e in talk.log.of(UtteranceEnded)] == [620]
    assert talk.speech == []


def test_two_keys_that_touch_are_two() -> None:
    talk = Talk((LOUD, "1", 100), (LOUD, "2", 100), (QUIET, None, 40))
    assert [(e.t_ms, e.digits) for e in talk.log.of(DtmfSent)] == [(0, "1"), (100, "2")]


def test_a_key_in_the_middle_of_speech_ends_it() -> None:
    talk = Talk((QUIET, None, 400), (LOUD, None, 400), (LOUD, "5", 100), (QUIET, None, 600))
    assert [(e.t_ms, e.said) for e in talk.log.of(UtteranceStarted)] == [(400, ""), (800, "[keypad: 5]")]
    assert [(e.t_ms, e.utterance_id) for e in talk.log.of(UtteranceEnded)] == [(800, 1), (900, 2)]


def test_what_goes_on_when_the_line_closes_ends_with_it() -> None:
    speaks = Talk((QUIET, None, 400), (LOUD, None, 400))
    speaks.leg.hang_up()
    assert [(e.t_ms, e.cut) for e in speaks.log.of(UtteranceEnded)] == [(800, True)]
    presses = Talk((QUIET, None, 400), (LOUD, "#", 60))
    presses.leg.hang_up()
    presses.leg.hang_up()
    assert [(e.digits, e.t_ms) for e in presses.log.of(DtmfSent)] == [("#", 400)]
