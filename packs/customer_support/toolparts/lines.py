"""Internet lines, as service, plans and billing all see them."""

from __future__ import annotations

from callm_voice.desk.toolkit import Envelope, ToolContext

from .common import Row


def own_subscription(ctx: ToolContext) -> Row | None:
    """The verified customer's internet service with its plan and area, or None."""
    return ctx.row(
        "SELECT subscriptions.*, plans.name AS plan, down_mbps, monthly_cents, areas.name AS area FROM subscriptions"
        " JOIN plans ON plans.code = plan_code JOIN areas ON areas.id = area_id WHERE customer_id = ?",
        ctx.session["customer_id"],
    )


def no_service(ctx: ToolContext) -> Envelope:
    """Refuse what needs an internet line."""
    return ctx.fail("no_service", "I don't see internet service on your account.")


def current_outage(ctx: ToolContext, area_id: str) -> Row | None:
    """The outage that an area has now, or None."""
    return ctx.row(
        "SELECT id AS outage_id, cause, began_at, expected_at FROM outages WHERE area_id = ? AND ended_at IS NULL",
        area_id,
    )
