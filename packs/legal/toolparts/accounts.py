"""Invoices and trust money of the verified client, and why they are refused."""

from __future__ import annotations

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import not_verified, verified
from .kinds import Row

PLAN_FROM_CENTS = 60_000

OPEN_INVOICES = """
    SELECT i.number AS invoice_number, m.number AS matter_number, m.title, i.due_on,
           (SELECT sum(amount_cents) FROM invoice_lines WHERE invoice_number = i.number)
           - coalesce((SELECT sum(amount_cents) FROM payments WHERE invoice_number = i.number), 0) AS balance_cents,
           (SELECT months FROM payment_plans WHERE invoice_number = i.number) AS plan_months
    FROM invoices AS i JOIN matters AS m ON m.id = i.matter_id
    WHERE m.client_id = ? AND i.status = 'open'
    ORDER BY i.number
"""


def own_invoice(ctx: ToolContext, number: str) -> Row | None:
    return ctx.row(
        "SELECT i.* FROM invoices AS i JOIN matters AS m ON m.id = i.matter_id"
        " WHERE i.number = ? AND i.status <> 'void' AND m.client_id = ?",
        *(number, ctx.session["client_id"]),
    )


def no_invoice(ctx: ToolContext) -> Envelope:
    client = verified(ctx)
    if client is None:
        return not_verified(ctx)
    own = [i["invoice_number"] for i in ctx.rows(OPEN_INVOICES, client["id"])]
    return ctx.fail("invoice_unknown", "I don't see that on your account. Let me look again.", {"open_invoices": own})


def own_line(ctx: ToolContext, line_id: str) -> Row | None:
    line = ctx.row("SELECT * FROM invoice_lines WHERE id = ?", line_id)
    return line if line is not None and own_invoice(ctx, line["invoice_number"]) is not None else None


def open_balance(ctx: ToolContext, invoice_number: str) -> int:
    """What is open on an invoice, in cents."""
    row = ctx.row(
        "SELECT (SELECT sum(amount_cents) FROM invoice_lines WHERE invoice_number = ?1)"
        " - coalesce((SELECT sum(amount_cents) FROM payments WHERE invoice_number = ?1), 0) AS open",
        invoice_number,
    )
    return int(row["open"]) if row and row["open"] else 0


def held_in_trust(ctx: ToolContext, matter_id: str) -> int:
    """What is in trust for a matter, in cents."""
    row = ctx.row("SELECT coalesce(sum(amount_cents), 0) AS held FROM trust_ledger WHERE matter_id = ?", matter_id)
    return int(row["held"]) if row else 0


def no_plan_because(ctx: ToolContext, invoice_number: str) -> str | None:
    """Why an invoice cannot be paid in parts, in words that may be said; None if it can."""
    client = verified(ctx)
    if client is None or client["standing"] != "good":
        return "The billing team arranges plans for this account."
    if ctx.row("SELECT 1 FROM payment_plans WHERE invoice_number = ?", invoice_number):
        return "There is a plan for that invoice already."
    disputed = "SELECT 1 FROM fee_disputes AS f JOIN invoice_lines AS l ON l.id = f.line_id WHERE l.invoice_number = ?"
    if ctx.row(disputed, invoice_number):
        return "A line of that invoice is under review, so no plan can start yet."
    return None if open_balance(ctx, invoice_number) >= PLAN_FROM_CENTS else "Plans start at an invoice of $600.00."
