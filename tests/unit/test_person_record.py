"""What a person's call is in records, scores and pages: shown, and part of no figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.run_builder import MadeCall, sample_calls, write_call, write_run

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.resolve import resolve
from callm_voice.bench.reverify import reverify_call
from callm_voice.bench.run_call import run_call
from callm_voice.bench.transcript import build_transcript
from callm_voice.core import events as ev
from callm_voice.core.errors import UsageError
from callm_voice.core.runfolder import GOLD_FILE, find_calls, load_record
from callm_voice.report.score import load_calls, score_run
from callm_voice.report.site.build import build_site

pytestmark = pytest.mark.unit


def person_spec(run_dir: Path, **fields: Any) -> CallSpec:
    return CallSpec.model_validate(
        {"task": "healthcare/no-task", "model": "qwen2.5-coder-0.5b", "caller": "person", "run_dir": run_dir, **fields}
    )


def by_a_person(folder: Path, *, task: bool) -> None:
    """Change a made call's record to one of a person's."""
    path = folder / "call.json"
    record = json.loads(path.read_text("utf-8"))
    record["config"]["caller"] = "person"
    for turn in record["transcript"]:
        turn["said"] = turn["said"] if turn["party"] == "agent" else ""
    if not task:
        record["config"]["task"] = record["config"]["task"].rpartition("/")[0] + "/no-task"
        record["outcome"] = {"status": "unscored", "end_reason": "caller_hangup", "detail": "hung up"}
        record["verdict"] = None
        (folder / GOLD_FILE).unlink()
    path.write_text(json.dumps(record), "utf-8")


def voice_calls() -> list[MadeCall]:
    return [call for call in sample_calls() if call.line == "pstn-g711u" and call.trial == 1]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Two calls of people: one with a task, one without."""
    for number, made in enumerate(voice_calls()[:2]):
        by_a_person(write_call(tmp_path / "people", made, audio=True), task=number == 0)
    return tmp_path / "people"


def test_a_call_without_a_task_needs_no_gold_and_no_brief(tmp_path: Path) -> None:
    resolved = resolve(person_spec(tmp_path))
    assert (resolved.goal, resolved.task_name) == (None, "healthcare/no-task")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"caller": "scripted"}, "only a person"),
        ({"model": "oracle"}, "choose a task"),
        ({"line": "text"}, "by voice"),
    ],
)
def test_what_cannot_be_without_a_task_is_refused(tmp_path: Path, fields: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(person_spec(tmp_path, **fields))
    assert says in caught.value.one_line()


def test_a_person_cannot_be_called_up_from_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        run_call(person_spec(tmp_path), on_event=lambda _: None, on_progress=lambda _: None)
    assert "callm-voice serve" in caught.value.one_line()
    assert not list(tmp_path.iterdir())


def test_people_are_counted_and_part_of_no_figure(tmp_path: Path, people: Path) -> None:
    run = write_run(tmp_path / "run", voice_calls())
    alone, both = score_run(load_calls([run])), score_run(load_calls([run, people]))
    assert (alone.calls.by_person, both.calls.by_person) == (0, 2)
    assert both.calls.found == alone.calls.found + 2
    assert both.models == alone.models
    assert both.notes == alone.notes


def test_nobody_is_blamed_for_a_persons_words(people: Path) -> None:
    assert [row.blame for row in load_calls([people])] == [None, None]


def test_a_call_without_a_task_is_verified_as_what_it_is(people: Path) -> None:
    free = next(f for f in find_calls(people) if load_record(f).outcome.status == "unscored")
    again = reverify_call(free, relative_to=people)
    assert (again.status, again.verdict, again.same) == ("unscored", None, True)


def test_the_site_shows_calls_of_people_alone(tmp_path: Path, people: Path) -> None:
    site = build_site([people], tmp_path / "site").index.parent
    pages = {p.relative_to(site).as_posix(): p.read_text("utf-8") for p in site.rglob("*.html")}
    calls = {name: text for name, text in pages.items() if name.startswith("call/")}
    assert len(calls) == 2
    free = next(text for name, text in calls.items() if "/no-task/" in name)
    assert "without a task, so nothing was expected" in free
    assert "2 calls by a person (never scored)" in pages["index.html"]
    for name, text in pages.items():
        for href in {part.split('"')[0] for part in text.split('href="')[1:]}:
            target = (site / name).parent / href.split("#")[0]
            assert href.startswith(("#", "data:")) or target.exists(), (name, href)


def test_failing_calls_of_people_are_no_failures_of_a_model(tmp_path: Path) -> None:
    failing = next(made for made in voice_calls() if made.plot == "missing_call")
    folder = write_call(tmp_path / "people", failing)
    assert build_site([tmp_path / "people"], tmp_path / "before").failures == 1
    by_a_person(folder, task=True)
    assert build_site([tmp_path / "people"], tmp_path / "after").failures == 0


def heard(turn_id: int, start_ms: float, end_ms: float, text: str) -> list[ev.Event]:
    return [
        ev.VadStarted(t_ms=start_ms, turn_id=turn_id),
        ev.TurnEnded(t_ms=end_ms, turn_id=turn_id, why="silence", audio_ms=end_ms - start_ms),
        ev.TranscriptReady(t_ms=end_ms + 50, turn_id=turn_id, heard=text),
    ]


def stretch(number: int, start_ms: float, end_ms: float, said: str = "") -> list[ev.Event]:
    return [
        ev.UtteranceStarted(t_ms=start_ms, utterance_id=number, said=said, spoken=said),
        ev.UtteranceEnded(t_ms=end_ms, utterance_id=number),
    ]


def test_a_persons_transcript_has_a_turn_for_each_that_was_heard_and_for_what_was_not() -> None:
    events = [
        *stretch(1, 1000, 1400), *stretch(2, 1700, 2500), *heard(1, 1050, 3000, "Hello, I need a refill."),
        *stretch(3, 5000, 5100), *stretch(4, 7000, 7500, "[keypad: 1 #]"), *heard(2, 7000, 8000, "[keypad: 1 #]"),
    ]  # fmt: skip
    turns = build_transcript(events, end_ms=9000, person=True)
    assert [(t.start_ms, t.said, t.heard) for t in turns] == [
        (1000, "", "Hello, I need a refill."),
        (5000, "", None),
        (7000, "[keypad: 1 #]", "[keypad: 1 #]"),
    ]
