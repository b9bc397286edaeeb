"""The local executor: worker processes on this machine, each with its engines loaded once."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from callm_voice.bench.run.executor import Job, JobError, JobResult
from callm_voice.bench.run.store import Store
from callm_voice.core.clock import stopwatch
from callm_voice.core.runfolder import load_record

MODULE = "callm_voice.bench.run.worker"
GRACE_S = 5.0
"""How long workers may take to leave."""
LAST_WORDS = 300
"""Characters of a dead worker's stderr that go into the message."""


class LocalExecutor:
    """See `Executor`.

    Args:
        slots: most workers at once; they are started when there is work.
        store: if it is no folder of this machine's, calls are made in a temporary one and brought in when finished.
        inherit: file descriptors that every worker keeps open (the run's lock).
    """

    def __init__(self, slots: int, store: Store, *, inherit: Sequence[int] = ()) -> None:
        self.slots = slots
        self._store = store
        self._staging = None if store.local else tempfile.TemporaryDirectory(prefix="callm-run-")
        self._inherit = tuple(inherit)
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    def free(self) -> bool:
        return len(self._workers) < self.slots or any(worker.job is None for worker in self._workers)

    def submit(self, job: Job) -> None:
        idle = next((worker for worker in self._workers if worker.job is None), None)
        if idle is None:
            idle = _Worker(self._inherit)
            self._workers.append(idle)
            self._selector.register(idle.answers, selectors.EVENT_READ, idle)
        if self._staging is not None:
            job = replace(job, spec=job.spec.model_copy(update={"run_dir": Path(self._staging.name)}))
        idle.start(job)

    def wait(self, timeout_s: float) -> list[JobResult]:
        results: list[JobResult] = []
        limits = [left_s for worker in self._workers if (left_s := worker.left_s()) is not None]
        for key, _ in self._selector.select(max(0.0, min([timeout_s, *limits]))):
            results += self._hear(key.data)
        for worker in list(self._workers):
            left_s = worker.left_s()
            if left_s is not None and left_s <= 0 and worker.job is not None:
                what, why = worker.job, worker.overdue()
                wall_s = self._bury(worker)
                results.append(JobResult(what.id, wall_s, error=JobError("call", why)))
        return results

    def running(self) -> list[str]:
        return [worker.job.id for worker in self._workers if worker.job is not None]

    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [worker.process.pid for worker in self._workers]

    def close(self) -> None:
        for worker in self._workers:
            worker.leave()
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self._selector.close()
        if self._staging is not None:
            self._staging.cleanup()

    def _hear(self, worker: _Worker) -> list[JobResult]:
        results: list[JobResult] = []
        for message in worker.read():
            results += [self._brought_in(message, result) for result in worker.take(message)]
        if worker.gone:
            job = worker.job
            code, words = worker.process.wait(), worker.last_words()
            wall_s = self._bury(worker)
            if job is not None:
                why = f"the worker died ({_died_of(code)}){words}"
                results.append(JobResult(job.id, wall_s, error=JobError("died", why)))
        return results

    def _brought_in(self, message: dict[str, Any], result: JobResult) -> JobResult:
        if self._staging is not None and result.record is not None:
            folder = Path(message["folder"])
            self._store.put(folder, folder.relative_to(self._staging.name).as_posix())
            shutil.rmtree(folder)
        return result

    def _bury(self, worker: _Worker) -> float:
        """Kill and forget a worker; the wall time of its job so far."""
        self._selector.unregister(worker.answers)
        self._workers.remove(worker)
        wall_s = worker.wall_s()
        worker.kill()
        return wall_s


class _Worker:
    """One process, from our side."""

    def __init__(self, inherit: tuple[int, ...]) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self.process = subprocess.Popen(
            [sys.executable, "-m", MODULE],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, pass_fds=inherit,
            start_new_session=True,  # Ctrl-C is the planner's
        )  # fmt: skip
        assert self.process.stdout is not None
        self.answers = self.process.stdout
        os.set_blocking(self.answers.fileno(), False)
        self.job: Job | None = None
        self.gone = False
        self._unread = b""
        self._open = False
        self._since_s: Callable[[], float] = stopwatch()
        self.wall_s: Callable[[], float] = stopwatch()

    def start(self, job: Job) -> None:
        self.job, self._open = job, False
        self._since_s = self.wall_s = stopwatch()
        fields = {**asdict(job), "spec": job.spec.model_dump(mode="json")}
        self._send({"job": fields})

    def left_s(self) -> float | None:
        """Wall time that the job still has in its stage; None without a job."""
        if self.job is None:
            return None
        return (self.job.call_s if self._open else self.job.setup_s) - self._since_s()

    def overdue(self) -> str:
        assert self.job is not None
        limit_s, stage = (self.job.call_s, "the call") if self._open else (self.job.setup_s, "the start of the call")
        return f"deadline: {stage} took more than {limit_s:g} s of wall time; its worker was killed"

    def read(self) -> list[dict[str, Any]]:
        """Whole messages that have come."""
        while True:
            try:
                block = os.read(self.answers.fileno(), 65536)
            except BlockingIOError:
                break
            if not block:
                self.gone = True
                break
            self._unread += block
        *lines, self._unread = self._unread.split(b"\n")
        return [json.loads(line) for line in lines if line]

    def take(self, message: dict[str, Any]) -> list[JobResult]:
        """The result in a message, if it is one."""
        if self.job is None or self.job.id not in (message.get("open"), message.get("done"), message.get("error")):
            return []
        if "open" in message:
            self._open, self._since_s = True, stopwatch()
            return []
        job, self.job = self.job, None
        wall_s = self.wall_s()
        if "done" in message:
            return [JobResult(job.id, wall_s, record=load_record(Path(message["folder"])))]
        fields = {key: value for key, value in message.items() if key != "error"}
        return [JobResult(job.id, wall_s, error=JobError(**fields))]

    def leave(self) -> None:
        """Let an idle worker go; kill a busy one."""
        if self.job is None:
            self._send({"bye": True})
        else:
            self.process.kill()

    def end(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE_S)
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.answers.close()
        self._stderr.close()

    def last_words(self) -> str:
        """The end of its stderr."""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - 4000))
        words = " ".join(self._stderr.read().decode("utf-8", errors="replace").split())
        return f": {words[-LAST_WORDS:]}" if words else ""

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it has died; its stdout says so too
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()


def _died_of(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
