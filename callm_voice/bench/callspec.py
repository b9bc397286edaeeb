"""What one call is: enough to run it anywhere, and nothing that is not needed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from callm_voice.bench.agent_url import parse_agent
from callm_voice.bench.faults import parse_fault
from callm_voice.bench.tool_options import ToolOptions
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
    agent: str | None = None
    """Where an agent runs that is none of ours: `ws://…`, `wss://…`, `webrtc:URL`; then `model` is only its name."""
    tools: ToolOptions = ToolOptions()
    """How the call's tools are offered to an agent that runs elsewhere."""
    leg: Literal["process", "packets"] = "process"
    """How our own agent is reached: in the process, or over a real WebRTC connection."""
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

    @field_validator("agent")
    @classmethod
    def _known_agent(cls, value: str | None) -> str | None:
        if value is not None:
            parse_agent(value)
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
        """Where this call is written. A person's stands beside those of the same task, model and line, so that it is
        in the way of no plan's trial."""
        pack, task_id = self.split_task()
        line = f"{self.line}+{PERSON}" if self.caller == PERSON else self.line
        return call_dir(self.run_dir, pack=Path(pack).name, task=task_id, model=self.model, line=line, trial=self.trial)
