"""A worker of a run, as the planner has it, that makes one call after another with or without a fault in it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from support.small_pack import small_pack
from support.whole_run import children

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.run.executor import Job, JobResult
from callm_voice.bench.run.local import LocalExecutor
from callm_voice.bench.run.store import FolderStore
from callm_voice.core.clock import stopwatch
from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.pack import load_pack

VOICE, TEXT = "pstn-g711u", "text"
CALL_S = 100.0
"""Hard limit of one call; nothing here comes near it on an idle machine."""
QUICK = {
    "kind": "oracle", "ttft_ms": 0, "tokens_per_s": 10000,
    "timeouts": {"connect_s": 5, "first_token_s": 3, "stall_s": 1},
}  # fmt: skip


def fault_pipeline(into: Path, *, models: dict[str, Any] | None = None, **limits: Any) -> Path:
    """The scripted pipeline with limits that a test can wait for, and an oracle named `quick`."""
    pipeline = yaml.safe_load((installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8"))
    pipeline["limits"] = {"max_duration_s": 150.0, **limits}
    pipeline["models"] = {"quick": QUICK, **(models or {})}
    into.write_text(yaml.safe_dump(pipeline), encoding="utf-8")
    return into


@dataclass(frozen=True)
class Holdings:
    """What a process has open."""

    files: int
    threads: int
    children: int

    @classmethod
    def of(cls, pid: int) -> Holdings:
        """From the kernel's table (Linux)."""
        proc = Path(f"/proc/{pid}")
        return cls(len(os.listdir(proc / "fd")), len(os.listdir(proc / "task")), len(children(pid)))


@dataclass
class FaultWorker:
    """One worker at a time; a new one is started when it is gone.

    Args:
        folder: gets the pack, the pipeline and the calls.
    """

    folder: Path
    number: int = 0
    executor: LocalExecutor = field(init=False)
    _idle: dict[int, Holdings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pack = small_pack(self.folder / "packs")
        self._hash = load_pack(self.pack).content_hash
        self._pipeline = fault_pipeline(self.folder / "quick.yaml")
        self.run = self.folder / "run"
        self.executor = LocalExecutor(1, FolderStore(self.run))

    def call(
        self, line: str, fault: str | None = None, *, model: str = "quick", pipeline: Path | None = None
    ) -> JobResult:
        """Make a call; its result within `CALL_S`."""
        self.number += 1
        spec = CallSpec(
            task=f"{self.pack}/C1-E1", model=model, pipeline=str(pipeline or self._pipeline), line=line, pace="fast",
            trial=self.number, run_dir=self.run, fault=fault,
        )  # fmt: skip
        self.executor.submit(Job(str(self.number), spec, self._hash, setup_s=200, call_s=CALL_S))
        elapsed_s = stopwatch()
        while elapsed_s() < 300:
            for result in self.executor.wait(5):
                return result
        raise AssertionError(f"no end: {fault} on {line}")

    @property
    def pid(self) -> int:
        """Of the worker that there is."""
        [pid] = self.executor.pids()
        return pid

    def idle(self) -> Holdings:
        """What this worker has open after a first call by voice and one by text, which load what each of them needs."""
        if not self.executor.pids() or self.pid not in self._idle:
            for line in (VOICE, TEXT):
                self.unharmed(line)
            self._idle[self.pid] = self.holdings()
        return self._idle[self.pid]

    def unharmed(self, line: str) -> None:
        """A call without a fault passes."""
        result = self.call(line)
        assert result.record is not None, result.error
        assert (result.record.outcome.status, result.record.warnings) == ("pass", ())

    def holdings(self) -> Holdings:
        """Of the worker."""
        return Holdings.of(self.pid)


def eventually(what: Callable[[], bool], *, limit_s: float = 10.0) -> bool:
    """Whether it comes true within the limit."""
    elapsed_s = stopwatch()
    while not what():
        if elapsed_s() > limit_s:
            return False
        threading.Event().wait(0.05)
    return True
