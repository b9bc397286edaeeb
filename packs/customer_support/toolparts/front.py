"""Front desk: public answers, and messages for the teams."""

from __future__ import annotations

from typing import Annotated, Literal

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .lines import current_outage

Topic = Literal["account_access", "plan_change", "outage_report", "complaint", "sales", "other"]

FactTopic = Literal[
    "returns",
    "exchanges",
    "delivery",
    "warranty",
    "before_repair",
    "technician_visit",
    "outage_credit",
    "billing_cycle",
    "contract_terms",
    "payment_methods",
    "stores",
]

TEAM_OF: dict[str, str] = {
    "account_access": "accounts",
    "plan_change": "accounts",
    "outage_report": "network",
    "complaint": "care",
}
"""Topic of a message → who reads it; every other topic goes to the front desk."""


def get_policy(ctx: ToolContext, topic: FactTopic) -> Envelope:
    """Larkfield's own answer to a general question, in words that may be said as they stand. Public.

    Args:
        topic: What the question is about.
    """
    found = ctx.row("SELECT topic, fact FROM policy_facts WHERE topic = ?", topic)
    return ctx.ok(found) if found else ctx.fail("unknown_topic", "I don't have that here. I can take a message.")


def check_outage(ctx: ToolContext, zip_code: str) -> Envelope:
    """Whether an outage is known for a ZIP code. Public: no identity needed.

    expected_at null means that the crew has not given a time; then no time may be said.

    Args:
        zip_code: Five digits.
    """
    area = ctx.row("SELECT areas.id, name FROM area_zips JOIN areas ON areas.id = area_id WHERE zip = ?", zip_code)
    if area is None:
        return ctx.fail("zip_not_served", "I don't show our service at that ZIP code. Could you say it again?")
    return ctx.ok({"area": area["name"], "outage": current_outage(ctx, area["id"])})


def list_plans(ctx: ToolContext) -> Envelope:
    """The internet plans on offer, with the code that quote_plan_change takes. Public. Amounts are in cents."""
    found = ctx.rows(
        "SELECT code, name, down_mbps, monthly_cents FROM plans WHERE offered = 1 ORDER BY monthly_cents, code"
    )
    return ctx.ok({"plans": found})


def take_message(
    ctx: ToolContext, topic: Topic, message: str, callback_e164: Annotated[str, Phone] | None = None
) -> Envelope:
    """Leave a message for the team that handles the topic. For what this desk cannot do, and only if the caller agrees.

    Args:
        topic: What it is about; it decides which team reads it. account_access: somebody who may not use an account,
            or cannot be verified, wants something from it. plan_change: a change that the person on the phone may not
            make. outage_report: service is down and we do not know of it.
        message: One or two sentences with what the team needs to act.
        callback_e164: Number to call back, only if the caller wants a call.
    """
    if not message.strip():
        return ctx.fail("message_empty", "What should I write down for them?")
    customer_id, team = ctx.session["customer_id"], TEAM_OF.get(topic, "front_desk")
    taken = ctx.row(
        "SELECT id FROM messages WHERE customer_id IS ? AND topic = ? AND taken_at = ?", customer_id, topic, ctx.now
    )
    if taken is None:
        ctx.run(
            "INSERT INTO messages (customer_id, team, topic, body, callback_e164, taken_at) VALUES (?, ?, ?, ?, ?, ?)",
            *(customer_id, team, topic, message.strip(), callback_e164, ctx.now),
        )
    return ctx.ok({"taken": True, "team": team, "topic": topic})
