"""What a call did, as the verifier reads it. Part of the call record."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

Row = dict[str, Any]
"""One database row: column name to int, float, str or None."""
State = dict[str, list[Row]]
"""A whole database: table name to its rows. The order of rows carries no meaning."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolCall(_Frozen):
    """One tool call of the model's, in the order in which they ran."""

    call_id: str
    """Unique in the call."""
    role: str
    """The role that called."""
    name: str
    args: dict[str, Any]
    """As the model gave them, after JSON parsing. Empty when `error` says that they could not be parsed."""
    output: dict[str, Any]
    """The envelope, or `{success, role}` of a transfer."""
    ok: bool
    """`output.ok`, or `output.success` of a transfer."""
    is_transfer: bool = False
    recovered: bool = False
    """The call arrived as JSON text in the content and was recovered because the model's spec says so."""
    error: str | None = None
    """Why it could not be run (unknown tool, arguments that are not JSON or do not fit the schema)."""
    t_ms: float = 0.0
    """On the line's clock, when it ran."""
    duration_ms: float = 0.0


class Handoff(_Frozen):
    """One successful transfer."""

    from_role: str
    to_role: str
    t_ms: float = 0.0


class Trace(_Frozen):
    """Everything of a call that the gates look at, except the state, which stands in `state.json`."""

    start_role: str
    calls: tuple[ToolCall, ...] = ()
    handoffs: tuple[Handoff, ...] = ()
