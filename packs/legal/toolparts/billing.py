"""Invoices, payments, plans and trust money."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .accounts import OPEN_INVOICES, held_in_trust, no_invoice, no_plan_because, open_balance, own_invoice, own_line
from .guards import no_matter, not_verified, own_matter, verified

PLAN_MONTHS = (3, 6, 12)


def get_account_balance(ctx: ToolContext) -> Envelope:
    """What the verified client owes: the total and each open invoice with its matter, in cents.

    The only source of an amount that you may say.
    """
    client = verified(ctx)
    if client is None:
        return not_verified(ctx)
    invoices = ctx.rows(OPEN_INVOICES, client["id"])
    return ctx.ok({"balance_cents": sum(i["balance_cents"] for i in invoices), "open_invoices": invoices})


def get_invoice(ctx: ToolContext, invoice_number: str) -> Envelope:
    """One invoice of the verified client with its lines, their ids and amounts in cents.

    Args:
        invoice_number: Five digits.
    """
    invoice = own_invoice(ctx, invoice_number)
    if invoice is None:
        return no_invoice(ctx)
    lines = ctx.rows(
        "SELECT id AS line_id, kind, description, amount_cents FROM invoice_lines WHERE invoice_number = ? ORDER BY id",
        invoice_number,
    )
    shown = {k: invoice[k] for k in ("number", "issued_on", "due_on", "status")}
    return ctx.ok({**shown, "lines": lines, "balance_cents": open_balance(ctx, invoice_number)})


def explain_line(ctx: ToolContext, line_id: str) -> Envelope:
    """Why a line is on an invoice, in the approved words. Say them as they stand and add no reasons of your own.

    Args:
        line_id: Id of the line, from get_invoice.
    """
    line = own_line(ctx, line_id)
    if line is None:
        return no_invoice(ctx)
    script = ctx.row("SELECT approved_script FROM line_kinds WHERE kind = ?", line["kind"]) or {}
    return ctx.ok({"line_id": line_id, **script})


def list_payments(ctx: ToolContext) -> Envelope:
    """Payments of the verified client, newest first: date, amount in cents, method and invoice."""
    client = verified(ctx)
    if client is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT p.paid_on, p.amount_cents, p.method, p.invoice_number FROM payments AS p"
        " JOIN invoices AS i ON i.number = p.invoice_number JOIN matters AS m ON m.id = i.matter_id"
        " WHERE m.client_id = ? ORDER BY p.paid_on DESC, p.id DESC",
        client["id"],
    )
    return ctx.ok({"payments": found})


def get_trust_statement(ctx: ToolContext, matter_number: str) -> Envelope:
    """The trust account of one matter: balance and entries, in cents. Deposits are positive, money taken is negative.

    Args:
        matter_number: Four digits.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    entries = ctx.rows(
        "SELECT entry_on, kind, amount_cents, memo FROM trust_ledger WHERE matter_id = ? ORDER BY entry_on, id",
        matter["id"],
    )
    return ctx.ok(
        {"matter_number": matter_number, "balance_cents": held_in_trust(ctx, matter["id"]), "entries": entries}
    )


def request_trust_payment(ctx: ToolContext, invoice_number: str, amount_cents: int | None = None) -> Envelope:
    """Ask the attorney to pay an invoice out of the trust account of the same matter. Nothing moves before they agree.

    Args:
        invoice_number: Five digits.
        amount_cents: Only for a part of the invoice, if the caller named an amount. Leave it out for all of it.
    """
    invoice = own_invoice(ctx, invoice_number)
    if invoice is None:
        return no_invoice(ctx)
    balance, trust = open_balance(ctx, invoice_number), held_in_trust(ctx, invoice["matter_id"])
    amount = balance if amount_cents is None else amount_cents
    if not 0 < amount <= balance:
        return ctx.fail("amount_not_payable", "That is not an amount of that invoice. How much should it be?")
    if amount > trust:
        return ctx.fail(
            "trust_too_low", "There isn't enough in the trust account of that matter.", {"trust_balance_cents": trust}
        )
    asked = ctx.row("SELECT id FROM trust_requests WHERE kind = 'apply' AND invoice_number = ?", invoice_number)
    if asked:
        ctx.run("UPDATE trust_requests SET amount_cents = ? WHERE id = ?", amount, asked["id"])
    else:
        ctx.run(
            "INSERT INTO trust_requests (matter_id, kind, invoice_number, amount_cents, requested_on)"
            " VALUES (?, 'apply', ?, ?, ?)",
            *(invoice["matter_id"], invoice_number, amount, ctx.now.date()),
        )
    return ctx.ok({"requested": True, "invoice_number": invoice_number, "amount_cents": amount})


def request_trust_refund(ctx: ToolContext, matter_number: str) -> Envelope:
    """Ask for what is left in the trust account to be returned. Only for a closed matter without open invoices.

    Args:
        matter_number: Four digits.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    if matter["status"] != "closed":
        return ctx.fail("matter_open", "While a matter is open, the money in trust stays there for it.")
    if ctx.row("SELECT 1 FROM invoices WHERE matter_id = ? AND status = 'open'", matter["id"]):
        return ctx.fail("invoice_open", "There is still an open invoice on that matter.")
    amount = held_in_trust(ctx, matter["id"])
    if amount <= 0:
        return ctx.fail("trust_empty", "There is nothing left in the trust account of that matter.")
    if not ctx.row("SELECT id FROM trust_requests WHERE kind = 'refund' AND matter_id = ?", matter["id"]):
        ctx.run(
            "INSERT INTO trust_requests (matter_id, kind, amount_cents, requested_on) VALUES (?, 'refund', ?, ?)",
            *(matter["id"], amount, ctx.now.date()),
        )
    return ctx.ok({"requested": True, "matter_number": matter_number, "amount_cents": amount})


def check_payment_plan(ctx: ToolContext, invoice_number: str) -> Envelope:
    """Whether an invoice can be paid in monthly parts, and in which. Signs nobody up.

    Call it before you speak of a plan.

    Args:
        invoice_number: Five digits.
    """
    invoice = own_invoice(ctx, invoice_number)
    if invoice is None:
        return no_invoice(ctx)
    note = no_plan_because(ctx, invoice_number)
    balance = open_balance(ctx, invoice_number)
    options = [] if note else [{"months": m, "monthly_cents": -(-balance // m)} for m in PLAN_MONTHS]
    return ctx.ok({"eligible": note is None, "balance_cents": balance, "options": options, "note": note})


def start_payment_plan(ctx: ToolContext, invoice_number: str, months: int) -> Envelope:
    """Set up a plan of 3, 6 or 12 months. Only after check_payment_plan and a yes to the months and the monthly amount.

    Args:
        invoice_number: Five digits.
        months: 3, 6 or 12.
    """
    invoice = own_invoice(ctx, invoice_number)
    if invoice is None:
        return no_invoice(ctx)
    if months not in PLAN_MONTHS:
        return ctx.fail("months_not_offered", "The plan can run for three, six or twelve months.")
    balance = open_balance(ctx, invoice_number)
    running = ctx.row(
        "SELECT months, monthly_cents, first_due_on FROM payment_plans WHERE invoice_number = ?", invoice_number
    )
    if running is None or running["months"] != months:
        note = no_plan_because(ctx, invoice_number)
        if note is not None:
            return ctx.fail("no_plan", note)
        first = (ctx.now.date().replace(day=1) + dt.timedelta(days=32)).replace(day=1)
        running = {"months": months, "monthly_cents": -(-balance // months), "first_due_on": first.isoformat()}
        ctx.run(
            "INSERT INTO payment_plans (invoice_number, months, monthly_cents, first_due_on) VALUES (?, ?, ?, ?)",
            *(invoice_number, *running.values()),
        )
    return ctx.ok({"invoice_number": invoice_number, **running})


def send_payment_link(
    ctx: ToolContext, invoice_number: str, mobile_e164: Annotated[str, Phone], amount_cents: int | None = None
) -> Envelope:
    """Text the verified client a link to pay one invoice. Ask for the mobile first; only the one on file works.

    Args:
        invoice_number: Five digits.
        mobile_e164: The mobile that the caller gave.
        amount_cents: Only for a part of the invoice, if the caller named an amount. Leave it out for all of it.
    """
    client, invoice = verified(ctx), own_invoice(ctx, invoice_number)
    if client is None or invoice is None:
        return no_invoice(ctx)
    balance = open_balance(ctx, invoice_number)
    if balance == 0:
        return ctx.fail("nothing_due", "That invoice is paid, so there is nothing left to pay on it.")
    if mobile_e164 != client["mobile_e164"]:
        return ctx.fail("mobile_not_on_file", "I can only text the mobile that we have on file. Which one is that?")
    amount = balance if amount_cents is None else amount_cents
    if not 0 < amount <= balance:
        return ctx.fail("amount_not_payable", "That isn't an amount I can put on the link. How much should it be?")
    ctx.run(
        "INSERT OR IGNORE INTO payment_links (invoice_number, mobile_e164, amount_cents, sent_at) VALUES (?, ?, ?, ?)",
        *(invoice_number, mobile_e164, amount, ctx.now),
    )
    return ctx.ok({"sent": True, "invoice_number": invoice_number, "amount_cents": amount})


def dispute_line(ctx: ToolContext, line_id: str, reason: str) -> Envelope:
    """Ask for a review of a line that the caller says is wrong. Only after explain_line, and if they still object.

    Args:
        line_id: Id of the line, from get_invoice.
        reason: In one sentence, why the caller thinks that it is wrong.
    """
    line = own_line(ctx, line_id)
    if line is None:
        return no_invoice(ctx)
    if not reason.strip():
        return ctx.fail("reason_empty", "What looks wrong to you about that line?")
    if open_balance(ctx, line["invoice_number"]) == 0:
        return ctx.fail("invoice_settled", "That invoice is settled already, so there is nothing to review on it.")
    if not ctx.row("SELECT id FROM fee_disputes WHERE line_id = ?", line_id):
        ctx.run(
            "INSERT INTO fee_disputes (line_id, reason, opened_on) VALUES (?, ?, ?)",
            *(line_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"review": "open", "line_id": line_id})
