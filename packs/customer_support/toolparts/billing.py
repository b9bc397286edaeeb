"""Billing: what is due and why, credits up to the limit, reviews and disputes beyond it, paying."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .bills import (
    CREDIT_LIMIT_CENTS,
    creditable,
    no_charge,
    no_invoice,
    own_charge,
    own_invoice,
    unexplained,
    with_charges,
)
from .common import other_phone, refuse, remember

PAYMENT_GRACE_DAYS = 14


def list_invoices(ctx: ToolContext) -> Envelope:
    """Bills of the verified customer, newest first: what is still due, and every charge with its id. In cents.

    The only source of an amount of a bill that you may say.
    """
    if refusal := refuse(ctx, "money"):
        return refusal
    found = ctx.rows(
        "SELECT invoice_number, issued_on, due_on, status, pay_on FROM invoices WHERE customer_id = ?"
        " ORDER BY issued_on DESC, invoice_number LIMIT 6",
        ctx.session["customer_id"],
    )
    return ctx.ok({"invoices": [with_charges(ctx, invoice) for invoice in found]})


def explain_charge(ctx: ToolContext, line_id: str) -> Envelope:
    """Why a charge is there, in the approved words, and what this desk itself may credit on it, in cents.

    Call it before any credit, review or dispute. credit_possible_cents 0: this desk may credit nothing on it.

    Args:
        line_id: Id of the charge, from list_invoices.
    """
    line = own_charge(ctx, line_id)
    if line is None:
        return no_charge(ctx)
    remember(ctx, "charges_explained", line_id)
    return ctx.ok(
        {
            "line_id": line_id,
            "amount_cents": line["amount_cents"],
            "approved_script": line["approved_script"],
            "credit_possible_cents": creditable(ctx, line),
        }
    )


def apply_credit(ctx: ToolContext, line_id: str, amount_cents: int) -> Envelope:
    """Credit a charge, up to what explain_charge says is possible. Once a charge. Only after a yes to the amount.

    Args:
        line_id: Id of the charge.
        amount_cents: The amount, at most credit_possible_cents.
    """
    line = own_charge(ctx, line_id)
    if line is None:
        return no_charge(ctx)
    known = ctx.row("SELECT amount_cents FROM credits WHERE line_id = ?", line_id)
    if known is not None and known["amount_cents"] == amount_cents:
        return ctx.ok({"line_id": line_id, "credited_cents": amount_cents})
    if refusal := unexplained(ctx, line_id):
        return refusal
    if known is not None:
        return ctx.fail(
            "already_credited", "That charge already has a credit.", {"credited_cents": known["amount_cents"]}
        )
    possible = creditable(ctx, line)
    if not 0 < amount_cents <= possible:
        return ctx.fail(
            "above_limit", "I can't credit that much here. I can ask the refund team to look at it.",
            {"credit_possible_cents": possible},
        )  # fmt: skip
    ctx.run(
        "INSERT INTO credits (line_id, amount_cents, posted_on) VALUES (?, ?, ?)",
        *(line_id, amount_cents, ctx.now.date()),
    )
    return ctx.ok({"line_id": line_id, "credited_cents": amount_cents})


def request_refund_review(ctx: ToolContext, line_id: str, reason: str) -> Envelope:
    """Ask the refund team to give back what this desk may not: the rest of the charge. They decide; promise nothing.

    Only after explain_charge, for a charge that is right by the rules, and only if the caller wants it.

    Args:
        line_id: Id of the charge.
        reason: In one sentence, why the caller asks.
    """
    line = own_charge(ctx, line_id)
    if line is None:
        return no_charge(ctx)
    known = ctx.row("SELECT amount_cents FROM refund_reviews WHERE line_id = ?", line_id)
    if known is not None:
        return ctx.ok({"review": "asked", "line_id": line_id, "amount_cents": known["amount_cents"]})
    if refusal := unexplained(ctx, line_id):
        return refusal
    if not reason.strip():
        return ctx.fail("reason_empty", "What should I tell the refund team?")
    credited = ctx.row("SELECT amount_cents FROM credits WHERE line_id = ?", line_id)
    rest = line["amount_cents"] - (credited["amount_cents"] if credited else 0)
    if credited is None and creditable(ctx, line) > 0:
        return ctx.fail("credit_first", "I can credit something myself, so let's do that first.")
    if rest <= 0:
        return ctx.fail("nothing_left", "That charge has been credited in full.")
    ctx.run(
        "INSERT INTO refund_reviews (line_id, amount_cents, reason, asked_on) VALUES (?, ?, ?, ?)",
        *(line_id, rest, reason.strip(), ctx.now.date()),
    )
    return ctx.ok({"review": "asked", "line_id": line_id, "amount_cents": rest, "answer_within_days": 5})


def open_dispute(ctx: ToolContext, line_id: str, reason: str) -> Envelope:
    """Dispute a charge that the caller says is not theirs: never ordered, never had. Not due while it is looked into.

    Only after explain_charge, and only if this desk cannot credit the charge itself.

    Args:
        line_id: Id of the charge.
        reason: In one sentence, what the caller says.
    """
    line = own_charge(ctx, line_id)
    if line is None:
        return no_charge(ctx)
    if not ctx.row("SELECT 1 FROM disputes WHERE line_id = ?", line_id):
        if refusal := unexplained(ctx, line_id):
            return refusal
        if not reason.strip():
            return ctx.fail("reason_empty", "What is wrong about that charge?")
        if line["creditable"] and line["amount_cents"] <= CREDIT_LIMIT_CENTS:
            return ctx.fail("credit_it", "I can credit that charge myself, so there is no need to dispute it.")
        ctx.run(
            "INSERT INTO disputes (line_id, reason, opened_on) VALUES (?, ?, ?)",
            *(line_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"dispute": "open", "line_id": line_id, "answer_within_days": 10})


def set_payment_date(ctx: ToolContext, invoice_number: str, pay_on: dt.date) -> Envelope:
    """Agree on a later day for an open bill: at most 14 days after it is due. Only after a yes to bill and day.

    Args:
        invoice_number: From list_invoices.
        pay_on: The day on which the caller will pay.
    """
    invoice = own_invoice(ctx, invoice_number)
    if invoice is None:
        return no_invoice(ctx)
    if invoice["status"] != "open":
        return ctx.fail("already_paid", "That bill is paid already.")
    last = dt.date.fromisoformat(invoice["due_on"]) + dt.timedelta(days=PAYMENT_GRACE_DAYS)
    if not ctx.now.date() < pay_on <= last:
        return ctx.fail("day_not_possible", "That day isn't possible for this bill.", {"latest": last.isoformat()})
    ctx.run("UPDATE invoices SET pay_on = ? WHERE invoice_number = ?", pay_on, invoice_number)
    return ctx.ok({"invoice_number": invoice_number, "pay_on": pay_on.isoformat()})


def send_payment_link(ctx: ToolContext, invoice_number: str, phone_e164: Annotated[str, Phone]) -> Envelope:
    """Text a link to pay an open bill. Ask for the number first; only the one on the account works.

    Args:
        invoice_number: From list_invoices.
        phone_e164: The number that the caller gave.
    """
    invoice = own_invoice(ctx, invoice_number)
    if invoice is None:
        return no_invoice(ctx)
    if invoice["status"] != "open":
        return ctx.fail("already_paid", "That bill is paid already.")
    if refusal := other_phone(ctx, phone_e164):
        return refusal
    if not ctx.row("SELECT 1 FROM payment_links WHERE invoice_number = ? AND sent_at = ?", invoice_number, ctx.now):
        ctx.run(
            "INSERT INTO payment_links (invoice_number, phone_e164, sent_at) VALUES (?, ?, ?)",
            *(invoice_number, phone_e164, ctx.now),
        )
    return ctx.ok({"sent": True, "phone_e164": phone_e164})
