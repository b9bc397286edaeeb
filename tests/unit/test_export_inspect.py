"""Logs for Inspect: their content here; that Inspect itself reads them, where an interpreter with it is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.run_builder import MadeCall, sample_calls, write_run

from callm_voice.report.export_inspect import write_inspect_logs
from callm_voice.report.score import load_calls, score_run

pytestmark = pytest.mark.unit

INSPECT_PYTHON = os.environ.get("CALLM_VOICE_INSPECT_PYTHON", "")
"""An interpreter that has `inspect-ai`: `make inspect` makes one. It brings fifty packages, so it has its own place."""
READ = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log
found = []
for info in list_eval_logs(sys.argv[1]):
    log, head = read_eval_log(info), read_eval_log(info, header_only=True)
    again = type(log).model_validate_json(log.model_dump_json())
    found.append({
        "model": log.eval.model, "status": log.status, "head": head.eval.model,
        "same": again.model_dump_json() == log.model_dump_json(),
        "samples": [[s.id, s.epoch, None if s.error else s.scores["verdict"].value] for s in log.samples],
        "messages": [[m.role for m in s.messages] for s in log.samples],
        "metrics": {k: m.value for k, m in log.results.scores[0].metrics.items()},
    })
print(json.dumps(found))
"""


def logs(tmp_path: Path, *calls: MadeCall) -> dict[str, dict[str, Any]]:
    rows = load_calls([write_run(tmp_path / "run", calls)])
    paths = write_inspect_logs(rows, tmp_path / "logs")
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return {log["eval"]["model"]: log for log in found}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The folder and the logs of the whole sample run."""
    folder = tmp_path_factory.mktemp("sample")
    return folder, logs(folder, *sample_calls())


Sample = tuple[Path, dict[str, dict[str, Any]]]


def test_there_is_one_log_a_model_and_one_sample_a_call(sample: Sample) -> None:
    _, found = sample
    assert sorted(found) == ["alpha", "beta?temperature=0"]
    assert sum(len(log["samples"]) for log in found.values()) == len(sample_calls())


def test_trials_are_epochs_and_no_sample_stands_twice(sample: Sample) -> None:
    for log in sample[1].values():
        names = [(sample["id"], sample["epoch"]) for sample in log["samples"]]
        assert len(set(names)) == len(names)
    assert ("demo/C1-E1 over text", 5) in names


def test_the_metrics_are_those_of_the_scoreboard(sample: Sample) -> None:
    folder, found = sample
    for model in score_run(load_calls([folder / "run"])).models:
        metrics = found[model.model]["results"]["scores"][0]["metrics"]
        assert metrics["pass_at_1"]["value"] == model.pass_at_1
        assert ("pass5" in metrics) == (model.pass5 is not None)


def test_an_invalid_call_has_an_error_and_no_score(tmp_path: Path) -> None:
    (sample,) = logs(tmp_path, MadeCall(plot="infrastructure"))["alpha"]["samples"]
    assert (sample["error"]["message"], sample["scores"]) == ("invalid (infrastructure): infrastructure at fault", {})


def test_the_model_is_shown_what_was_heard_and_what_was_said_stands_beside_it(tmp_path: Path) -> None:
    (sample,) = logs(tmp_path, MadeCall(plot="misheard_name"))["alpha"]["samples"]
    first = next(message for message in sample["messages"] if message["role"] == "user")
    assert "Anna Feel" in first["content"]
    assert "Ana Field" in first["metadata"]["said"]
    assert sample["scores"]["verdict"] == {
        "value": "I", "explanation": "the full_name was said, another was heard, and the model used that",
    }  # fmt: skip


def test_every_tool_call_is_answered_and_one_that_did_not_run_says_why(tmp_path: Path) -> None:
    (sample,) = logs(tmp_path, MadeCall(plot="not_run"))["alpha"]["samples"]
    made = [call["id"] for message in sample["messages"] for call in message.get("tool_calls", ())]
    answers = [message for message in sample["messages"] if message["role"] == "tool"]
    assert made == [answer["tool_call_id"] for answer in answers]
    assert [answer["error"]["message"] for answer in answers if "error" in answer] == ["unknown argument"]


def test_an_unknown_count_of_tokens_is_left_out(tmp_path: Path) -> None:
    usage = {"usage": {"inferences": 1}}
    (sample,) = logs(tmp_path, MadeCall(changes=usage))["alpha"]["samples"]
    assert sample["model_usage"] == {}


@pytest.mark.skipif(
    not INSPECT_PYTHON and find_spec("inspect_ai") is None,
    reason="no Inspect here: set CALLM_VOICE_INSPECT_PYTHON to an interpreter that has inspect-ai (make inspect)",
)
@pytest.mark.timeout(300)
def test_inspect_reads_the_logs(sample: Sample) -> None:
    folder, written = sample
    python = INSPECT_PYTHON or sys.executable
    done = subprocess.run([python, "-c", READ, str(folder / "logs")], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    read = {log["model"]: log for log in json.loads(done.stdout)}
    assert sorted(read) == sorted(written)
    for model, log in written.items():
        assert (read[model]["status"], read[model]["same"], read[model]["head"]) == ("success", True, model)
        assert read[model]["samples"] == [
            [s["id"], s["epoch"], s["scores"]["verdict"]["value"] if s["scores"] else None] for s in log["samples"]
        ]
        assert read[model]["messages"] == [[m["role"] for m in s["messages"]] for s in log["samples"]]
        assert read[model]["metrics"] == {k: m["value"] for k, m in log["results"]["scores"][0]["metrics"].items()}
