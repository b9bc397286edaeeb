"""What a second worker is worth: calls a second and worker, one worker against two."""

from __future__ import annotations

import statistics
import tempfile
from contextlib import closing
from pathlib import Path

from calls import ORACLE_AT_ONCE, PerfError

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.resolve import pack_dir
from callm_voice.bench.run.executor import Job
from callm_voice.bench.run.local import LocalExecutor
from callm_voice.bench.run.store import FolderStore
from callm_voice.core.clock import stopwatch
from callm_voice.desk.pack import load_pack

TASK = "legal/C1-E1"
CALLS = 12
"""Of each worker in a round; two more before them warm it up."""
ROUNDS = 3
LIMIT_S = 600.0


def run_workers_scaling() -> dict[str, float]:
    """Rounds of one and of two workers take turns, so that a drift of the machine touches both."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for workers, seen in rates.items():
            seen.append(_calls_per_s(workers) / workers)
    one, two = (statistics.median(rates[workers]) for workers in (1, 2))
    print(f"  calls a second and worker: one worker {one:.3f}, two workers {two:.3f}; rounds {rates}")
    return {"run_workers_scaling": two / one}


def _calls_per_s(workers: int) -> float:
    pack_hash = load_pack(pack_dir(TASK.partition("/")[0])).content_hash
    with tempfile.TemporaryDirectory(prefix="callm-perf-") as folder:
        run = Path(folder)
        with closing(LocalExecutor(workers, FolderStore(run))) as executor:

            def make(first: int, count: int) -> float:
                """Wall time of `count` calls."""
                elapsed_s = stopwatch()
                waiting, done = list(range(first, first + count)), 0
                while done < count:
                    while waiting and executor.free():
                        executor.submit(_job(run, waiting.pop(0), pack_hash))
                    for result in executor.wait(1.0):
                        if result.record is None or result.record.outcome.status != "pass":
                            raise PerfError(f"a call did not pass: {result.error or result.record}")
                        done += 1
                    if elapsed_s() > LIMIT_S:
                        raise PerfError(f"{count} calls took more than {LIMIT_S:g} s")
                return elapsed_s()

            make(1, 2 * workers)
            count = CALLS * workers
            return count / make(2 * workers + 1, count)


def _job(run: Path, number: int, pack_hash: str) -> Job:
    spec = CallSpec(task=TASK, model=ORACLE_AT_ONCE, pipeline="scripted", pace="fast", trial=number, run_dir=run)
    return Job(str(number), spec, pack_hash, setup_s=LIMIT_S, call_s=LIMIT_S)
