"""Who is on the phone, and how everything else is refused."""

from __future__ import annotations

from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .kinds import Row

Table = Literal["locations", "providers", "appointment_types", "outside_practices"]


def verified(ctx: ToolContext) -> Row | None:
    """The verified patient's row with the name of the home office, or None."""
    return ctx.row(
        "SELECT patients.*, locations.name AS home_office FROM patients"
        " JOIN locations ON locations.id = home_location_id WHERE patients.id = ?",
        ctx.session["patient_id"],
    )


def not_verified(ctx: ToolContext) -> Envelope:
    return ctx.fail("identity_not_verified", "I need to confirm who I'm speaking with before I can look at that.")


def locked(ctx: ToolContext) -> Envelope:
    return ctx.fail(
        "identity_locked", "I can't confirm your identity on this call. I can take a message for the office."
    )


def known(ctx: ToolContext, table: Table, key: str) -> bool:
    column = "code" if table == "appointment_types" else "id"
    return ctx.row(f"SELECT 1 FROM {table} WHERE {column} = ?", key) is not None


def unknown(ctx: ToolContext, table: Table, argument: str) -> Envelope:
    """Refuse an id that no row has, and list the ids that there are."""
    column = "code" if table == "appointment_types" else "id"
    known = [row["key"] for row in ctx.rows(f"SELECT {column} AS key FROM {table} ORDER BY key")]
    return ctx.fail(f"{argument}_unknown", "Let me look that up again.", {"known": known})


def us_number(e164: str) -> bool:
    return len(e164) == 12 and e164[:2] == "+1" and e164[2] not in "01"


def five_digits(text: str) -> bool:
    return len(text) == 5 and text.isascii() and text.isdigit()


def mail_held(ctx: ToolContext) -> bool:
    """Whether letters to the verified patient come back."""
    return ctx.row("SELECT 1 FROM mail_holds WHERE patient_id = ?", ctx.session["patient_id"]) is not None


def portal_active(ctx: ToolContext) -> bool:
    found = ctx.row("SELECT status FROM portal_accounts WHERE patient_id = ?", ctx.session["patient_id"])
    return found is not None and found["status"] == "active"
