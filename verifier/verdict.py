"""What the gates said about one call."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from verifier.trace import Row


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ArgDiff(_Frozen):
    """One argument of an expected call beside the actual one."""

    name: str
    kind: Literal["equal", "differs", "missing", "extra"]
    expected: Any = None
    actual: Any = None


class CallFinding(_Frozen):
    """One row of the tools gate: an expected call, an actual one, or both."""

    kind: Literal["hit", "missing", "extra"]
    tool: str
    expected_index: int | None = None
    actual_index: int | None = None
    nearest_index: int | None = None
    """For `missing`: the unmatched actual call of the same tool whose arguments differ least, if there is one."""
    why: Literal["not_called", "arguments", "not_run", "refused", "not_refused"] | None = None
    """For `missing`: no call of the tool is left; or what keeps the nearest one from matching: its arguments, that it
    could not be run, that it ran and was refused, that it was not refused where gold expects it."""
    args: tuple[ArgDiff, ...] = ()
    """By name. Arguments that gold leaves free are `extra`."""


class ToolsGate(_Frozen):
    passed: bool
    findings: tuple[CallFinding, ...]


class PathGate(_Frozen):
    passed: bool
    expected: tuple[str, ...]
    actual: tuple[str, ...]


class RowFinding(_Frozen):
    """One row that is in only one of the two databases, ignored columns left out."""

    kind: Literal["missing", "extra"]
    """missing: expected and not there. extra: there and not expected. A wrong value shows as one of each."""
    table: str
    row: Row
    differs_from: Row | None = None
    """The row of the other kind that took its place: the same `id`, or without one the closest, if there is one."""


class StateGate(_Frozen):
    passed: bool
    findings: tuple[RowFinding, ...]


class Verdict(_Frozen):
    """`passed` is the logical and of the three gates."""

    verifier_version: str
    passed: bool
    tools: ToolsGate
    path: PathGate
    state: StateGate
