"""What one call is: enough to run it anywhere, and nothing that is not needed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from callm_voice.bench.faults import parse_fault
from callm_voice.core.errors import UsageError
from callm_voice.core.record import PERSON
from callm_voice.core.runfolder import call_dir

TEXT_LINE = "text"
"""The line that goes without audio altogether."""
NO_TASK = "no-task"
"""In the place of a task's id, which never looks like this: a person calls without one, and nothing is expected."""


class CallSpec(BaseModel):
    """One call to be made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    """`PACK/TASK`; PACK may be a path to a pack's folder, TASK may be `no-task` for a person."""
    model: str
    pipeline: str = "cpu"
    line: str = "pstn-g711u"
    caller: str = "scripted"
    seed: int = Field(default=1, ge=0, le=2**63 - 1)
    pace: Literal["real", "fast"] = "real"
    trial: int = Field(default=1, ge=1)
    run_dir: Path
    fault: str | None = None
    """`NAME[@WHEN]` of a fault to put into it (bench/faults.py); the record says so."""

    @field_validator("caller")
    @classmethod
    def _known_caller(cls, value: str) -> str:
        if value not in ("scripted", PERSON) and not value.startswith("llm:"):
            raise ValueError("expected `scripted` or `llm:MODEL`")
        return value

    @field_validator("fault")
    @classmethod
    def _known_fault(cls, value: str | None) -> str | None:
        return None if value is None else str(parse_fault(value))

    def split_task(self) -> tuple[str, str]:
        """(pack, task id).

        Raises:
            UsageError: there is no slash in it.
        """
        pack, _, task_id = self.task.rpartition("/")
        if not pack or not task_id:
            raise UsageError(f"task {self.task!r}: expected PACK/TASK", hint="for example healthcare/C5-H1")
        return pack, task_id

    def folder(self) -> Path:
        """Where this call is written."""
        pack, task_id = self.split_task()
        return call_dir(
            self.run_dir, pack=Path(pack).name, task=task_id, model=self.model, line=self.line, trial=self.trial
        )
