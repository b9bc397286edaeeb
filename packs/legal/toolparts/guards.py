"""Who calls, what is theirs, and how everything else is refused."""

from __future__ import annotations

from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .kinds import Row


def verified(ctx: ToolContext) -> Row | None:
    return ctx.row("SELECT * FROM clients WHERE id = ?", ctx.session["client_id"])


def not_verified(ctx: ToolContext) -> Envelope:
    return ctx.fail("identity_not_verified", "I need to confirm who I'm speaking with before I can look at that.")


def locked(ctx: ToolContext) -> Envelope:
    return ctx.fail("identity_locked", "I can't confirm your identity on this call. I can take a message for the firm.")


def who_calls(ctx: ToolContext) -> tuple[str, str, str] | None:
    """Whom the call is about: the column that names them, their id and their full name; None: nobody yet."""
    for column, table in (("client_id", "clients"), ("prospect_id", "prospects")):
        found = ctx.row(f"SELECT * FROM {table} WHERE id = ?", ctx.session[column])
        if found is not None:
            return column, found["id"], f"{found['first_name']} {found['last_name']}"
    return None


def has_id(ctx: ToolContext, table: Literal["offices", "attorneys"], key: str) -> bool:
    return ctx.row(f"SELECT 1 FROM {table} WHERE id = ?", key) is not None


def unknown_id(ctx: ToolContext, table: Literal["offices", "attorneys"], argument: str) -> Envelope:
    """Refuse an id that no row has, and list the ids that there are."""
    known = [row["id"] for row in ctx.rows(f"SELECT id FROM {table} ORDER BY id")]
    return ctx.fail(f"{argument}_unknown", "Let me look that up again.", {"known": known})


def own_matter(ctx: ToolContext, number: str) -> Row | None:
    return ctx.row("SELECT * FROM matters WHERE number = ? AND client_id = ?", number, ctx.session["client_id"])


def no_matter(ctx: ToolContext) -> Envelope:
    """Refuse a matter number, and list those of the verified client."""
    if verified(ctx) is None:
        return not_verified(ctx)
    own = ctx.rows("SELECT number FROM matters WHERE client_id = ? ORDER BY number", ctx.session["client_id"])
    return ctx.fail(
        "matter_unknown", "I don't see that matter under your name.", {"your_matters": [m["number"] for m in own]}
    )
