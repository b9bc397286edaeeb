"""What a task expects. Never visible to anything that runs in a call (import-linter checks it)."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from verifier.trace import Row, State

ArgType = Literal[
    "string", "name", "integer", "number", "boolean", "date", "time", "datetime", "phone", "array", "object"
]
"""How an argument is normalised before it is compared. Never fuzzy."""


class GoldError(ValueError):
    """Gold does not fit its seed.

    Args:
        key: where in gold: `state.appointments.changed.0.where`.
        problem: one line: which row or column, and why.
    """

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key, self.problem = key, problem


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExpectedCall(_Frozen):
    """One tool call that must be matched by a distinct actual call. Arguments not named here are free."""

    tool: str
    args: dict[str, Any] = Field(default_factory=dict)
    ok: bool | None = True
    """What the tool must have answered: true; false for a call that must be refused; null for either."""


class ChangedRow(_Frozen):
    """One seed row that must have other values at hang-up."""

    where: Row
    """Columns that pick exactly one seed row."""
    set: Row
    """Columns and their values at hang-up."""


class TableChange(_Frozen):
    """What happens to one table against the seed."""

    written: tuple[Row, ...] = ()
    """Rows that are new. Ignored columns may be left out."""
    changed: tuple[ChangedRow, ...] = ()
    cleared: tuple[Row, ...] = ()
    """Columns that pick exactly one seed row that must be gone."""


class Gold(_Frozen):
    """The `gold:` part of a task, without the oracle's dialogue."""

    path: tuple[str, ...]
    """Roles in the order of the successful transfers, the start role not among them."""
    calls: tuple[ExpectedCall, ...]
    state: dict[str, TableChange] = Field(default_factory=dict)


class GoldFile(_Frozen):
    """`gold.json` in a call folder: all that `python -m verifier` needs beside the record and the state."""

    task: str
    """`PACK/TASK`."""
    gold: Gold
    seed: State
    """The pack's seed database, all tables."""
    ignored_columns: dict[str, str] = Field(default_factory=dict)
    """`table.column` (or `*.column`) to the reason why it is ignored."""
    arg_types: dict[str, dict[str, ArgType]] = Field(default_factory=dict)
    """tool → argument → how it is normalised. An argument that is not listed is compared by its JSON type."""
    now: dt.datetime | None = None
    """The pack's frozen date and time. No gate looks at it; who reads the caller's "next Tuesday" does."""
