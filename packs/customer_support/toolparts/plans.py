"""Plans: what a change would mean, and putting it in with the day that was quoted."""

from __future__ import annotations

import datetime as dt

from callm_voice.desk.toolkit import Envelope, ToolContext

from .common import Row, refuse, remember
from .lines import no_service, own_subscription

EARLY_CHANGE_FEE_CENTS = 6_000


def get_subscription(ctx: ToolContext) -> Envelope:
    """The verified customer's plan: price in cents, fixed term, next billing day, and a change that is waiting."""
    if refusal := refuse(ctx, "money"):
        return refusal
    line = own_subscription(ctx)
    if line is None:
        return no_service(ctx)
    return ctx.ok(
        {
            "subscription_id": line["id"],
            "plan_code": line["plan_code"],
            "plan": line["plan"],
            "down_mbps": line["down_mbps"],
            "monthly_cents": line["monthly_cents"],
            "term_ends_on": line["term_ends_on"],
            "next_cycle_on": line["next_cycle_on"],
            "waiting_change": _waiting_change(ctx, line["id"]),
        }
    )


def quote_plan_change(ctx: ToolContext, plan_code: str) -> Envelope:
    """What a change would mean: new price, the day from which it counts, a fee if the fixed term is cut short.

    Writes nothing. Call it before change_plan, and read day, price and fee back to the caller.

    Args:
        plan_code: Code of the new plan, from list_plans.
    """
    if refusal := refuse(ctx, "money"):
        return refusal
    line = own_subscription(ctx)
    if line is None:
        return no_service(ctx)
    plan = ctx.row("SELECT * FROM plans WHERE code = ? AND offered = 1", plan_code)
    if plan is None:
        codes = [row["code"] for row in ctx.rows("SELECT code FROM plans WHERE offered = 1 ORDER BY code")]
        return ctx.fail("plan_unknown", "That plan isn't on offer. Let me look at the list.", {"known": codes})
    if plan_code == line["plan_code"]:
        return ctx.fail("same_plan", "You already have that plan.")
    effective, fee = _terms_of_change(ctx, line, plan)
    ctx.session["quoted"][plan_code] = effective.isoformat()
    return ctx.ok(
        {
            "plan_code": plan_code,
            "plan": plan["name"],
            "monthly_cents": plan["monthly_cents"],
            "effective_on": effective.isoformat(),
            "fee_cents": fee,
        }
    )


def change_plan(ctx: ToolContext, plan_code: str, effective_on: dt.date, fee_accepted: bool = False) -> Envelope:
    """Put a plan change in. Only after quote_plan_change, and after a yes to plan, price and day.

    Args:
        plan_code: Code of the new plan.
        effective_on: The day that the quote gave and the caller agreed to.
        fee_accepted: True only if the quote has a fee, and the caller has heard it and said yes to it.
    """
    if refusal := refuse(ctx, "money"):
        return refusal
    line = own_subscription(ctx)
    plan = ctx.row("SELECT * FROM plans WHERE code = ?", plan_code)
    if line is None or plan is None:
        return no_service(ctx)
    if ctx.session["quoted"].get(plan_code) != effective_on.isoformat():
        return ctx.fail("not_quoted", "Let me look up from which day that would count.")
    waiting = _waiting_change(ctx, line["id"])
    if waiting is not None and (waiting["to_plan"], waiting["effective_on"]) != (plan_code, effective_on.isoformat()):
        return ctx.fail("change_waiting", "Another plan change is already waiting. It has to be called off first.")
    _, fee = _terms_of_change(ctx, line, plan)
    if fee and not fee_accepted:
        return ctx.fail("fee_not_accepted", "Changing now costs a fee of sixty dollars. Would you still like to?")
    if waiting is None:
        ctx.run(
            "INSERT INTO plan_changes (subscription_id, to_plan, effective_on, fee_cents, asked_on)"
            " VALUES (?, ?, ?, ?, ?)",
            *(line["id"], plan_code, effective_on, fee, ctx.now.date()),
        )
    return ctx.ok({"change": _waiting_change(ctx, line["id"])})


def cancel_plan_change(ctx: ToolContext) -> Envelope:
    """Call off the plan change that is waiting. Only after a yes; the plan stays as it is and nothing is charged."""
    if refusal := refuse(ctx, "money"):
        return refusal
    line = own_subscription(ctx)
    if line is None:
        return no_service(ctx)
    if _waiting_change(ctx, line["id"]) is None and line["id"] not in ctx.session["removed"]:
        return ctx.fail("nothing_waiting", "There is no plan change waiting on your account.")
    ctx.run("DELETE FROM plan_changes WHERE subscription_id = ?", line["id"])
    remember(ctx, "removed", line["id"])
    return ctx.ok({"plan": line["plan"], "waiting_change": None})


def _waiting_change(ctx: ToolContext, subscription_id: str) -> Row | None:
    """The plan change that a line has waiting, or None."""
    return ctx.row(
        "SELECT to_plan, plans.name AS plan, effective_on, fee_cents FROM plan_changes"
        " JOIN plans ON plans.code = to_plan WHERE subscription_id = ?",
        subscription_id,
    )


def _terms_of_change(ctx: ToolContext, line: Row, plan: Row) -> tuple[dt.date, int]:
    """The day from which a change counts, and its fee in cents: up from tomorrow, down from the next billing day."""
    if plan["monthly_cents"] > line["monthly_cents"]:
        return ctx.now.date() + dt.timedelta(days=1), 0
    effective = dt.date.fromisoformat(line["next_cycle_on"])
    bound = line["term_ends_on"] is not None and line["term_ends_on"] > effective.isoformat()
    return effective, EARLY_CHANGE_FEE_CENTS if bound else 0
