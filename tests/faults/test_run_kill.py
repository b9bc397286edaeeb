"""A run is killed fifty times, planner or worker, and its scoreboard is that of a run that nobody touched."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from pathlib import Path

import pytest
from support.parrot_server import parrot_server
from support.whole_run import AT_ONCE, board, children, copied_pack, is_alive, run_args, start_run

from callm_voice.bench.run.session import the_plan
from callm_voice.bench.run.store import open_store
from callm_voice.core.clock import stopwatch
from callm_voice.core.runfolder import find_calls, load_record

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1500)]
KILLS = 50
LAST_MOMENT = 55
"""So many of the 60 calls are finished when the last kill comes at the latest."""
PLANNER_SHARE = 0.25
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
        """Processes that were killed, or lost their planner."""
        self.kills = self.planner_kills = 0
        self._planner = start_run(args, self._log)

    def made(self) -> int:
        """Finished calls so far."""
        return len(find_calls(self._out)) if self._out.is_dir() else 0

    def kill_one(self, after_calls: int) -> bool:
        """Wait for so many calls and a moment, then kill -9 the planner or one of its workers; False: all is over."""
        waited_s = stopwatch()
        while self.made() < after_calls:
            if self._planner.poll() is not None:
                return False
            assert waited_s() < MOST_S, self.log()
            self._planner_lives(0.02)
        self._planner_lives(self._rng.uniform(0.0, 0.4))
        workers = children(self._planner.pid)
        if not workers or self._rng.random() < PLANNER_SHARE:
            self.gone += workers
            self.planner_kills += self._kill(self._planner.pid)
            self._planner.wait()
            self._planner = start_run(self._args, self._log)
        else:
            self._kill(self._rng.choice(workers))
        return True

    def finish(self) -> int:
        """Let it end; its exit code."""
        return self._planner.wait(timeout=MOST_S)

    def log(self) -> str:
        return self._log.read_text("utf-8")[-3000:]

    def _kill(self, pid: int) -> bool:
        """False: it had ended by itself in this moment."""
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.gone.append(pid)
        self.kills += 1
        return True

    def _planner_lives(self, seconds: float) -> None:
        """Let a moment pass, less if the planner ends."""
        try:
            self._planner.wait(seconds)
        except subprocess.TimeoutExpired:
            return


def test_fifty_kills_leave_the_scoreboard_of_an_undisturbed_run(tmp_path: Path) -> None:
    seed = int(os.environ.get("CALLM_TEST_SEED") or random.SystemRandom().randrange(1_000_000))
    rng = random.Random(seed)
    print(f"CALLM_TEST_SEED={seed}")
    pack = copied_pack("legal", tmp_path)
    with parrot_server() as parrot:
        models = f"{AT_ONCE},{parrot.model}"
        more = ("--limit", "6", "--trials", "5", "--workers", "2", "--invalid-cap", "100")
        quiet, killed = tmp_path / "quiet", tmp_path / "killed"
        assert start_run(run_args(quiet, pack, models, *more), tmp_path / "quiet.log").wait(timeout=MOST_S) == 0
        run = KilledRun(run_args(killed, pack, models, *more), killed, rng)
        for after_calls in sorted(rng.randrange(0, LAST_MOMENT) for _ in range(KILLS)):
            assert run.kill_one(after_calls), "the run was over too soon"
        assert run.finish() == 0, run.log()
    print(f"kills: {run.kills}, of them planners: {run.planner_kills}")
    assert run.kills >= KILLS - 2  # a process may have ended by itself in the moment of its kill
    assert 0 < run.planner_kills < run.kills

    assert board(killed) == board(quiet)
    assert all(row["open"] == 0 for row in board(killed).values())
    plan = the_plan(open_store(str(killed)))
    records = [load_record(folder) for folder in find_calls(killed)]
    made = [(r.config.task, r.config.model, r.config.line, r.config.trial, r.config.seed) for r in records]
    planned = [(f"{c.pack}/{c.task}", c.model, c.line, c.trial, c.seed) for c in plan.calls]
    assert sorted(made) == sorted(planned), "a call is missing, or there twice"
    assert len(planned) == 60
    assert list(killed.rglob("*.partial")) == []
    assert not (killed / "invalid").exists()
    assert [pid for pid in run.gone if is_alive(pid)] == []
    assert [c.seed for c in plan.calls] == [c.seed for c in the_plan(open_store(str(quiet))).calls]
