"""Every row of docs/outcomes.md: the call ends bounded and as documented, nothing leaks, the next call is unharmed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.fault_worker import CALL_S, TEXT, VOICE, FaultWorker, Holdings, eventually, fault_pipeline
from support.parrot_server import parrot_server
from support.whole_run import children, is_alive

from callm_voice.bench.faults import parse_fault
from callm_voice.bench.faults_table import ENDINGS, LIMITS, Ending, Limit
from callm_voice.bench.run.executor import JobResult
from callm_voice.cli.call import exit_code
from callm_voice.core.runfolder import load_record

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]
ROWS = [pytest.param(row, line, id=f"{row.fault}-{line}") for row in ENDINGS for line in (VOICE, TEXT)
        if line == VOICE or row.by_text]  # fmt: skip
LIMIT_ROWS = [pytest.param(limit, line, id=f"{limit.key}-{line}") for limit in LIMITS for line in (VOICE, TEXT)
              if line == VOICE or limit.by_text]  # fmt: skip
PRICE = {"input_usd": 100.0, "output_usd": 100.0}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultWorker]:
    made = FaultWorker(tmp_path_factory.mktemp("faults"))
    with closing(made.executor):
        yield made


def in_run(result: JobResult) -> str:
    """What the planner makes of it (bench/run/planner.py)."""
    if result.error is not None:
        return {"stop": "stops the run", "died": "made again", "call": "retried"}[result.error.kind]
    assert result.record is not None
    return "retried" if result.record.outcome.status == "invalid" else "counts"


@pytest.mark.parametrize(("row", "line"), ROWS)
def test_a_fault_ends_as_documented_and_harms_nothing(row: Ending, line: str, worker: FaultWorker) -> None:
    before = worker.idle()
    pid, started = worker.pid, children(worker.pid)
    folders = leftovers()

    result = worker.call(line, row.fault)

    assert result.wall_s < CALL_S
    check_ending(row, line, result)
    assert leftovers() - folders == set()
    if row.fault == "worker-killed":
        assert eventually(lambda: not any(is_alive(child) for child in [pid, *started]))
        worker.unharmed(line)
        return
    worker.unharmed(line)
    assert worker.pid == pid
    assert eventually(lambda: no_more(worker.holdings(), before)), (before, worker.holdings())


def check_ending(row: Ending, line: str, result: JobResult) -> None:
    assert in_run(result) == row.in_run
    if row.status == "none":
        assert result.error is not None
        return
    assert result.record is not None, result.error
    outcome = result.record.outcome
    reason = row.text_reason if line == TEXT and row.text_reason else row.reason
    assert (outcome.status, outcome.invalid_kind, outcome.end_reason) == (row.status, row.kind, reason), outcome.detail
    assert (result.record.verdict is None) == (row.status == "invalid")
    assert exit_code(result.record) == row.exit_code
    assert result.record.warnings == (f"fault injected: {parse_fault(row.fault)}",)


@pytest.mark.parametrize(("limit", "line"), LIMIT_ROWS)
def test_a_limit_ends_the_call_and_it_is_judged(limit: Limit, line: str, worker: FaultWorker, tmp_path: Path) -> None:
    with parrot_server() as parrot:
        priced = {"kind": "openai", "base_url": f"http://127.0.0.1:{parrot.port}/v1", "model": "p", "price": PRICE}
        pipeline = fault_pipeline(tmp_path / "limited.yaml", models={"priced": priced}, **{limit.key: limit.value})
        result = worker.call(line, model="priced", pipeline=pipeline)
    assert result.record is not None, result.error
    assert (result.record.outcome.status, result.record.outcome.end_reason) == ("fail", limit.reason)
    assert result.record.verdict is not None


def test_the_server_s_wish_to_be_left_alone_stands_in_the_record(worker: FaultWorker) -> None:
    result = worker.call(TEXT, "llm-429")
    assert result.record is not None
    assert result.record.outcome.retry_after_s == 2


def test_a_date_that_jumps_moves_no_time_of_the_call(worker: FaultWorker) -> None:
    result = worker.call(VOICE, "clock-jump")
    assert result.record is not None
    times = [turn.start_ms for turn in result.record.transcript]
    assert times == sorted(times)
    assert result.record.duration_ms < 150_000
    assert result.record.latency is not None


def test_a_slow_recogniser_shows_in_the_latency_and_nowhere_else(worker: FaultWorker) -> None:
    def slowest_ms(fault: str | None) -> float:
        result = worker.call(VOICE, fault)
        assert result.record is not None
        assert result.record.latency is not None
        return max(turn.v2v_ms or 0.0 for turn in result.record.latency.turns)

    assert slowest_ms("stt-slow") > slowest_ms(None) + 1000


def test_the_folder_of_a_full_disk_is_plainly_unfinished_and_made_again(worker: FaultWorker) -> None:
    for number in range(1, 6):
        result = worker.call(VOICE, f"disk-full@{number}")
        assert result.error is not None
        assert "the disk is full" in result.error.message
        assert (result.error.kind, result.error.exit_code) == ("stop", 3)
    partial = next(worker.run.rglob(f"t{worker.number}.partial"))
    assert not (partial / "call.json").is_file()
    worker.number -= 1  # the same trial again
    again = worker.call(VOICE)
    assert again.record is not None
    assert load_record(partial.with_name(f"t{worker.number}")).outcome.status == "pass"
    assert not partial.exists()


def leftovers() -> set[str]:
    """Temporary folders of ours."""
    return {path.name for path in Path(tempfile.gettempdir()).glob("callm-locked-*")}


def no_more(now: Holdings, before: Holdings) -> bool:
    return now.files <= before.files and now.threads <= before.threads + 1 and now.children <= before.children
