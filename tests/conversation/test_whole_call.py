"""A whole call over audio with scripted engines at the fast pace: the house from caller to verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import soundfile as sf
from support.cli import Ran, scripted_call

from callm_voice.core.events import CallEnded, LineEnded, from_jsonl

pytestmark = pytest.mark.conversation


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return scripted_call(tmp_path_factory.mktemp("run"), "--line", "pstn-g711u")


@pytest.fixture(scope="module")
def record(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    return ran.json


@pytest.fixture(scope="module")
def folder(ran: Ran, record: dict[str, Any]) -> Path:
    line = next(line for line in ran.err.splitlines() if line.startswith("call folder: "))
    return Path(line.removeprefix("call folder: "))


def test_the_oracle_passes_all_three_gates(record: dict[str, Any]) -> None:
    verdict = record["verdict"]
    assert (verdict["passed"], verdict["tools"]["passed"], verdict["path"]["passed"]) == (True, True, True)
    assert verdict["state"]["passed"] is True
    assert record["outcome"]["status"] == "pass"
    assert record["outcome"]["end_reason"] == "caller_hangup"


def test_stdout_is_one_json_document_and_progress_goes_to_stderr(ran: Ran) -> None:
    assert isinstance(json.loads(ran.out), dict)
    assert "transfer_to_identity" in ran.err


def test_the_recording_has_two_channels_as_long_as_the_line(record: dict[str, Any], folder: Path) -> None:
    info = sf.info(folder / "call.flac")
    assert info.channels == 2
    assert info.samplerate == record["rate_hz"] == 8000
    assert info.frames == record["ticks"] * 160


def test_the_events_end_with_the_line_and_the_call(record: dict[str, Any], folder: Path) -> None:
    events = from_jsonl((folder / "events.jsonl").read_text("utf-8"))
    assert [e.ticks for e in events if isinstance(e, LineEnded)] == [record["ticks"]]
    assert [e.reason for e in events if isinstance(e, CallEnded)] == ["caller_hangup"]
    assert [e.t_ms for e in events] == sorted(e.t_ms for e in events)


def test_what_was_said_was_heard_word_for_word(record: dict[str, Any]) -> None:
    """The scripted recogniser makes no errors, so every difference would be a fault of turn-taking."""
    caller = [t for t in record["transcript"] if t["party"] == "caller"]
    assert len(caller) >= 10
    assert [t["heard"] for t in caller[:-1]] == [t["said"] for t in caller[:-1]]


def test_latency_stands_by_cause_and_its_spans_sum_to_the_whole(record: dict[str, Any]) -> None:
    latency = record["latency"]
    assert latency["scripted"] is True
    for cause in ("greeting", "caller_turn", "tool_result", "handoff"):
        ttft = latency["ttft"][cause]
        assert ttft["n"] > 0
        assert 0 < ttft["p50"] <= ttft["p95"]
    assert latency["turns"]
    for turn in latency["turns"]:
        assert all(span["duration_ms"] >= 0 for span in turn["spans"])
        assert sum(span["duration_ms"] for span in turn["spans"]) == pytest.approx(turn["v2v_ms"], abs=0.01)


def test_the_record_names_the_engines_that_ran(record: dict[str, Any]) -> None:
    engines = record["engines"]
    assert {"stt", "vad", "tts", "caller_tts", "endpointing", "codec"} <= set(engines)
    assert engines["codec"]["engine"] == "pcmu"
    assert engines["stt"]["scripted"] is True


def test_the_run_file_names_what_the_call_was_made_with(folder: Path) -> None:
    run = json.loads((folder.parents[5] / "run.json").read_text("utf-8"))
    assert {"pack:healthcare", "pipeline:scripted", "line:pstn-g711u"} <= set(run["hashes"])
    assert run["run_version"] == 1


def test_text_and_voice_give_the_same_calls_and_handoffs(record: dict[str, Any], tmp_path: Path) -> None:
    text = scripted_call(tmp_path, "--line", "text").json

    def deeds(of: dict[str, Any]) -> list[Any]:
        return [(c["role"], c["name"], c["args"], c["output"]) for c in of["trace"]["calls"]]

    assert deeds(text) == deeds(record)
    assert text["verdict"] == record["verdict"]


@pytest.mark.parametrize("task", ["healthcare/C1-E1", "healthcare/C1-M1"])
def test_the_oracle_passes_the_other_tasks(task: str, tmp_path: Path) -> None:
    ran = scripted_call(tmp_path, "--line", "clean-16k", task=task)
    assert ran.code == 0, ran.err
    assert ran.json["rate_hz"] == 16000
