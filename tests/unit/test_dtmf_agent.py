"""Keys as the agent's end of the line recognises them: which turn they belong to, when it ends, what is muted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from callm_voice.audio.tones import DtmfDetector, dtmf
from callm_voice.core.clock import RealClock
from callm_voice.core.events import BargeIn, DtmfHeard, EventLog, TurnEnded, VadStarted
from callm_voice.pipeline.floor import Floor
from callm_voice.pipeline.keypad import EDGE_MS, Keypad
from callm_voice.pipeline.leg import AgentLeg, CallerPause, CallerResumed, CallerTurn, Happening, Interrupted
from callm_voice.speech import endpointing as ep
from callm_voice.speech.engines import Pcm

pytestmark = pytest.mark.unit

RATE_HZ = 8000
SIZE = RATE_HZ // 50
INTERDIGIT_MS = 400
SPEECH = np.tile(np.array([9000, -7000, 4000, -9000], np.int16), SIZE // 4)


class SetEndpointer:
    """Gives set events at set packets."""

    def __init__(self, at: dict[int, list[ep.EndpointEvent]]) -> None:
        self._at, self._count = at, 0

    def push(self, frame: Pcm, t_ms: float) -> Sequence[ep.EndpointEvent]:
        self._count += 1
        return self._at.get(self._count, [])


class Bench:
    """A leg on a hand-driven line; packet n is pushed at (n - 1) * 20 ms."""

    def __init__(self, at: dict[int, list[ep.EndpointEvent]] | None = None) -> None:
        clock = RealClock()
        self.log = EventLog(clock)
        self.log.start_line(clock.now_s())
        clock.close()
        self.floor = Floor()
        self.inbox: list[Happening] = []
        self.leg = AgentLeg(
            rate_hz=RATE_HZ,
            endpointer=SetEndpointer(at or {}),  # type: ignore[arg-type]
            floor=self.floor,
            log=self.log,
            to_pipeline=self.inbox.append,
            on_played=lambda words: None,
            keypad=Keypad(DtmfDetector(RATE_HZ), rate_hz=RATE_HZ, interdigit_ms=INTERDIGIT_MS),
        )

    def hear(self, pcm: Pcm) -> None:
        for i in range(0, pcm.size - SIZE + 1, SIZE):
            self.leg.pull()
            self.leg.push(pcm[i : i + SIZE])

    def silence(self, ms: int) -> None:
        self.hear(np.zeros(RATE_HZ * ms // 1000, np.int16))

    def of(self, kind: type) -> list[Any]:
        return [happening for happening in self.inbox if isinstance(happening, kind)]


def ended(pcm: Pcm, start_ms: float = 0.0) -> ep.TurnEnded:
    end_ms = start_ms + pcm.size * 1000 / RATE_HZ
    return ep.TurnEnded(t_ms=end_ms, why="silence", pcm=pcm, start_ms=start_ms, end_ms=end_ms, last_speech_ms=end_ms)


STARTED = ep.SpeechStarted(t_ms=0.0, speech_ms=0.0)


def test_keys_alone_are_a_turn_without_sound() -> None:
    bench = Bench()
    bench.silence(100)
    bench.hear(dtmf("12#", RATE_HZ))
    assert bench.of(CallerTurn) == []
    assert bench.floor.caller_speaking
    bench.silence(600)
    (turn,) = bench.of(CallerTurn)
    assert (turn.turn_id, turn.keys, turn.pcm.size) == (1, "12#", 0)
    assert [(e.turn_id, e.digit) for e in bench.log.of(DtmfHeard)] == [(1, "1"), (1, "2"), (1, "#")]
    assert [(e.turn_id, e.why, e.audio_ms) for e in bench.log.of(TurnEnded)] == [(1, "keypad", 0.0)]
    assert not bench.floor.caller_speaking


def test_a_key_that_is_held_down_is_one_key_and_the_wait_begins_when_it_is_let_go() -> None:
    bench = Bench()
    bench.hear(dtmf("5", RATE_HZ, tone_ms=1500, gap_ms=0))
    bench.silence(INTERDIGIT_MS - 60)
    assert bench.of(CallerTurn) == []
    bench.silence(100)
    assert [turn.keys for turn in bench.of(CallerTurn)] == ["5"]


def test_a_pause_that_is_shorter_than_the_wait_does_not_part_the_keys() -> None:
    bench = Bench()
    for gap_ms in (INTERDIGIT_MS - 120, INTERDIGIT_MS + 120):
        bench.hear(dtmf("7", RATE_HZ, gap_ms=0))
        bench.silence(gap_ms)
    bench.hear(dtmf("8", RATE_HZ, gap_ms=0))
    bench.silence(600)
    assert [turn.keys for turn in bench.of(CallerTurn)] == ["77", "8"]
    assert [turn.turn_id for turn in bench.of(CallerTurn)] == [1, 2]


def test_a_key_over_the_agent_s_words_interrupts_it_like_speech() -> None:
    bench = Bench()
    bench.floor.pending_sentences = 1
    bench.leg.play(1, turn_id=0, inference_id=1, epoch=0, text="one two three", pcm=np.ones(RATE_HZ, np.int16))
    bench.silence(100)
    bench.hear(dtmf("1", RATE_HZ))
    assert len(bench.log.of(BargeIn)) == len(bench.of(Interrupted)) == 1
    assert bench.leg.pull() is None


def test_words_and_keys_of_one_turn_stay_together_and_the_tones_are_taken_out() -> None:
    tones = dtmf("42", RATE_HZ)
    sound = np.concatenate([np.tile(SPEECH, 25), np.zeros(SIZE * 15, np.int16), tones])
    packets = sound.size // SIZE
    bench = Bench({3: [STARTED], packets + 10: [ended(sound, start_ms=-20.0)]})
    bench.hear(sound)
    bench.silence(1000)
    (turn,) = bench.of(CallerTurn)
    assert (turn.turn_id, turn.keys) == (1, "42")
    edge = EDGE_MS * RATE_HZ // 1000
    np.testing.assert_array_equal(turn.pcm[: 25 * SIZE], sound[: 25 * SIZE])
    assert not turn.pcm[-tones.size :].any()
    assert turn.pcm.size == sound.size
    assert edge < 15 * SIZE
    assert [e.turn_id for e in bench.log.of(VadStarted)] == [1]


def test_tones_that_the_detector_of_speech_took_for_a_turn_are_keys_alone() -> None:
    tones = dtmf("42", RATE_HZ)
    bench = Bench({2: [STARTED], tones.size // SIZE + 5: [ended(tones, start_ms=-20.0)]})
    bench.hear(tones)
    bench.silence(1000)
    assert [(turn.keys, turn.pcm.size) for turn in bench.of(CallerTurn)] == [("42", 0)]
    assert len(bench.log.of(TurnEnded)) == 1


def test_the_turn_does_not_end_while_the_caller_speaks_on() -> None:
    tones = dtmf("9", RATE_HZ)
    bench = Bench({tones.size // SIZE + 3: [STARTED], 60: [ended(np.tile(SPEECH, 10), start_ms=400.0)]})
    bench.hear(tones)
    bench.silence(800)
    assert bench.of(CallerTurn) == []
    bench.silence(400)
    (turn,) = bench.of(CallerTurn)
    assert (turn.turn_id, turn.keys) == (1, "9")
    assert turn.pcm.any()


def test_what_was_transcribed_ahead_is_dropped_when_a_key_comes() -> None:
    pause = ep.SilenceBegan(t_ms=100.0, last_speech_ms=80.0, pcm=SPEECH, start_ms=0.0, end_ms=100.0)
    bench = Bench({2: [STARTED], 6: [pause], 40: [pause]})
    bench.silence(200)
    assert len(bench.of(CallerPause)) == 1
    bench.hear(dtmf("3", RATE_HZ))
    assert len(bench.of(CallerResumed)) == 1
    bench.silence(1000)
    assert len(bench.of(CallerPause)) == 1  # nothing is begun ahead while keys are pressed


def test_speech_without_keys_is_a_turn_as_it_ever_was() -> None:
    sound = np.tile(SPEECH, 20)
    bench = Bench({3: [STARTED], 21: [ended(sound)]})
    bench.hear(sound)
    bench.silence(40)
    (turn,) = bench.of(CallerTurn)
    assert (turn.keys, bench.log.of(TurnEnded)[0].why) == ("", "silence")
    np.testing.assert_array_equal(turn.pcm, sound)
