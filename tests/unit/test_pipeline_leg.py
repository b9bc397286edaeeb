"""The agent's end of the line, driven packet by packet without Pipecat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from callm_voice.core.clock import RealClock
from callm_voice.core.events import BargeIn, EventLog, PlayoutEnded, PlayoutStarted, VadStarted
from callm_voice.line.playout import whole_words
from callm_voice.pipeline.floor import Floor
from callm_voice.pipeline.leg import AgentLeg, CallerTurn, Interrupted
from callm_voice.speech import endpointing as ep

pytestmark = pytest.mark.unit
RATE_HZ = 8000
FRAME = np.zeros(160, np.int16)


@dataclass
class SetEndpointer:
    """Gives set events at set packets."""

    at: dict[int, list[ep.EndpointEvent]]
    count: int = 0

    def push(self, frame: np.ndarray, t_ms: float) -> Sequence[ep.EndpointEvent]:
        self.count += 1
        return self.at.get(self.count, [])


@dataclass
class Bench:
    at: dict[int, list[ep.EndpointEvent]] = field(default_factory=dict)
    inbox: list[Interrupted | CallerTurn] = field(default_factory=list)
    played: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = RealClock()
        self.log = EventLog(self.clock)
        self.log.start_line(self.clock.now_s())
        self.floor = Floor()
        self.leg = AgentLeg(
            rate_hz=RATE_HZ,
            endpointer=SetEndpointer(self.at),  # type: ignore[arg-type]
            floor=self.floor,
            log=self.log,
            to_pipeline=self.inbox.append,
            on_played=self.played.append,
        )
        self.clock.close()

    def play(self, sentence_id: int, text: str, ms: int, *, epoch: int = 0) -> bool:
        pcm = np.ones(RATE_HZ * ms // 1000, np.int16)
        self.floor.pending_sentences += 1
        return self.leg.play(sentence_id, turn_id=0, inference_id=7, epoch=epoch, text=text, pcm=pcm)

    def ticks(self, n: int) -> list[bool]:
        """n ticks of the line; for each, whether the agent gave sound."""
        sound = []
        for _ in range(n):
            frame = self.leg.pull()
            sound.append(frame is not None)
            self.leg.push(FRAME)
        return sound


def test_a_sentence_is_played_whole_and_reported_with_its_last_packet() -> None:
    bench = Bench()
    bench.play(1, "How can I help?", 100)
    assert bench.ticks(6) == [True] * 5 + [False]
    assert bench.played == ["How can I help?"]
    assert [e.played for e in bench.log.of(PlayoutEnded)] == ["How can I help?"]
    assert len(bench.log.of(PlayoutStarted)) == 1


def test_barge_in_stops_playout_on_the_tick_of_the_decision() -> None:
    bench = Bench(at={5: [ep.SpeechStarted(t_ms=100.0, speech_ms=20.0)]})
    bench.play(1, "one two three four five six seven eight nine ten", 200)
    assert bench.ticks(8) == [True] * 5 + [False] * 3
    assert len(bench.log.of(BargeIn)) == 1
    assert bench.log.of(VadStarted)[0].turn_id == 1
    assert any(isinstance(i, Interrupted) for i in bench.inbox)


def test_only_the_words_that_were_played_are_kept() -> None:
    bench = Bench(at={5: [ep.SpeechStarted(t_ms=100.0, speech_ms=20.0)]})
    bench.play(1, "one two three four five six seven eight nine ten", 200)
    bench.ticks(6)
    assert bench.played == ["one two three four five"]
    assert bench.leg.played.texts() == {7: "one two three four five"}
    assert bench.log.of(PlayoutEnded)[0].cut


def test_sound_of_an_interrupted_answer_that_comes_late_is_thrown_away() -> None:
    bench = Bench(at={1: [ep.SpeechStarted(t_ms=20.0, speech_ms=0.0)]})
    bench.play(1, "hello there", 200)
    bench.ticks(2)
    assert bench.play(2, "and more", 200, epoch=0) is False
    assert bench.ticks(3) == [False] * 3
    assert bench.play(3, "new answer", 40, epoch=1) is True
    assert bench.ticks(2) == [True, True]


def test_a_turn_goes_to_the_pipeline_with_its_sound() -> None:
    pcm = np.arange(800, dtype=np.int16)
    ended = ep.TurnEnded(t_ms=900.0, why="silence", pcm=pcm, start_ms=100.0, end_ms=200.0, last_speech_ms=180.0)
    bench = Bench(at={2: [ep.SpeechStarted(t_ms=100.0, speech_ms=20.0)], 4: [ended]})
    bench.ticks(5)
    turns = [i for i in bench.inbox if isinstance(i, CallerTurn)]
    assert [(t.turn_id, len(t.pcm)) for t in turns] == [(1, 800)]
    assert not bench.floor.caller_speaking


@pytest.mark.parametrize(
    ("played", "expected"),
    [(0, ""), (100, "Your balance is $480.00."), (101, "Your balance is $480.00."), (50, "Your balance"), (17, "Your")],
)
def test_words_are_whole_or_not_counted(played: int, expected: str) -> None:
    assert whole_words("Your balance is $480.00.", played, 100) == expected
