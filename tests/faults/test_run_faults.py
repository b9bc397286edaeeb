"""What goes wrong in a whole run: each fault ends bounded, in the outcome that is documented, and the run goes on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from support.cli import callm
from support.parrot_server import Parrot, parrot_server
from support.small_pack import small_pack
from support.whole_run import AT_ONCE, board, children, is_alive, run_args, run_json, start_run

from callm_voice.core.clock import stopwatch
from callm_voice.core.runfolder import find_calls, load_record

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]
KEY = "sk-do-not-write-this-anywhere-0123456789"


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_pack(tmp_path_factory.mktemp("packs"))


def one_line(ran_err: str) -> str:
    lines = [line for line in ran_err.splitlines() if line.startswith("callm-voice: ")]
    assert len(lines) == 1, ran_err
    assert "Traceback" not in ran_err
    return lines[0]


def test_a_rate_limited_model_is_waited_for_and_then_scored(pack: Path, tmp_path: Path) -> None:
    refusals = [(429, {"Retry-After": "1"}), (503, {})]
    with parrot_server() as parrot:
        parrot.refuse = lambda: refusals.pop(0) if refusals else None
        ran = run_json(tmp_path / "run", pack, parrot.model, "--trials", "2", "--workers", "1", "--backoff-s", "0.1")
    assert ran.code == 0, ran.err
    model = ran.json["models"][0]
    assert (model["done"], model["invalid"]) == (2, {"harness": 0, "infrastructure": 2, "caller": 0})
    first = load_record(sorted(find_calls(tmp_path / "run" / "invalid"))[0])
    assert first.outcome.retry_after_s == 1
    assert "429" in first.outcome.detail


def test_a_server_that_is_gone_uses_up_the_attempts_and_other_models_go_on(pack: Path, tmp_path: Path) -> None:
    gone = "openai:http://127.0.0.1:9/v1#gone"
    ran = run_json(
        tmp_path / "run", pack, f"{gone},{AT_ONCE}", "--trials", "1", "--invalid-cap", "2", "--backoff-s", "0.1"
    )
    assert ran.code == 1, ran.err
    by_model = {row["model"]: row for row in ran.json["models"]}
    assert by_model[AT_ONCE]["passed"] == 1
    assert by_model[gone]["used_up"] == 1
    assert by_model[gone]["invalid"]["infrastructure"] == 2
    assert ran.json["used_up"] == [f"bike_shop/C1-E1/{gone}/text/t1"]


def test_a_call_over_its_deadline_is_killed_and_counts_as_the_harness_fault(pack: Path, tmp_path: Path) -> None:
    with parrot_server() as parrot:
        parrot.silent = True
        elapsed_s = stopwatch()
        ran = run_json(
            tmp_path / "run", pack, parrot.model, "--trials", "1", "--workers", "1", "--invalid-cap", "1",
            "--deadline-s", "8",
        )  # fmt: skip
    assert ran.code == 1, ran.err
    assert elapsed_s() < 200
    record = load_record(find_calls(tmp_path / "run" / "invalid")[0])
    assert (record.outcome.status, record.outcome.invalid_kind) == ("invalid", "harness")
    assert "deadline" in record.outcome.detail
    assert "8 s" in record.outcome.detail
    assert list((tmp_path / "run").rglob("*.partial")) == []


def test_no_file_of_a_run_holds_a_key(pack: Path, tmp_path: Path) -> None:
    with parrot_server() as parrot:
        answers = [(401, {}), (500, {"X-Echo": KEY})]
        parrot.refuse = lambda: answers.pop(0) if answers else None
        ran = run_json(
            tmp_path / "run", pack, parrot.model, "--trials", "2", "--workers", "1", "--backoff-s", "0.1",
            env={"CALLM_API_KEY": KEY},
        )  # fmt: skip
        assert ran.code == 0, ran.err
        assert f"Bearer {KEY}" in parrot.keys, "the key was really used"
    assert KEY not in ran.err + ran.out
    files = [p for p in (tmp_path / "run").rglob("*") if p.is_file()]
    assert len(files) > 8
    assert [p for p in files if KEY.encode() in p.read_bytes()] == []


def test_another_command_in_the_same_folder_is_refused_and_named(pack: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run_json(out, pack, AT_ONCE, "--trials", "1").code == 0
    ran = run_json(out, pack, AT_ONCE, "--trials", "2")
    assert ran.code == 2
    assert "--trials: was 1, is 2" in one_line(ran.err)
    assert "--extend" in one_line(ran.err)
    assert run_json(out, pack, AT_ONCE, "--trials", "2", "--extend").json["done"] == 2
    again = callm("run", "--out", str(out), "--json")
    assert (again.code, again.json["calls"]) == (0, 2)


def test_an_edited_pack_is_refused_with_the_file_named(tmp_path: Path) -> None:
    pack = small_pack(tmp_path / "packs")
    assert run_json(tmp_path / "run", pack, AT_ONCE, "--trials", "1").code == 0
    prompt = sorted((pack / "agents").glob("*.md"))[0]
    prompt.write_text(prompt.read_text("utf-8") + "\nBe brief.\n", encoding="utf-8")
    for more in ((), ("--extend",)):
        ran = run_json(tmp_path / "run", pack, AT_ONCE, "--trials", "1" if not more else "2", *more)
        assert ran.code == 2
        assert f"agents/{prompt.name}" in one_line(ran.err)


def test_going_on_with_nothing_is_a_usage_error(tmp_path: Path) -> None:
    ran = callm("run", "--out", str(tmp_path / "none"))
    assert ran.code == 2
    assert "--packs" in one_line(ran.err)
    assert callm("status", str(tmp_path)).code == 2


def test_a_dry_run_writes_nothing(pack: Path, tmp_path: Path) -> None:
    ran = run_json(tmp_path / "run", pack, AT_ONCE, "--trials", "3", "--dry-run")
    assert (ran.code, len(ran.json["calls"])) == (0, 3)
    assert not (tmp_path / "run").exists()


def test_two_planners_never_work_on_one_run_and_a_killed_one_leaves_no_worker(pack: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with parrot_server() as parrot:
        parrot.silent = True
        planner = start_run(run_args(out, pack, parrot.model, "--trials", "1"), tmp_path / "log")
        waited_s = stopwatch()
        while not parrot.chats:
            assert waited_s() < 200, (tmp_path / "log").read_text("utf-8")
            assert planner.poll() is None
            _wait(planner, 0.05)
        state = callm("status", str(out), "--json").json
        assert state["state"] == "running"
        refused = callm("retry", str(out), "--invalid")
        assert refused.code == 2
        assert f"process {planner.pid}" in one_line(refused.err)
        workers = children(planner.pid)
        assert len(workers) == 1
        os.kill(planner.pid, signal.SIGKILL)
        planner.wait()
        _until_gone(workers[0])
        parrot.silent = False
        ran = run_json(out, pack, parrot.model, "--trials", "1")
    assert ran.code == 0, ran.err
    assert list(board(out).values()) == [{"pass": 0, "fail": 1, "open": 0}]


def test_an_interrupt_ends_a_run_soon_and_leaves_no_worker(pack: Path, tmp_path: Path) -> None:
    with parrot_server() as parrot:
        parrot.silent = True
        planner = start_run(run_args(tmp_path / "run", pack, parrot.model, "--trials", "1"), tmp_path / "log")
        _until_asked(parrot)
        workers = children(planner.pid)
        planner.send_signal(signal.SIGINT)
        assert planner.wait(60) == 130
        assert [pid for pid in workers if is_alive(pid)] == []
    log = (tmp_path / "log").read_text("utf-8")
    assert "Traceback" not in log
    assert log.splitlines()[-1].startswith("callm-voice: interrupted")


def _wait(process: object, seconds: float) -> None:
    """Let a moment pass."""
    import threading

    threading.Event().wait(seconds)


def _until_asked(parrot: Parrot) -> None:
    waited_s = stopwatch()
    while not parrot.chats:
        assert waited_s() < 200
        _wait(None, 0.05)


def _until_gone(pid: int) -> None:
    waited_s = stopwatch()
    while is_alive(pid):
        assert waited_s() < 30, "a worker outlived its planner"
        _wait(None, 0.02)
