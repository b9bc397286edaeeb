"""`--fault` on the command line: what a call exits with, and what a run does about each kind of ending."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cli import callm, scripted_call
from support.small_pack import small_pack
from support.whole_run import AT_ONCE, run_json

from callm_voice.bench.faults import KINDS
from callm_voice.core.runfolder import find_calls, load_record

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_pack(tmp_path_factory.mktemp("packs"))


@pytest.mark.parametrize(
    ("fault", "code"),
    [("llm-expired-keepalive", 0), ("llm-empty", 1), ("llm-401", 3), ("disk-full", 3), ("worker-killed", -9)],
)
def test_a_call_exits_with_what_the_table_says(fault: str, code: int, pack: Path, tmp_path: Path) -> None:
    ran = scripted_call(tmp_path, "--line", "text", "--fault", fault, task=f"{pack}/C1-E1", model=AT_ONCE)
    assert ran.code == code, ran.err
    assert "Traceback" not in ran.err
    assert len(find_calls(tmp_path)) == (fault not in ("disk-full", "worker-killed"))


@pytest.mark.parametrize(("fault", "words"), [("llm-402", "llm-401"), ("llm-401@x", "llm-401@N")])
def test_a_fault_that_is_none_is_a_usage_error(fault: str, words: str, tmp_path: Path) -> None:
    for ran in (
        scripted_call(tmp_path, "--fault", fault),
        run_json(tmp_path / "run", "healthcare", AT_ONCE, "--fault", fault),
    ):
        assert ran.code == 2, ran.err
        [line] = ran.error_lines
        assert words in line
    assert list(tmp_path.iterdir()) == []


def test_the_names_stand_in_the_help() -> None:
    shown = "".join(callm("call", "--help").out.split())
    assert [name for name in KINDS if name not in "".join(c for c in shown if c != "│")] == []


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("llm-429@1", "infrastructure"), ("database-locked", "harness"), ("caller-silent", "caller")],
)
def test_a_run_makes_an_invalid_call_again(fault: str, kind: str, pack: Path, tmp_path: Path) -> None:
    ran = run_json(tmp_path, pack, AT_ONCE, "--trials", "1", "--workers", "1", "--backoff-s", "0.1", "--fault", fault)
    assert ran.code == 0, ran.err
    [model] = ran.json["models"]
    assert (model["passed"], model["failed"]) == (1, 0)
    assert {k: n for k, n in model["invalid"].items() if n} == {kind: 1}
    [attempt] = find_calls(tmp_path / "invalid")
    assert load_record(attempt).warnings[0].startswith("fault injected: ")
    [counted] = find_calls(tmp_path / "calls")
    assert load_record(counted).warnings == ()


def test_a_run_counts_what_the_model_did(pack: Path, tmp_path: Path) -> None:
    ran = run_json(tmp_path, pack, AT_ONCE, "--trials", "1", "--workers", "1", "--fault", "llm-empty")
    assert ran.code == 0, ran.err
    [model] = ran.json["models"]
    assert (model["passed"], model["failed"], sum(model["invalid"].values())) == (0, 1, 0)


def test_a_run_makes_the_call_of_a_killed_worker_again(pack: Path, tmp_path: Path) -> None:
    ran = run_json(tmp_path, pack, AT_ONCE, "--trials", "1", "--workers", "1", "--fault", "worker-killed")
    assert ran.code == 0, ran.err
    [model] = ran.json["models"]
    assert (model["passed"], sum(model["invalid"].values())) == (1, 0)
    assert list(json.loads((tmp_path / "deaths.json").read_text()).values()) == [1]


def test_a_full_disk_stops_a_run_and_the_same_command_goes_on(pack: Path, tmp_path: Path) -> None:
    args = (tmp_path, pack, AT_ONCE, "--trials", "1", "--workers", "1")
    stopped = run_json(*args, "--fault", "disk-full")
    assert stopped.code == 3, stopped.err
    assert "the disk is full" in stopped.error_lines[0]
    again = run_json(*args)
    assert (again.code, again.json["models"][0]["passed"]) == (0, 1)
