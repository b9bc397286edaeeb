"""Calls for measuring: each in a process of its own through the command line, as a user makes them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from callm_voice.core.events import Event, from_jsonl
from callm_voice.core.record import CallRecord

HERE = Path(__file__).parent
LIMIT_S = 420
TASK = "healthcare/C5-H1"
GRADES = ("C1-E1", "C1-M1", "C5-H1")
TASKS_AT_ONCE = tuple(f"healthcare/{task}" for task in GRADES)
"""As many as can start side by side at the real pace without any waiting for a core."""
TASKS = tuple(f"{pack}/{task}" for pack in ("healthcare", "legal", "customer_support") for task in GRADES)
"""An easy, a medium and a hard one of each desk."""
ORACLE = "oracle"
"""As it comes: 250 ms to the first token, 60 tokens a second."""
ORACLE_AT_ONCE = "oracle?ttft_ms=0&tokens_per_s=10000"


class PerfError(Exception):
    """A figure could not be taken; the message says why."""


@dataclass(frozen=True)
class MadeCall:
    """A finished call."""

    record: CallRecord
    events: list[Event]

    @property
    def v2v_ms(self) -> list[float]:
        assert self.record.latency is not None
        return [turn.v2v_ms for turn in self.record.latency.turns]

    @property
    def speedup(self) -> float:
        assert self.record.wall is not None
        return self.record.duration_ms / 1000 / self.record.wall.line_s

    def words(self) -> list[tuple[str, int, str, str | None, str | None]]:
        """The transcript without its times."""
        return [(t.party, t.turn_id, t.said, t.heard, t.played) for t in self.record.transcript]


class RunningCall:
    """A call under way. Use `finish`.

    Args:
        pipeline: name or path.
        task, model, pace: as for `callm-voice call`.
    """

    def __init__(self, *, pipeline: str | Path, model: str, pace: str, task: str = TASK) -> None:
        self._what = f"{task} with {Path(pipeline).name} at the {pace} pace"
        self._folder = tempfile.TemporaryDirectory(prefix="callm-perf-")
        self._process = subprocess.Popen(
            [
                sys.executable, "-m", "callm_voice", "call", "--task", task, "--model", model, "--pipeline",
                str(pipeline), "--pace", pace, "--out", self._folder.name, "--json",
            ],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish(self) -> MadeCall:
        """Wait for it.

        Raises:
            PerfError: the call did not pass.
        """
        with self._folder:
            try:
                out, err = self._process.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.communicate()
                raise PerfError(f"{self._what}: not over after {LIMIT_S} s") from None
            if self._process.returncode != 0:
                raise PerfError(f"{self._what}: exit code {self._process.returncode}; {err[-600:]}")
            events_file = next(Path(self._folder.name).rglob("events.jsonl"))
            return MadeCall(CallRecord.model_validate_json(out), from_jsonl(events_file.read_text(encoding="utf-8")))


def make_call(*, pipeline: str | Path, model: str, pace: str, task: str = TASK) -> MadeCall:
    """One call from beginning to end; see `RunningCall`."""
    return RunningCall(pipeline=pipeline, model=model, pace=pace, task=task).finish()
