"""What a call did, as the verifier reads it. Part of the call record."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

Row = dict[str, Any]
"""One database row: column name to int, float, str or None."""
State = dict[str, list[Row]]
"""A whole database: table name to its rows. The order of rows carries no meaning."""

MAX_JSON_DEPTH = 60


def clean_json(value: Any, depth: int = 0) -> Any:
    """A value that came from a model, so that it can be written as JSON and read back the same.

    Half of a surrogate pair becomes U+FFFD, what is no finite number becomes its name (`"nan"`), what is nested deeper
    than `MAX_JSON_DEPTH` becomes `"..."`, an integer of more than 13,000 bits becomes `"(huge integer)"`.
    """
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, int):
        return value if value.bit_length() <= 13_000 else "(huge integer)"
    if depth >= MAX_JSON_DEPTH and isinstance(value, dict | list | tuple):
        return "..."
    if isinstance(value, dict):
        return {clean_json(str(k)): clean_json(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(v, depth + 1) for v in value]
    return value


JsonObject = Annotated[dict[str, Any], BeforeValidator(clean_json)]
"""Arguments or an output that a model had a hand in."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolCall(_Frozen):
    """One tool call of the model's, in the order in which they ran."""

    call_id: str
    """Unique in the call."""
    role: str
    """The role that called."""
    name: str
    args: JsonObject
    """As the model gave them, after JSON parsing. Empty when `error` says that they could not be parsed."""
    output: JsonObject
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
