"""`plan.json`: all calls of a run with their seeds, written before the first of them is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from callm_voice.bench.callspec import CallSpec
from callm_voice.core.ids import derive_seed

PLAN_FILE = "plan.json"
PLAN_VERSION = 1


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunArgs(_Strict):
    """What the command asked for."""

    packs: tuple[str, ...] = Field(min_length=1)
    models: tuple[str, ...] = Field(min_length=1)
    lines: tuple[str, ...] = Field(min_length=1)
    trials: int = Field(default=5, ge=1, le=1000)
    tasks: str | None = None
    """Globs with commas, over `TASK` and `PACK/TASK`."""
    limit: int | None = Field(default=None, ge=1)
    """At most so many tasks of each pack, the first ones."""
    seed: int = Field(default=1, ge=0, le=2**63 - 1)
    pace: Literal["real", "fast"] = "fast"
    pipeline: str = "cpu"
    caller: str = "scripted"
    invalid_cap: int = Field(default=3, ge=1, le=100)
    """Attempts at a trial; when all were invalid, it is left out and shown as such."""
    max_cost: float | None = Field(default=None, gt=0)
    """US dollars of the whole run."""
    deadline_s: float | None = Field(default=None, gt=0)
    """Wall time of a call from the opening of its line, after which its worker is killed; None: the pipeline's
    `max_duration_s`, a fifth of it and a minute; by text an hour."""
    backoff_s: float = Field(default=5.0, ge=0, le=3600)
    """Wait for a model after its first infrastructure fault in a row; doubled with each further one."""


FREE = frozenset({"invalid_cap", "max_cost", "deadline_s", "backoff_s"})
"""What may change from one start of a run to the next: it decides nothing about what a call is."""


class PlannedCall(_Strict):
    """One trial."""

    id: str
    """`PACK/TASK/MODEL/LINE/tN`."""
    pack: str
    task: str
    model: str
    line: str
    trial: int
    seed: int


class PackPlan(_Strict):
    """A pack as it was when the plan was made."""

    source: str
    """Name or path, as it was given."""
    version: str
    start_role: str
    hash: str
    files: dict[str, str]
    """Path in the pack → SHA-256, so that a refusal can name the file."""


class NamedHash(_Strict):
    """A line's or the pipeline's file, or a model's spec."""

    id: str
    """As results name it."""
    hash: str


class Superseded(_Strict):
    """A scored call that somebody asked to make again."""

    id: str
    folder: str
    """Where its folder is now, from the run's."""
    status: Literal["pass", "fail"]
    at: str


class RunPlan(BaseModel):
    """`plan.json`."""

    model_config = ConfigDict(extra="forbid")

    plan_version: int = PLAN_VERSION
    created_at: str
    product_version: str
    args: RunArgs
    earlier_args: list[RunArgs] = Field(default_factory=list)
    """Of the commands that this plan was extended from."""
    packs: dict[str, PackPlan]
    lines: dict[str, NamedHash]
    """Line as it was given → what it is."""
    models: dict[str, NamedHash]
    """Model as it was given → what it is; the caller's too."""
    pipeline: NamedHash
    max_duration_s: float
    calls: list[PlannedCall]
    more_attempts: dict[str, int] = Field(default_factory=dict)
    """Call → attempts that `retry --invalid` allowed beyond the cap."""
    superseded: list[Superseded] = Field(default_factory=list)

    def spec(self, call: PlannedCall, run_dir: str) -> CallSpec:
        """The call, ready for an executor that writes into `run_dir`."""
        return CallSpec.model_validate(
            {
                "task": f"{self.packs[call.pack].source}/{call.task}",
                "model": call.model, "pipeline": self.args.pipeline, "line": call.line, "caller": self.args.caller,
                "seed": call.seed, "pace": self.args.pace, "trial": call.trial, "run_dir": run_dir,
            }
        )  # fmt: skip

    def to_json(self) -> str:
        """The file's text."""
        return self.model_dump_json(indent=1) + "\n"


def call_seed(run_seed: int, pack: str, task: str, line: str, trial: int) -> int:
    """Seed of one trial: SHA-256 over the parts. The model is not among them, so models are compared on the same
    calls: same voice, same noise, same losses on the line."""
    return derive_seed(run_seed, pack, task, line, trial)


def planned_calls(args: RunArgs, tasks: dict[str, list[str]]) -> Iterator[PlannedCall]:
    """All calls in the order of making: the first trial of everything comes first, and the models take turns, so that
    an unfinished run can be compared.

    Args:
        tasks: pack id → its chosen tasks; the packs take turns too.
    """
    longest = max((len(ids) for ids in tasks.values()), default=0)
    in_turn = [(pack, ids[n]) for n in range(longest) for pack, ids in tasks.items() if n < len(ids)]
    for trial in range(1, args.trials + 1):
        for pack, task in in_turn:
            for line in args.lines:
                seed = call_seed(args.seed, pack, task, line, trial)
                for model in args.models:
                    yield PlannedCall(
                        id=f"{pack}/{task}/{model}/{line}/t{trial}",
                        pack=pack, task=task, model=model, line=line, trial=trial, seed=seed,
                    )  # fmt: skip
