"""Whole calls that transcribe in the caller's pauses, with a recogniser whose delay is set."""

from __future__ import annotations

import statistics
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.cli import scripted_call

from callm_voice.core import paths
from callm_voice.core.events import (
    Event,
    InferenceStarted,
    SentenceReady,
    SpeculationDropped,
    TranscriptReady,
    TtsFirstAudio,
    TurnEnded,
    TurnJudged,
    from_jsonl,
)

pytestmark = pytest.mark.conversation
DELAY_MS = 150
SCRIPTED = paths.installed_data_dir() / "pipelines" / "scripted.yaml"


def a_call(folder: Path, endpointing: str) -> tuple[dict[str, Any], list[Event]]:
    """A call with the scripted pipeline, its recogniser slowed down and `endpointing` added."""
    text = SCRIPTED.read_text("utf-8").replace(
        "stt:\n  engine: scripted", f"stt:\n  engine: scripted\n  delay_ms: {DELAY_MS}"
    )
    text = text.replace("endpointing:\n", f"endpointing:\n  {endpointing}\n")
    assert text.count(endpointing) == 1
    pipeline = folder / "slow.yaml"
    pipeline.write_text(text, "utf-8")
    ran = scripted_call(folder, "--pipeline", str(pipeline))
    assert ran.code == 0, ran.err
    line = next(line for line in ran.err.splitlines() if line.startswith("call folder: "))
    events = Path(line.removeprefix("call folder: ")) / "events.jsonl"
    return ran.json, from_jsonl(events.read_text("utf-8"))


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Event]]:
    return a_call(tmp_path_factory.mktemp("ahead"), "speculate_ms: 200")


@pytest.fixture(scope="module")
def afterwards(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Event]]:
    return a_call(tmp_path_factory.mktemp("afterwards"), "speculate_ms: null")


Call = tuple[dict[str, Any], list[Event]]


def test_every_turn_that_fell_silent_was_transcribed_ahead_and_answered_after_its_endpoint(ahead: Call) -> None:
    record, events = ahead
    ended = {e.turn_id: e for e in events if isinstance(e, TurnEnded)}
    transcripts = [e for e in events if isinstance(e, TranscriptReady)]
    assert transcripts
    assert all(t.speculative == (ended[t.turn_id].why == "silence") for t in transcripts)
    asked = {e.turn_id: e.t_ms for e in reversed(events) if isinstance(e, InferenceStarted)}
    for transcript in transcripts:
        assert transcript.started_ms is not None
        assert transcript.started_ms < ended[transcript.turn_id].t_ms <= transcript.t_ms
        assert transcript.t_ms <= asked.get(transcript.turn_id, transcript.t_ms)
    work = record["engines"]["stt"]["work"]
    assert work["used"] == len(transcripts)
    dropped = [e for e in events if isinstance(e, SpeculationDropped)]
    assert (work["dropped"], work["wasted_ms"]) == (len(dropped), pytest.approx(sum(e.wasted_ms for e in dropped)))


def test_it_hears_the_same_words_and_does_the_same_and_answers_sooner(ahead: Call, afterwards: Call) -> None:
    def heard(record: dict[str, Any]) -> list[Any]:
        return [t["heard"] for t in record["transcript"] if t["party"] == "caller"]

    assert heard(ahead[0]) == heard(afterwards[0])
    assert ahead[0]["verdict"] == afterwards[0]["verdict"]
    assert ahead[0]["verdict"]["passed"]
    assert ahead[0]["latency"]["v2v"]["p50"] < afterwards[0]["latency"]["v2v"]["p50"]


def test_without_it_every_transcription_begins_at_the_endpoint(afterwards: Call) -> None:
    record, events = afterwards
    assert not any(e.speculative for e in events if isinstance(e, TranscriptReady))
    assert record["engines"]["endpointing"]["settings"]["speculate_ms"] is None
    assert record["engines"]["stt"]["work"]["speculations"] == 0


def test_the_recogniser_and_the_agents_voice_never_work_at_once(ahead: Call) -> None:
    _, events = ahead
    ready = {e.sentence_id: e.t_ms for e in events if isinstance(e, SentenceReady)}
    speaking = [(ready[e.sentence_id], e.t_ms) for e in events if isinstance(e, TtsFirstAudio)]
    listening = [
        (e.started_ms, e.started_ms + e.decode_ms) for e in events if isinstance(e, TranscriptReady) if e.started_ms
    ]
    listening += [
        (e.started_ms, e.started_ms + e.wasted_ms) for e in events if isinstance(e, SpeculationDropped) if e.started_ms
    ]
    assert [pair for pair in product(speaking, listening) if pair[0][0] < pair[1][1] and pair[1][0] < pair[0][1]] == []


def test_no_line_of_the_callers_is_synthesised_during_the_call(ahead: Call) -> None:
    assert ahead[0]["engines"]["caller_tts"]["work"] == {"lines_made_in_call": 0}


def test_smart_turn_is_asked_in_each_pause_and_its_cost_is_told(tmp_path: Path) -> None:
    record, events = a_call(tmp_path, "kind: smart_turn")
    judged = [e for e in events if isinstance(e, TurnJudged)]
    engine = record["engines"]["endpointing"]
    assert (engine["engine"], engine["work"]["questions"]) == ("smart_turn", len(judged))
    assert len(engine["sha256"]) == 64
    assert engine["work"]["infer_ms_p50"] == pytest.approx(statistics.median(e.infer_ms for e in judged), abs=0.01)
    complete = {e.turn_id for e in judged if e.complete and e.applied}
    ended = {e.turn_id: e.why for e in events if isinstance(e, TurnEnded)}
    assert {turn for turn, why in ended.items() if why == "smart_turn"} == complete
    assert set(ended.values()) <= {"smart_turn", "silence"}
