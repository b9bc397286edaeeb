"""An executor whose results are scripted: what the planner makes of them is tested without a single call."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

from support.records import full_record

from callm_voice.bench.run.executor import Job, JobError, JobResult
from callm_voice.core.record import CallRecord, Outcome, Usage
from callm_voice.core.runfolder import dump_record

Answer = Callable[[Job], CallRecord | JobError]


class FakeExecutor:
    """Answers jobs in the order of submission.

    Args:
        answer: a record (its folder is written as a worker would) or an error.
    """

    def __init__(self, run_dir: Path, answer: Answer, *, slots: int = 1) -> None:
        self.slots = slots
        self._run_dir, self._answer = run_dir, answer
        self._jobs: deque[Job] = deque()
        self.made: list[str] = []
        """Ids in the order of submission."""
        self.waited = 0

    def free(self) -> bool:
        return len(self._jobs) < self.slots

    def submit(self, job: Job) -> None:
        assert self.free()
        self._jobs.append(job)
        self.made.append(job.id)

    def wait(self, timeout_s: float) -> list[JobResult]:
        self.waited += 1
        if not self._jobs:
            return []
        job = self._jobs.popleft()
        answer = self._answer(job)
        if isinstance(answer, JobError):
            return [JobResult(job.id, 1.0, error=answer)]
        folder = job.spec.folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "call.json").write_text(dump_record(answer), encoding="utf-8")
        return [JobResult(job.id, 1.0, record=answer)]

    def running(self) -> list[str]:
        return [job.id for job in self._jobs]

    def close(self) -> None:
        self._jobs.clear()


def passed(cost_usd: float | None = None) -> CallRecord:
    """A call that passed, with what it cost."""
    return full_record(
        outcome=Outcome(status="pass", end_reason="caller_hangup"), cost_usd=cost_usd, usage=Usage(inferences=1)
    )


def failed() -> CallRecord:
    """A call that failed."""
    return full_record(cost_usd=None)


def invalid(kind: str = "infrastructure", *, retry_after_s: float | None = None) -> CallRecord:
    """A call that does not count."""
    outcome = Outcome.model_validate(
        {"status": "invalid", "invalid_kind": kind, "end_reason": "model_error", "detail": "gone",
         "retry_after_s": retry_after_s}
    )  # fmt: skip
    return full_record(outcome=outcome, verdict=None, cost_usd=None)
