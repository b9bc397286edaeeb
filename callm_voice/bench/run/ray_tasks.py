"""The Ray executor: each call is a task on a cluster, with the processors and the share of a GPU that it needs.

A task makes its call in a temporary folder of its node and brings the finished folder to the run's store, `call.json`
last. Tasks run in actors, one for each slot, so engines stay warm and calls at the fast pace have a process each.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from callm_voice.bench.run.executor import Job, JobError, JobResult, job_error
from callm_voice.bench.run.store import Store, open_store
from callm_voice.bench.run.worker import make_call
from callm_voice.bench.workshop import Workshop
from callm_voice.core.clock import stopwatch
from callm_voice.core.errors import MissingDependencyError, SetupError, UsageError
from callm_voice.core.record import CallRecord
from callm_voice.llm.server_pool import ServerPool

Outcome = tuple[str | None, JobError | None]
"""The record's JSON, or why there is none."""


class CallActor:
    """One slot on a node: a process that makes calls one after another."""

    def __init__(self, where: str) -> None:
        self._store = open_store(where)
        self._shop = Workshop(ServerPool())

    def make(self, job: Job) -> Outcome:
        """Make a call and bring its folder to the store."""
        with tempfile.TemporaryDirectory(prefix="callm-ray-") as folder:
            try:
                here = Job(**{**job.__dict__, "spec": job.spec.model_copy(update={"run_dir": Path(folder)})})
                record, made = make_call(here, self._shop, lambda: None)
                self._store.put(Path(made), Path(made).relative_to(folder).as_posix())
            except Exception as error:  # noqa: BLE001 - every failure of a call is told to the planner, who judges it
                return None, job_error(error)
        return record.model_dump_json(), None

    def leave(self) -> None:
        """End the model servers."""
        self._shop.close()


class RayExecutor:
    """See `Executor`.

    Args:
        store: a URL, or a folder that every node sees under the same path.
        address: of the cluster; None: one is started on this machine.
        slots: calls at once; None: as many as the cluster has room for.
        cpus, gpus: of each call.

    Raises:
        MissingDependencyError: Ray is not installed.
        UsageError: the store is a relative folder of a remote cluster, or the cluster has no room for one call.
    """

    def __init__(self, store: Store, *, address: str | None, slots: int | None, cpus: float, gpus: float) -> None:
        try:
            import ray
        except ImportError:
            raise MissingDependencyError("ray", "ray") from None
        self._ray: Any = ray
        self._where = str(store.local.resolve()) if store.local is not None else store.name
        self._own = not ray.is_initialized()
        if self._own:
            self._connect(address)
        room = _room(ray.cluster_resources(), cpus, gpus)
        if room < 1:
            self._shutdown()
            raise UsageError(f"the Ray cluster has no room for a call of {cpus:g} processors and {gpus:g} GPUs")
        self.slots = slots or room
        self._actor = ray.remote(num_cpus=cpus, num_gpus=gpus)(CallActor)
        self._idle: list[Any] = []
        self._actors: list[Any] = []
        self._jobs: dict[Any, tuple[Job, Any, Callable[[], float]]] = {}

    def free(self) -> bool:
        return len(self._jobs) < self.slots

    def submit(self, job: Job) -> None:
        if not self._idle:
            actor = self._actor.remote(self._where)
            self._actors.append(actor)
            self._idle.append(actor)
        actor = self._idle.pop()
        self._jobs[actor.make.remote(job)] = (job, actor, stopwatch())

    def wait(self, timeout_s: float) -> list[JobResult]:
        if not self._jobs:
            threading.Event().wait(timeout_s)
            return []
        ready, _ = self._ray.wait(list(self._jobs), num_returns=1, timeout=timeout_s)
        results = [self._result(reference) for reference in ready]
        for reference, (job, actor, wall_s) in list(self._jobs.items()):
            limit_s = job.setup_s + job.call_s  # a node does not tell when the line opened
            if wall_s() > limit_s:
                self._forget(reference, actor)
                why = f"deadline: the call took more than {limit_s:g} s of wall time; its worker was killed"
                results.append(JobResult(job.id, wall_s(), error=JobError("call", why)))
        return results

    def running(self) -> list[str]:
        return [job.id for job, _, _ in self._jobs.values()]

    def close(self) -> None:
        for reference, (_, actor, _) in list(self._jobs.items()):
            self._forget(reference, actor)
        leaving = [actor.leave.remote() for actor in self._actors]
        if leaving:
            self._ray.wait(leaving, num_returns=len(leaving), timeout=10)
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors.clear()
        self._idle.clear()
        self._shutdown()

    def _result(self, reference: Any) -> JobResult:
        job, actor, wall_s = self._jobs[reference]
        try:
            text, error = self._ray.get(reference)
        except self._ray.exceptions.RayError as failure:
            self._forget(reference, actor)
            return JobResult(job.id, wall_s(), error=JobError("died", f"the worker died: {type(failure).__name__}"))
        del self._jobs[reference]
        self._idle.append(actor)
        record = CallRecord.model_validate_json(text) if text is not None else None
        return JobResult(job.id, wall_s(), record=record, error=error)

    def _forget(self, reference: Any, actor: Any) -> None:
        del self._jobs[reference]
        self._actors.remove(actor)
        self._ray.kill(actor)

    def _connect(self, address: str | None) -> None:
        options: dict[str, Any] = {"address": address} if address else {"include_dashboard": False}
        try:
            self._ray.init(logging_level="ERROR", log_to_driver=False, **options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise SetupError(f"Ray cannot be reached at {address or 'this machine'}: {error}") from error

    def _shutdown(self) -> None:
        if self._own:
            self._ray.shutdown()


def _room(resources: dict[str, float], cpus: float, gpus: float) -> int:
    """How many calls fit into a cluster."""
    fits = [resources.get(name, 0.0) / each for name, each in (("CPU", cpus), ("GPU", gpus)) if each > 0]
    return int(min(fits)) if fits else 1
