"""Statements, plans of monthly payments, and the fee that may be waived."""

from __future__ import annotations

from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .accounts import no_item, own_item
from .guards import mail_held, not_verified, portal_active, verified
from .kinds import WaiverReason


def list_statements(ctx: ToolContext) -> Envelope:
    """Statements of the verified patient, newest first: number, date, total in cents, and whether mail is on hold."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT number AS statement_number, issued_on, total_cents FROM statements WHERE patient_id = ?"
        " ORDER BY issued_on DESC, number DESC",
        patient["id"],
    )
    return ctx.ok({"statements": found, "mail_on_hold": mail_held(ctx)})


def send_statement_copy(ctx: ToolContext, statement_number: str, channel: Literal["portal", "mail"]) -> Envelope:
    """Send the verified patient a copy of a statement, to the portal or to the address on file.

    Args:
        statement_number: Five digits, from list_statements.
        channel: portal or mail, as the caller wants it.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    if not ctx.row("SELECT 1 FROM statements WHERE number = ? AND patient_id = ?", statement_number, patient["id"]):
        return ctx.fail("statement_unknown", "I don't see that statement on your account. Let me look again.")
    if channel == "mail" and mail_held(ctx):
        return ctx.fail("mail_on_hold", "A letter to you came back, so I need your current address before we mail it.")
    if channel == "portal" and not portal_active(ctx):
        return ctx.fail("portal_not_active", "Your portal account isn't active. I can mail it, or have you invited.")
    ctx.run(
        "INSERT OR IGNORE INTO statement_copies (statement_number, channel, sent_on) VALUES (?, ?, ?)",
        *(statement_number, channel, ctx.now.date()),
    )
    return ctx.ok({"sent": True, "statement_number": statement_number, "channel": channel})


def get_payment_plan(ctx: ToolContext) -> Envelope:
    """The monthly plan that the verified patient has with us: amount in cents, day, and whether the day may change."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    plan = ctx.row(
        "SELECT monthly_cents, due_day, day_changed, started_on FROM payment_plans WHERE patient_id = ?", patient["id"]
    )
    if plan is None:
        return ctx.fail("no_plan", "There is no monthly plan on your account.")
    may_change = not plan.pop("day_changed")
    return ctx.ok({**plan, "day_may_change": may_change})


def change_plan_day(ctx: ToolContext, due_day: int) -> Envelope:
    """Move the monthly due day of the verified patient's plan. It can be moved once; the amount stays.

    Args:
        due_day: Day of the month, 1 to 28, after you have read it back.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    plan = ctx.row("SELECT * FROM payment_plans WHERE patient_id = ?", patient["id"])
    if plan is None:
        return ctx.fail("no_plan", "There is no monthly plan on your account.")
    if not 1 <= due_day <= 28:
        return ctx.fail("day_not_possible", "The day has to be between the first and the twenty-eighth.")
    if plan["due_day"] != due_day:
        if plan["day_changed"]:
            return ctx.fail("day_already_changed", "The day was changed once before, and it can't be changed again.")
        ctx.run("UPDATE payment_plans SET due_day = ?, day_changed = 1 WHERE patient_id = ?", due_day, patient["id"])
    return ctx.ok({"due_day": due_day, "monthly_cents": plan["monthly_cents"]})


def request_fee_waiver(ctx: ToolContext, line_item_id: str, reason: WaiverReason) -> Envelope:
    """Ask the billing manager to waive a missed-visit or same-day fee. The fee stays until the manager decides.

    Args:
        line_item_id: Id of the fee, from get_account_balance.
        reason: Why the visit was missed, as the caller says.
    """
    item = own_item(ctx, line_item_id)
    if item is None:
        return no_item(ctx)
    if item["kind"] != "no_show" or item["status"] != "open":
        return ctx.fail(
            "not_a_fee", "Only an open missed-visit fee can be put to the manager. I can have a charge reviewed."
        )
    ctx.run(
        "INSERT OR IGNORE INTO fee_waiver_requests (line_item_id, reason, requested_on) VALUES (?, ?, ?)",
        *(line_item_id, reason, ctx.now.date()),
    )
    return ctx.ok({"requested": True, "line_item_id": line_item_id, "decided_by": "billing manager"})
