"""A run is killed fifty times, planner or worker, and its scoreboard is that of a run that nobody touched."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from support.parrot_server import parrot_server
from support.small_pack import small_pack
from support.whole_run import AT_ONCE, board, children, is_alive, run_args, start_run

from callm_voice.bench.run.session import the_plan
from callm_voice.bench.run.store import open_store
from callm_voice.core.clock import stopwatch
from callm_voice.core.runfolder import find_calls, load_record

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1500)]
CALLS = 60
KILLS = 50
LAST_MOMENT = 55
"""So many of the calls are finished when the last kill comes at the latest."""
PLANNER_SHARE = 0.25
LATEST_S = 0.6
"""How long after a call a kill comes at the latest: about what a worker takes to start and to make its next one."""
LOOK_S = 0.04
MOST_S = 600
"""For one step of the run on a machine that is very busy."""


class KilledRun:
    """A run under way, killed and started again.

    Args:
        args: the whole command line.
        out: its folder.
    """

    def __init__(self, args: tuple[str, ...], out: Path, rng: random.Random) -> None:
        self._args, self._out, self._rng = args, out, rng
        self._log = out.with_suffix(".log")
        self.gone: list[int] = []
        """Processes that were killed, or lost the one that started them."""
        self.kills: Counter[str] = Counter()
        """Planner or worker → how often it was killed alive."""
        self.hit_calls = 0
        """Kills while a call's folder was begun and not finished."""
        self._planner = start_run(args, self._log)

    def made(self) -> int:
        """Finished calls so far."""
        return len(find_calls(self._out)) if self._out.is_dir() else 0

    def kill_one(self, after_calls: int) -> None:
        """Wait for so many calls and a moment, then kill -9 the planner or one of its workers."""
        waited_s = stopwatch()
        while self.made() < after_calls:
            assert waited_s() < MOST_S, self.log()
            self._let_pass(LOOK_S)
        self._let_pass(self._rng.uniform(0.0, LATEST_S))
        draw = self._rng.random()
        while True:
            workers = children(self._planner.pid)
            if draw < PLANNER_SHARE:
                self._kill_planner(workers)
                return
            if workers:
                self._kill_worker(workers[int(self._rng.random() * len(workers))])
                return
            self._let_pass(LOOK_S)  # it is still starting; a worker was drawn

    def finish(self) -> int:
        """Let it end; its exit code."""
        return self._planner.wait(timeout=MOST_S)

    def log(self) -> str:
        return self._log.read_text("utf-8")[-3000:]

    def _kill_planner(self, workers: list[int]) -> None:
        under_way = self._under_way()
        self.gone += [*workers, *(server for worker in workers for server in children(worker))]
        self._planner.kill()
        assert self._planner.wait() == -signal.SIGKILL, "it had ended by itself"
        self._count("planner", under_way)
        self._planner = start_run(self._args, self._log)

    def _kill_worker(self, pid: int) -> None:
        under_way = self._under_way()
        self.gone += [pid, *children(pid)]
        assert is_alive(pid)
        os.kill(pid, signal.SIGKILL)
        self._count("worker", under_way)

    def _count(self, whom: str, under_way: bool) -> None:
        self.kills[whom] += 1
        self.hit_calls += under_way

    def _under_way(self) -> bool:
        return next(self._out.glob("calls/*/*/*/*/*.partial"), None) is not None

    def _let_pass(self, seconds: float) -> None:
        """Let a moment pass in which the planner must not end."""
        try:
            code = self._planner.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        raise AssertionError(f"the run was over too soon, with exit code {code}:\n{self.log()}")


def test_fifty_kills_leave_the_scoreboard_of_an_undisturbed_run(tmp_path: Path) -> None:
    seed = int(os.environ.get("CALLM_TEST_SEED") or random.SystemRandom().randrange(1_000_000))
    rng = random.Random(seed)
    print(f"CALLM_TEST_SEED={seed}")
    pack = small_pack(tmp_path)
    with parrot_server() as parrot:
        models = f"{AT_ONCE},{parrot.model}"
        more = ("--trials", str(CALLS // 2), "--workers", "2", "--invalid-cap", "100")
        quiet, killed = tmp_path / "quiet", tmp_path / "killed"
        assert start_run(run_args(quiet, pack, models, *more), tmp_path / "quiet.log").wait(timeout=MOST_S) == 0
        run = KilledRun(run_args(killed, pack, models, *more), killed, rng)
        for after_calls in sorted(rng.randrange(0, LAST_MOMENT) for _ in range(KILLS)):
            run.kill_one(after_calls)
        assert run.finish() == 0, run.log()
    print(f"kills: {dict(run.kills)}; while a call was under way: {run.hit_calls}")
    assert run.kills.total() == KILLS
    assert set(run.kills) == {"planner", "worker"}
    assert run.hit_calls > 0

    assert board(killed) == board(quiet)
    assert all(row["open"] == 0 for row in board(killed).values())
    plan = the_plan(open_store(str(killed)))
    records = [load_record(folder) for folder in find_calls(killed)]
    made = [(r.config.task, r.config.model, r.config.line, r.config.trial, r.config.seed) for r in records]
    planned = [(f"{c.pack}/{c.task}", c.model, c.line, c.trial, c.seed) for c in plan.calls]
    assert sorted(made) == sorted(planned), "a call is missing, or there twice"
    assert len(planned) == CALLS
    assert list(killed.rglob("*.partial")) == []
    assert not (killed / "invalid").exists()
    assert [pid for pid in run.gone if is_alive(pid)] == []
    assert [c.seed for c in plan.calls] == [c.seed for c in the_plan(open_store(str(quiet))).calls]
