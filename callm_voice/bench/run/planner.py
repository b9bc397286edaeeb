"""Works a plan off: hands out calls, takes results, retries what is invalid, stops at the cost cap."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from statistics import median
from typing import Literal

from callm_voice.bench.callspec import TEXT_LINE
from callm_voice.bench.run.executor import Executor, Job, JobError, JobResult
from callm_voice.bench.run.ledger import Ledger, Standing
from callm_voice.bench.run.outcomes import Backoff, invalid_record
from callm_voice.bench.run.plan import PLAN_FILE, RunPlan
from callm_voice.bench.run.store import Store
from callm_voice.bench.runfile import note_call
from callm_voice.core.clock import RealClock, stopwatch, utc_stamp
from callm_voice.core.errors import CallmError
from callm_voice.core.record import CallRecord
from callm_voice.core.runstate import Attempt, Snapshot

SETUP_S = 1800.0
"""For the start of a call: half a gigabyte from a cold disk, every role's prompt read for the first time."""
TEXT_CALL_S = 3600.0
"""For a call without audio: no line's clock ends it, and a slow model is no fault of the harness."""
TICK_S = 0.5
"""How often the queue is looked at while nothing happens."""
PROGRESS_FILE = "progress.json"


Listener = Callable[[Snapshot, Attempt | None], None]


class StoppedError(CallmError):
    """No further call of the run would fare better; what is finished stays, the same command goes on later."""

    def __init__(self, error: JobError) -> None:
        super().__init__(error.message, hint="mend it, and give the same command again")
        self.exit_code, self.fault = error.exit_code, error.fault


class Planner:
    """One run until it is finished or stopped.

    Args:
        on_change: told after every attempt, and when a call is handed out.
        fault: put into the first attempt at each call; the next ones go unharmed.
    """

    def __init__(
        self,
        store: Store,
        plan: RunPlan,
        ledger: Ledger,
        executor: Executor,
        clock: RealClock,
        on_change: Listener,
        *,
        fault: str | None = None,
    ) -> None:
        self._store, self._plan, self._ledger, self._executor = store, plan, ledger, executor
        self._clock, self._on_change, self._fault = clock, on_change, fault
        self._since_s = stopwatch()
        self._queue: deque[Standing] = deque(
            standing for standing in ledger.standings.values() if standing.status == "open" and not standing.used_up
        )
        self._hold_s: dict[str, float] = {}
        """Model → when it may be asked again, by `_since_s`."""
        self._backoff: dict[str, Backoff] = {}
        self._walls_s: list[float] = []
        self._run_dir = str(store.local) if store.local is not None else "."
        self.stopped_by_cost = False

    def run(self) -> Snapshot:
        """Work until nothing is left to do.

        Raises:
            StoppedError: something that concerns every call is wrong.
        """
        self._tell(None)
        while True:
            self._hand_out()
            if not self._executor.running() and (not self._queue or self.stopped_by_cost):
                break
            for result in self._executor.wait(TICK_S):
                self._tell(self._take(result))
        self._tell(None)
        return self.snapshot()

    def snapshot(self) -> Snapshot:
        """Where the run stands."""
        standings = self._ledger.standings.values()
        passed = sum(s.status == "pass" for s in standings)
        failed = sum(s.status == "fail" for s in standings)
        used_up = sum(s.used_up for s in standings)
        running = self._executor.running()
        left = len(self._queue) + len(running)
        typical_s = median(self._walls_s) if self._walls_s else None
        return Snapshot(
            total=len(standings), done=passed + failed, passed=passed, failed=failed,
            invalid=sum(len(s.invalid) for s in standings), used_up=used_up, running=tuple(running),
            cost_usd=self._ledger.cost_usd, unpriced=sum(s.unpriced for s in standings),
            eta_s=None if typical_s is None else typical_s * left / min(self._executor.slots, max(1, left)),
        )  # fmt: skip

    def _hand_out(self) -> None:
        while self._executor.free() and self._queue and not self._cost_cap_reached():
            ready = next((s for s in self._queue if self._hold_s.get(s.call.model, 0.0) <= self._since_s()), None)
            if ready is None:
                return
            self._queue.remove(ready)
            self._executor.submit(self._job(ready))
            self._tell(None)

    def _job(self, standing: Standing) -> Job:
        args, call = self._plan.args, standing.call
        by_line_s = TEXT_CALL_S if call.line == TEXT_LINE else self._plan.max_duration_s * 1.2 + 60
        call_s = args.deadline_s or by_line_s
        spec = self._plan.spec(call, self._run_dir)
        if self._fault is not None and not standing.attempts:
            spec = spec.model_copy(update={"fault": self._fault})
        return Job(call.id, spec, self._plan.packs[call.pack].hash, setup_s=args.deadline_s or SETUP_S, call_s=call_s)

    def _cost_cap_reached(self) -> bool:
        """Whether another call would probably exceed the cap: calls under way count with the mean of those before."""
        cap = self._plan.args.max_cost
        if cap is None:
            return False
        spent = self._ledger.cost_usd
        mean = spent / len(self._walls_s) if self._walls_s else 0.0
        self.stopped_by_cost = spent + mean * len(self._executor.running()) >= cap
        return self.stopped_by_cost

    def _take(self, result: JobResult) -> Attempt:
        if result.record is not None:
            return self._take_record(result, result.record)
        assert result.error is not None
        if result.error.kind == "stop":
            raise StoppedError(result.error)
        return self._take_error(result, result.error)

    def _take_record(self, result: JobResult, record: CallRecord) -> Attempt:
        standing = self._ledger.take(result.id, record)
        self._walls_s.append(result.wall_s)
        if self._store.local is not None:
            hashes = {f"pack:{standing.call.pack}": self._plan.packs[standing.call.pack].hash}
            hashes[f"pipeline:{self._plan.pipeline.id}"] = self._plan.pipeline.hash
            if line_hash := self._plan.lines[standing.call.line].hash:
                hashes[f"line:{record.config.line}"] = line_hash
            note_call(self._store.local, record, hashes, plan=PLAN_FILE)
        outcome = record.outcome
        if outcome.status == "invalid":
            return self._retry(standing, result, outcome.invalid_kind == "infrastructure", outcome.retry_after_s,
                               outcome.detail)  # fmt: skip
        self._backoff_of(standing.call.model).success()
        status: Literal["pass", "fail"] = "pass" if outcome.status == "pass" else "fail"  # a planned call has a task
        return Attempt(standing.call.id, status, outcome.detail, result.wall_s, again=False)

    def _take_error(self, result: JobResult, error: JobError) -> Attempt:
        standing = self._ledger.standings[result.id]
        if error.kind == "died":
            self._ledger.add_death(result.id)
            if not standing.used_up:
                self._queue.append(standing)
                return Attempt(standing.call.id, "unfinished", error.message, result.wall_s, again=True)
        kind: Literal["harness", "infrastructure"] = "infrastructure" if error.fault == "infrastructure" else "harness"
        record = invalid_record(self._plan, standing.call, kind, error.message, at=utc_stamp(self._clock.unix_s()))
        self._ledger.add_invalid(result.id, record)
        return self._retry(standing, result, kind == "infrastructure", error.retry_after_s, record.outcome.detail)

    def _retry(
        self, standing: Standing, result: JobResult, infrastructure: bool, retry_after_s: float | None, detail: str
    ) -> Attempt:
        """An invalid attempt: wait if its model's server may be in trouble, and queue it again if it may."""
        if infrastructure:
            wait_s = self._backoff_of(standing.call.model).fault(retry_after_s)
            self._hold_s[standing.call.model] = self._since_s() + wait_s
        again = not standing.used_up
        if again:
            self._queue.append(standing)
        return Attempt(standing.call.id, "invalid", detail, result.wall_s, again=again)

    def _backoff_of(self, model: str) -> Backoff:
        return self._backoff.setdefault(model, Backoff(self._plan.args.backoff_s))

    def _tell(self, finished: Attempt | None) -> None:
        snapshot = self.snapshot()
        if finished is not None:
            progress = {
                "at": utc_stamp(self._clock.unix_s()), "workers": self._executor.slots,
                "running": list(snapshot.running),
                "eta_s": None if snapshot.eta_s is None else round(snapshot.eta_s),
            }  # fmt: skip
            self._store.write(PROGRESS_FILE, json.dumps(progress, indent=1).encode() + b"\n")
        self._on_change(snapshot, finished)
