"""Internet service: the state of a line, its test and restart, technicians, alerts."""

from __future__ import annotations

from typing import Annotated

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .common import Row, other_phone, refuse, remember
from .lines import current_outage, no_service, own_subscription
from .visits import booked_visit


def get_service_status(ctx: ToolContext) -> Envelope:
    """The verified customer's internet service: line, outage in the area, technician visit with its id.

    Read it first. expected_at null means that the crew has not given a time; then no time may be said.
    """
    if refusal := refuse(ctx, "service"):
        return refusal
    line = own_subscription(ctx)
    if line is None:
        return no_service(ctx)
    alert = ctx.row("SELECT 1 FROM outage_alerts WHERE customer_id = ?", ctx.session["customer_id"])
    return ctx.ok(
        {
            "subscription_id": line["id"],
            "plan": line["plan"],
            "down_mbps": line["down_mbps"],
            "area": line["area"],
            "outage": current_outage(ctx, line["area_id"]),
            "outage_alert": alert is not None,
            "visit": booked_visit(ctx, line["id"]),
        }
    )


def run_line_test(ctx: ToolContext, subscription_id: str) -> Envelope:
    """Measure the line. It takes a few seconds and changes nothing.

    reading: good; weak_signal or no_signal (a technician has to come); modem_stuck (restart_equipment).

    Args:
        subscription_id: From get_service_status.
    """
    line = _own_line(ctx, subscription_id)
    if line is None:
        return _no_line(ctx)
    if current_outage(ctx, line["area_id"]):
        return ctx.fail("area_outage", "There is an outage in your area, so a test of your line tells us nothing.")
    remember(ctx, "lines_tested", subscription_id)
    measured = {"good": line["down_mbps"], "weak_signal": line["down_mbps"] // 8}.get(line["line_reading"], 0)
    return ctx.ok({"reading": line["line_reading"], "measured_mbps": measured, "plan_mbps": line["down_mbps"]})


def restart_equipment(ctx: ToolContext, subscription_id: str) -> Envelope:
    """Restart the customer's modem from here, after a line test that says modem_stuck. Offline for two minutes.

    Only after a yes: phones and alarms on that line go down too.

    Args:
        subscription_id: From get_service_status.
    """
    line = _own_line(ctx, subscription_id)
    if line is None:
        return _no_line(ctx)
    if subscription_id not in ctx.session["lines_tested"]:
        return ctx.fail("test_first", "Let me test the line first.")
    if line["line_reading"] != "modem_stuck":
        return ctx.fail("restart_useless", "A restart won't help with what the test shows.")
    if not ctx.row("SELECT 1 FROM restarts WHERE subscription_id = ? AND sent_at = ?", subscription_id, ctx.now):
        ctx.run("INSERT INTO restarts (subscription_id, sent_at) VALUES (?, ?)", subscription_id, ctx.now)
    return ctx.ok({"restart": "sent", "online": True, "measured_mbps": line["down_mbps"]})


def add_outage_alert(ctx: ToolContext, phone_e164: Annotated[str, Phone]) -> Envelope:
    """Text the customer when the outage in their area is over. Ask for the number; only the one on the account works.

    Args:
        phone_e164: The number that the caller gave.
    """
    if refusal := refuse(ctx, "service"):
        return refusal
    line = own_subscription(ctx)
    if line is None:
        return no_service(ctx)
    outage = current_outage(ctx, line["area_id"])
    if outage is None:
        return ctx.fail("no_outage", "There is no outage in your area right now.")
    if refusal := other_phone(ctx, phone_e164):
        return refusal
    ctx.run(
        "INSERT OR IGNORE INTO outage_alerts (outage_id, customer_id, phone_e164) VALUES (?, ?, ?)",
        *(outage["outage_id"], ctx.session["customer_id"], phone_e164),
    )
    return ctx.ok({"alert": True, "phone_e164": phone_e164})


def _own_line(ctx: ToolContext, subscription_id: str) -> Row | None:
    line = None if refuse(ctx, "service") else own_subscription(ctx)
    return line if line and line["id"] == subscription_id else None


def _no_line(ctx: ToolContext) -> Envelope:
    refusal = refuse(ctx, "service")
    return refusal or ctx.fail("line_unknown", "I don't see that line on your account. Let me look again.")
