"""The seam between the planner and whatever makes the calls: `CallSpec` in, `CallRecord` out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from callm_voice.bench.callspec import CallSpec
from callm_voice.core.errors import CallmError, Fault, SetupError, UsageError
from callm_voice.core.record import CallRecord


@dataclass(frozen=True)
class Job:
    """One call to make."""

    id: str
    spec: CallSpec
    pack_hash: str
    """The pack must still be this one."""
    setup_s: float
    """Wall time until the line opens: engines and models are loaded, prompts read for the first time."""
    call_s: float
    """Wall time from there to the finished folder. Whoever exceeds one of the two is killed."""


@dataclass(frozen=True)
class JobError:
    """Why there is no record."""

    kind: Literal["stop", "call", "died"]
    """`stop`: a mistake of the user's or something that this machine lacks: no call of the run would fare better.
    `call`: this call could not be made. `died`: its process is gone; the call is simply unfinished."""
    message: str
    exit_code: int = 3
    fault: Fault = "harness"
    retry_after_s: float | None = None


@dataclass(frozen=True)
class JobResult:
    """What became of a job: a record, whose folder is in the store, or an error."""

    id: str
    wall_s: float
    record: CallRecord | None = None
    error: JobError | None = None


class Executor(Protocol):
    """Makes calls, several at a time. Not thread-safe."""

    slots: int

    def free(self) -> bool:
        """Whether another job would start at once."""
        ...

    def submit(self, job: Job) -> None:
        """Start a job; only when `free`."""
        ...

    def wait(self, timeout_s: float) -> list[JobResult]:
        """What has finished; waits for the first one, at most so long."""
        ...

    def running(self) -> list[str]:
        """Ids of the jobs under way."""
        ...

    def close(self) -> None:
        """End all workers; jobs under way are left unfinished. Does nothing the second time."""
        ...


def job_error(error: BaseException) -> JobError:
    """An exception of `run_call` as it travels to the planner."""
    if isinstance(error, UsageError | SetupError):
        return JobError("stop", error.one_line(), exit_code=error.exit_code, fault=error.fault)
    if isinstance(error, CallmError):
        return JobError("call", error.one_line(), fault=error.fault, retry_after_s=error.retry_after_s)
    return JobError("call", f"internal error: {type(error).__name__}: {error}")
