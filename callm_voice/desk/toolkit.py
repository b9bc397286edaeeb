"""What a pack's `tools.py` imports: the context of one tool call and two markers for arguments.

Every public function of `tools.py` whose first parameter is annotated `ToolContext` is a tool:

    def find_slots(ctx: ToolContext, day: dt.date, limit: int = 3) -> dict[str, Any]:
        '''Free appointment times of one day.

        Args:
            day: the day that is asked for.
            limit: how many slots at most.
        '''
        return ctx.ok({"slots": ctx.rows("SELECT * FROM slots WHERE day = ? LIMIT ?", day, limit)})

Arguments may be str, int, float, bool, datetime.date, datetime.time, datetime.datetime, Literal[...], list[str],
`X | None` with a default, `Annotated[str, Phone]` and `Annotated[str, Name]`. A default makes an argument optional.

A tool runs in one transaction, which the desk begins and ends: it cannot commit, change the schema, attach a file or
set a pragma. What it wrote is kept if it returns, also with `ok: false` (a failed identity check may be a row). If it
raises, the database and the session are as before and the model gets `tool_error`.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from dataclasses import dataclass
from typing import Any

Envelope = dict[str, Any]
"""`{data, error_code, ok, <safe message key>}`."""


class Phone:
    """Marker: `Annotated[str, Phone]` is a telephone number as ITU-T E.164 writes it, `+12125550133`."""


class Name:
    """Marker: `Annotated[str, Name]` is a person's name; surrounding and doubled spaces are removed."""


def iso(value: dt.date | dt.time | dt.datetime) -> str:
    """ISO 8601 text as the databases of packs hold it: `2026-08-24`, `09:00`, `2026-08-24T09:00`.

    Seconds stand there only if they are not zero; nothing finer than a second is kept.
    """
    if isinstance(value, dt.datetime | dt.time):
        return value.isoformat(timespec="seconds" if value.second else "minutes")
    return value.isoformat()


def sql_value(value: Any) -> Any:
    """A bound parameter as SQLite holds it: dates and times as ISO text, booleans as 0 and 1."""
    if isinstance(value, dt.date | dt.time):
        return iso(value)
    return int(value) if isinstance(value, bool) else value


@dataclass(frozen=True)
class ToolContext:
    """One tool call's view of the call that it belongs to."""

    db: sqlite3.Connection
    """The call's own database, rows as `sqlite3.Row`. `rows`, `row` and `run` also bind dates, as ISO text."""
    now: dt.datetime
    """The pack's frozen clock, local to the business, without offset."""
    session: dict[str, Any]
    """Facts of this call that are not in the database, such as who was verified. Plain data only."""
    role: str
    """The role that called."""
    safe_message_key: str = "patient_safe_message"

    def rows(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        """All rows of a query, parameters bound to `?` in order."""
        return [dict(row) for row in self.db.execute(sql, [sql_value(p) for p in params])]

    def row(self, sql: str, *params: Any) -> dict[str, Any] | None:
        """The first row of a query, or None."""
        found = self.rows(sql, *params)
        return found[0] if found else None

    def run(self, sql: str, *params: Any) -> int:
        """Execute one writing statement; the rowid of the last row inserted on this connection, or 0."""
        return self.db.execute(sql, [sql_value(p) for p in params]).lastrowid or 0

    def ok(self, data: dict[str, Any] | None = None) -> Envelope:
        """The envelope of a success."""
        return envelope(self.safe_message_key, ok=True, data=data)

    def fail(self, error_code: str, safe_message: str | None = None, data: dict[str, Any] | None = None) -> Envelope:
        """The envelope of a refusal: a stable code, and words that may be said to the caller."""
        return envelope(self.safe_message_key, ok=False, data=data, error_code=error_code, safe_message=safe_message)


def envelope(
    safe_message_key: str,
    *,
    ok: bool,
    data: dict[str, Any] | None = None,
    error_code: str | None = None,
    safe_message: str | None = None,
) -> Envelope:
    """The answer of every tool, keys always in this order."""
    return {"data": data, "error_code": error_code, "ok": ok, safe_message_key: safe_message}
