"""What the planner makes of results: retries, caps, waits, the cost cap, deaths, resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fake_executor import Answer, FakeExecutor, failed, invalid, passed
from support.small_pack import small_pack

from callm_voice.bench.run.executor import Job, JobError
from callm_voice.bench.run.ledger import Ledger
from callm_voice.bench.run.plan import RunArgs, RunPlan
from callm_voice.bench.run.planner import Planner, StoppedError
from callm_voice.bench.run.planning import make_plan
from callm_voice.bench.run.session import load_plan, retry
from callm_voice.bench.run.status import status
from callm_voice.bench.run.store import FolderStore
from callm_voice.core.clock import RealClock
from callm_voice.core.runfolder import find_calls
from callm_voice.core.runstate import Attempt, Snapshot

pytestmark = pytest.mark.unit


class Run:
    """A planned run in a folder, worked off by fake executors."""

    def __init__(self, folder: Path, clock: RealClock, **changes: object) -> None:
        fields: dict[str, object] = {
            "packs": (str(small_pack(folder)),), "models": ("oracle", "oracle?ttft_ms=1"), "lines": ("text",),
            "trials": 3, "pipeline": "scripted", "backoff_s": 0.0,
        }  # fmt: skip
        args = RunArgs.model_validate(fields | changes)
        self.store = FolderStore(folder / "run")
        self.plan: RunPlan = make_plan(args, created_at="2026-01-31T09:30:00Z", on_warning=print)
        self.clock = clock
        self.attempts: list[Attempt] = []
        self.executor: FakeExecutor
        self.planner: Planner

    def work(self, answer: Answer, *, slots: int = 1) -> Snapshot:
        assert self.store.local is not None
        self.store.write("plan.json", self.plan.to_json().encode())
        self.executor = FakeExecutor(self.store.local, answer, slots=slots)
        self.planner = Planner(
            self.store, self.plan, Ledger(self.store, self.plan), self.executor, self.clock, self._note
        )
        return self.planner.run()

    def _note(self, _: Snapshot, attempt: Attempt | None) -> None:
        if attempt is not None:
            self.attempts.append(attempt)

    @property
    def folder(self) -> Path:
        assert self.store.local is not None
        return self.store.local


@pytest.fixture
def clock() -> Iterator[RealClock]:
    made = RealClock(threads=1)
    yield made
    made.close()


@pytest.fixture
def run(tmp_path: Path, clock: RealClock) -> Run:
    return Run(tmp_path, clock)


def test_every_call_is_made_once(run: Run) -> None:
    snapshot = run.work(lambda _: passed(), slots=2)
    assert (snapshot.done, snapshot.passed, snapshot.total) == (6, 6, 6)
    assert run.executor.made == [call.id for call in run.plan.calls]
    assert run.work(lambda _: passed()).done == 6
    assert run.executor.made == [], "a finished run has nothing to do"


def test_an_invalid_call_is_moved_aside_and_made_again(run: Run) -> None:
    first = run.plan.calls[0].id
    answers = iter([invalid("caller"), invalid("harness")])
    snapshot = run.work(lambda job: next(answers, passed()) if job.id == first else passed())
    assert (snapshot.passed, snapshot.invalid, snapshot.used_up) == (6, 2, 0)
    assert Counter(run.executor.made)[first] == 3
    kept = sorted(p.relative_to(run.folder).as_posix() for p in find_calls(run.folder / "invalid"))
    assert kept == [f"invalid/bike_shop/C1-E1/oracle/text/t1/a{n}" for n in (1, 2)]
    assert status(run.store)["models"][0]["invalid"] == {"harness": 1, "infrastructure": 0, "caller": 1}


def test_a_trial_that_stays_invalid_is_given_up_at_the_cap_and_never_scored(run: Run) -> None:
    first = run.plan.calls[0].id
    snapshot = run.work(lambda job: invalid() if job.id == first else passed())
    assert (snapshot.done, snapshot.used_up) == (5, 1)
    assert Counter(run.executor.made)[first] == 3
    assert status(run.store)["used_up"] == [first]
    run.work(lambda _: passed())
    assert run.executor.made == [], "the cap holds over a resume"


def test_retry_invalid_allows_as_many_attempts_again(run: Run) -> None:
    first = run.plan.calls[0].id
    run.work(lambda job: invalid() if job.id == first else passed())
    assert retry(run.store, invalid=True, failed=False, now="2026-02-01T00:00:00Z") == [first]
    run.plan = load_plan(run.store) or run.plan
    assert run.work(lambda _: passed()).passed == 6
    assert run.executor.made == [first]
    assert len(find_calls(run.folder / "invalid")) == 3, "what was invalid stays to be seen"


def test_retry_failed_keeps_the_old_call_aside_and_says_so(run: Run) -> None:
    first = run.plan.calls[0].id
    run.work(lambda job: failed() if job.id == first else passed())
    assert retry(run.store, invalid=False, failed=True, now="2026-02-01T00:00:00Z") == [first]
    run.plan = load_plan(run.store) or run.plan
    assert run.work(lambda _: passed()).passed == 6
    found = status(run.store)["superseded"]
    assert [(entry["id"], entry["status"]) for entry in found] == [(first, "fail")]
    assert (run.folder / found[0]["folder"] / "call.json").is_file()
    assert len(find_calls(run.folder)) == 6, "a call that was set aside is no call of the run"


def test_a_retry_that_was_killed_between_plan_and_move_is_made_good(run: Run) -> None:
    first = run.plan.calls[0].id
    run.work(lambda job: failed() if job.id == first else passed())
    retry(run.store, invalid=False, failed=True, now="2026-02-01T00:00:00Z")
    run.plan = load_plan(run.store) or run.plan
    aside = run.plan.superseded[0].folder
    run.store.move(aside, "calls/bike_shop/C1-E1/oracle/text/t1")
    assert retry(run.store, invalid=True, failed=False, now="2026-02-01T00:00:00Z") == []
    assert (run.folder / aside / "call.json").is_file()


def test_a_call_whose_worker_dies_is_made_again_and_in_the_end_invalid(run: Run) -> None:
    first = run.plan.calls[0].id
    died = JobError("died", "the worker died (signal 9)")
    snapshot = run.work(lambda job: died if job.id == first else passed())
    assert [a.status for a in run.attempts if a.call_id == first] == ["unfinished", "unfinished", "invalid"]
    assert (snapshot.done, snapshot.used_up) == (5, 1)
    records = find_calls(run.folder / "invalid")
    assert len(records) == 1
    assert "signal 9" in (records[0] / "call.json").read_text("utf-8")


def test_an_infrastructure_fault_holds_its_model_and_no_other(tmp_path: Path, clock: RealClock) -> None:
    run = Run(tmp_path, clock, backoff_s=0.3, trials=2)
    answers = iter([invalid()])
    run.work(lambda job: next(answers, passed()))
    held, other = "oracle/text/t2", "oracle?ttft_ms=1/text/"
    order = [call_id.removeprefix("bike_shop/C1-E1/") for call_id in run.executor.made]
    assert order.index(held) > max(n for n, name in enumerate(order) if name.startswith(other))


def test_a_server_that_asks_to_be_left_alone_is(tmp_path: Path, clock: RealClock) -> None:
    run = Run(tmp_path, clock, trials=1, models=("oracle",))
    answers = iter([invalid(retry_after_s=0.5)])
    start_s = clock.now_s()
    run.work(lambda _: next(answers, passed()))
    assert clock.now_s() - start_s >= 0.5


def test_the_cost_cap_stops_the_run_and_a_higher_one_goes_on(run: Run) -> None:
    run.plan = run.plan.model_copy(update={"args": run.plan.args.model_copy(update={"max_cost": 0.25})})
    snapshot = run.work(lambda _: passed(cost_usd=0.1))
    assert run.planner.stopped_by_cost
    assert snapshot.done == 3
    assert snapshot.cost_usd == pytest.approx(0.3), "the call that crosses the cap is the last"
    run.plan = run.plan.model_copy(update={"args": run.plan.args.model_copy(update={"max_cost": 9.0})})
    assert run.work(lambda _: passed(cost_usd=0.1)).done == 6
    assert len(run.executor.made) == 3


def test_an_unknown_cost_is_not_zero(run: Run) -> None:
    run.work(lambda _: passed(cost_usd=None))
    found = status(run.store)
    assert found["cost_usd"] is None
    assert found["unpriced_attempts"] == 6


def test_what_concerns_every_call_stops_the_run(run: Run) -> None:
    answers = iter([passed()])
    error = JobError("stop", "the disk is full", exit_code=3)
    with pytest.raises(StoppedError, match="the disk is full") as raised:
        run.work(lambda _: next(answers, error))
    assert raised.value.exit_code == 3
    assert run.work(lambda _: passed()).done == 6


def test_an_invalid_call_that_a_killed_planner_left_is_put_in_order(run: Run) -> None:
    def answer(job: Job) -> JobError:
        folder = job.spec.folder()
        folder.mkdir(parents=True)
        (folder / "call.json").write_text(invalid().model_dump_json(), encoding="utf-8")
        return JobError("stop", "as if killed here")

    with pytest.raises(StoppedError):
        run.work(answer)
    assert status(run.store)["passed"] == 0, "it counts nothing while it stands there"
    assert run.work(lambda _: passed()).passed == 6
    assert len(find_calls(run.folder / "invalid")) == 1
