"""The command line as a user runs it: a process of its own, because the fast pace patches `time`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 240
QUICK_ORACLE = "oracle?ttft_ms=20&tokens_per_s=2000"


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error_lines(self) -> list[str]:
        """The lines that the error boundary printed."""
        return [line for line in self.err.splitlines() if line.startswith("callm-voice: ")]


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "callm_voice", *args]


@contextmanager
def hearing_ctrl_c() -> Iterator[None]:
    """A process that is started in this block hears SIGINT.

    A shell without job control starts what runs in the background (`pytest &` in a script) with SIGINT ignored, and
    every descendant keeps it ignored, as any program has to: a test that then sends it waits for nothing.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def callm(*args: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Ran:
    """Run `callm-voice ARGS` to its end."""
    merged = {**os.environ, "COLUMNS": "100", **(env or {})}
    done = subprocess.run(command(*args), capture_output=True, text=True, timeout=LIMIT_S, cwd=cwd, env=merged)
    return Ran(done.returncode, done.stdout, done.stderr)


def scripted_call(out: Path, *more: str, task: str = "healthcare/C5-H1", model: str = QUICK_ORACLE) -> Ran:
    """One whole call with scripted engines at the fast pace: no weights are needed."""
    return callm(
        "call", "--task", task, "--model", model, "--pipeline", "scripted", "--pace", "fast", "--json",
        "--out", str(out), *more,
    )  # fmt: skip
