"""Bills and charges, as the tools of billing see them, and what the desk may credit."""

from __future__ import annotations

import datetime as dt

from callm_voice.desk.toolkit import Envelope, ToolContext

from .common import Row, refuse
from .lines import own_subscription

CREDIT_LIMIT_CENTS = 5_000

OUTAGE_CREDIT_DAYS = 60
"""Outages that ended longer ago than this are not credited."""


def with_charges(ctx: ToolContext, invoice: Row) -> Row:
    """An invoice with its charges and what is due on it; disputed charges and credits count as not due."""
    charges = ctx.rows(
        "SELECT invoice_lines.id AS line_id, description, invoice_lines.amount_cents,"
        " coalesce(credits.amount_cents, 0) AS credited_cents, disputes.id IS NOT NULL AS disputed"
        " FROM invoice_lines LEFT JOIN credits ON credits.line_id = invoice_lines.id"
        " LEFT JOIN disputes ON disputes.line_id = invoice_lines.id WHERE invoice_number = ? ORDER BY invoice_lines.id",
        invoice["invoice_number"],
    )
    due = sum(c["amount_cents"] - c["credited_cents"] for c in charges if not c["disputed"])
    shown = [{**charge, "disputed": bool(charge["disputed"])} for charge in charges]
    return {**invoice, "due_cents": due if invoice["status"] == "open" else 0, "charges": shown}


def own_charge(ctx: ToolContext, line_id: str) -> Row | None:
    """A charge on a bill of the verified customer's, or None."""
    if refuse(ctx, "money"):
        return None
    return ctx.row(
        "SELECT invoice_lines.*, approved_script, creditable FROM invoice_lines JOIN invoices USING (invoice_number)"
        " JOIN charge_kinds USING (kind) WHERE invoice_lines.id = ? AND customer_id = ?",
        *(line_id, ctx.session["customer_id"]),
    )


def no_charge(ctx: ToolContext) -> Envelope:
    """Why own_charge found nothing."""
    refusal = refuse(ctx, "money")
    return refusal or ctx.fail("charge_unknown", "I don't see that charge on your account. Let me look again.")


def unexplained(ctx: ToolContext, line_id: str) -> Envelope | None:
    """Refuse a write about a charge that was not explained in this call."""
    if line_id in ctx.session["charges_explained"]:
        return None
    return ctx.fail("explain_first", "Let me look at that charge first.")


def creditable(ctx: ToolContext, line: Row) -> int:
    """What the desk itself may credit on a charge, in cents; 0 if it has been credited or is above the limit."""
    if ctx.row("SELECT 1 FROM credits WHERE line_id = ?", line["id"]):
        return 0
    if line["kind"] == "service":
        return min(int(line["amount_cents"]) * _days_without_service(ctx) // 30, CREDIT_LIMIT_CENTS)
    return int(line["amount_cents"]) if line["creditable"] and line["amount_cents"] <= CREDIT_LIMIT_CENTS else 0


def _days_without_service(ctx: ToolContext) -> int:
    """Whole days of outage in the customer's area, lately."""
    line = own_subscription(ctx)
    if line is None:
        return 0
    since = (ctx.now - dt.timedelta(days=OUTAGE_CREDIT_DAYS)).isoformat(timespec="minutes")
    found = ctx.rows(
        "SELECT began_at, ended_at FROM outages WHERE area_id = ? AND began_at >= ?", line["area_id"], since
    )
    spans = [
        (dt.datetime.fromisoformat(o["ended_at"]) if o["ended_at"] else ctx.now)
        - dt.datetime.fromisoformat(o["began_at"])
        for o in found
    ]
    return sum(span.days for span in spans)


def own_invoice(ctx: ToolContext, invoice_number: str) -> Row | None:
    """A bill of the verified customer's, or None."""
    if refuse(ctx, "money"):
        return None
    return ctx.row(
        "SELECT * FROM invoices WHERE invoice_number = ? AND customer_id = ?",
        *(invoice_number, ctx.session["customer_id"]),
    )


def no_invoice(ctx: ToolContext) -> Envelope:
    """Why own_invoice found nothing."""
    refusal = refuse(ctx, "money")
    return refusal or ctx.fail("invoice_unknown", "I don't see that bill on your account. Let me look again.")
