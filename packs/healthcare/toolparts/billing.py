"""What is owed and why, and the ways to pay it."""

from __future__ import annotations

from typing import Annotated

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .accounts import OPEN_ITEMS, no_item, own_item
from .guards import not_verified, verified

LINK_CHANNEL = "sms"


def get_account_balance(ctx: ToolContext) -> Envelope:
    """What the verified patient owes: the total and each open charge, in cents.

    The only source of an amount that you may say.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    items = ctx.rows(OPEN_ITEMS, patient["id"])
    return ctx.ok({"balance_cents": sum(item["amount_cents"] for item in items), "line_items": items})


def explain_charge(ctx: ToolContext, line_item_id: str) -> Envelope:
    """Why a charge is there, in the approved words. Say them as they stand and add no reasons of your own.

    Args:
        line_item_id: Id of the charge, from get_account_balance.
    """
    item = own_item(ctx, line_item_id)
    if item is None:
        return no_item(ctx)
    script = ctx.row("SELECT approved_script FROM charge_kinds WHERE kind = ?", item["kind"])
    return ctx.ok({"line_item_id": line_item_id, **(script or {})})


def list_payments(ctx: ToolContext) -> Envelope:
    """Payments of the verified patient, newest first: date, amount in cents, method, and the charge they were for."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT paid_on, payments.amount_cents, method, line_item_id, description FROM payments"
        " JOIN line_items ON line_items.id = line_item_id WHERE patient_id = ? ORDER BY paid_on DESC, payments.id DESC",
        patient["id"],
    )
    return ctx.ok({"payments": found})


def offer_financing(ctx: ToolContext) -> Envelope:
    """Look up whether the verified patient can pay the balance over time, and with whom.

    Signs nobody up and writes nothing.

    Call it before you say anything about a plan.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    balance = sum(item["amount_cents"] for item in ctx.rows(OPEN_ITEMS, patient["id"]))
    if patient["account_standing"] == "collections":
        return ctx.ok(
            {"eligible": False, "provider": None, "note": "The billing team arranges plans for this account."}
        )
    program = ctx.row(
        "SELECT provider FROM financing_programs WHERE active = 1 AND min_balance_cents <= ?"
        " ORDER BY min_balance_cents",
        balance,
    )
    if program is None:
        return ctx.ok({"eligible": False, "provider": None, "note": "Financing starts at a balance of $200.00."})
    return ctx.ok({"eligible": True, "provider": program["provider"], "note": None})


def send_payment_link(
    ctx: ToolContext, mobile_e164: Annotated[str, Phone], amount_cents: int | None = None
) -> Envelope:
    """Text the verified patient a link to pay or to set up financing.

    Ask for the mobile first; only the one on the chart works.

    Args:
        mobile_e164: The mobile that the caller gave.
        amount_cents: Only for part of the balance, if the caller named an amount. Leave it out for the whole balance.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    balance = sum(item["amount_cents"] for item in ctx.rows(OPEN_ITEMS, patient["id"]))
    if balance == 0:
        return ctx.fail("nothing_due", "You don't owe anything right now, so there is nothing to pay.")
    if mobile_e164 != patient["mobile_e164"]:
        return ctx.fail(
            "mobile_not_on_file", "I can only text the mobile number on your chart. Which one would that be?"
        )
    if amount_cents is not None and not 0 < amount_cents <= balance:
        return ctx.fail(
            "amount_not_payable", "That isn't an amount I can put on the link. How much would you like to pay?"
        )
    amount = None if amount_cents == balance else amount_cents
    key = (patient["id"], LINK_CHANNEL, mobile_e164, amount, ctx.now)
    if not ctx.row(
        "SELECT id FROM payment_links WHERE patient_id = ? AND channel = ? AND mobile_e164 = ? AND amount_cents IS ?"
        " AND sent_at = ?",
        *key,
    ):
        ctx.run(
            "INSERT INTO payment_links (patient_id, channel, mobile_e164, amount_cents, sent_at)"
            " VALUES (?, ?, ?, ?, ?)",
            *key,
        )
    return ctx.ok({"sent": True, "channel": LINK_CHANNEL, "mobile_e164": mobile_e164, "amount_cents": amount})


def request_charge_review(ctx: ToolContext, line_item_id: str, reason: str) -> Envelope:
    """Ask the billing team to check a charge that the caller says is wrong.

    Only after explain_charge, and only if they still object.

    Args:
        line_item_id: Id of the charge, from get_account_balance.
        reason: In one sentence, why the caller thinks it is wrong.
    """
    item = own_item(ctx, line_item_id)
    if item is None:
        return no_item(ctx)
    if item["status"] != "open":
        return ctx.fail("charge_closed", "That charge is already settled, so there is nothing left to review.")
    if not reason.strip():
        return ctx.fail("reason_empty", "What looks wrong to you about that charge?")
    if not ctx.row("SELECT id FROM charge_reviews WHERE line_item_id = ?", line_item_id):
        ctx.run(
            "INSERT INTO charge_reviews (line_item_id, reason, opened_on) VALUES (?, ?, ?)",
            *(line_item_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"review": "open", "line_item_id": line_item_id})
