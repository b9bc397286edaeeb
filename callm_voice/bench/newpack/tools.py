"""The tools of Halden Cycles.

What the business forbids, a tool refuses: nothing of a repair before the customer was found, no decision on another
customer's bicycle. A write that is repeated answers as the first one did.
"""

from __future__ import annotations

from typing import Annotated, Literal

from callm_voice.desk.toolkit import Envelope, Name, Phone, ToolContext


def find_customer(
    ctx: ToolContext, first_name: Annotated[str, Name], last_name: Annotated[str, Name], mobile: Annotated[str, Phone]
) -> Envelope:
    """Find the customer who is calling. The other tools work for this customer from then on.

    Args:
        first_name: First name as the caller gave or spelled it.
        last_name: Last name as the caller gave or spelled it.
        mobile: Mobile number of the caller.
    """
    found = ctx.row("SELECT id, first_name, last_name FROM customers WHERE mobile = ?", mobile)
    asked = f"{first_name} {last_name}".casefold()
    if found is None or f"{found['first_name']} {found['last_name']}".casefold() != asked:
        return ctx.fail("no_match", "I can't find that. Could you spell your last name and give me your number again?")
    ctx.session["customer_id"] = found["id"]
    return ctx.ok({"customer_id": found["id"], "name": f"{found['first_name']} {found['last_name']}"})


def list_repairs(ctx: ToolContext) -> Envelope:
    """The customer's repairs: bicycle, work, status, the day it will be ready, and extra work with its price in cents.

    The only source of a status, a day or a price that you may say.
    """
    if ctx.session["customer_id"] is None:
        return _not_found_yet(ctx)
    repairs = ctx.rows(
        "SELECT id AS repair_id, bicycle, work, status, ready_on FROM repairs WHERE customer_id = ? ORDER BY id",
        ctx.session["customer_id"],
    )
    for repair in repairs:
        repair["extra_work"] = ctx.rows(
            "SELECT id AS extra_id, description, price_cents, decision FROM extra_work WHERE repair_id = ? ORDER BY id",
            repair["repair_id"],
        )
    return ctx.ok({"repairs": repairs})


def decide_extra_work(ctx: ToolContext, extra_id: int, decision: Literal["approved", "declined"]) -> Envelope:
    """Write down the customer's decision on one piece of extra work, after they heard its price.

    Args:
        extra_id: Id of the extra work, from list_repairs.
        decision: What the customer decided.
    """
    if ctx.session["customer_id"] is None:
        return _not_found_yet(ctx)
    extra = ctx.row(
        "SELECT extra_work.id, description, price_cents, decision FROM extra_work"
        " JOIN repairs ON repairs.id = repair_id WHERE extra_work.id = ? AND customer_id = ?",
        *(extra_id, ctx.session["customer_id"]),
    )
    if extra is None:
        return ctx.fail("extra_unknown", "I don't see that on your repair.")
    if extra["decision"] not in ("open", decision):
        return ctx.fail("already_decided", "That was decided before. I can leave a note for the workshop.")
    if extra["decision"] == "open":
        ctx.run("UPDATE extra_work SET decision = ?, decided_at = ? WHERE id = ?", decision, ctx.now, extra_id)
    return ctx.ok({"extra_id": extra_id, "description": extra["description"], "decision": decision})


def _not_found_yet(ctx: ToolContext) -> Envelope:
    return ctx.fail("customer_unknown", "May I have your name and your mobile number first?")
