"""The first facts of a new case, once the check is clear."""

from __future__ import annotations

import datetime as dt

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import not_verified, who_calls
from .kinds import Area

URGENT_WITHIN_DAYS = 21


def get_intake_questions(ctx: ToolContext, practice_area: Area) -> Envelope:
    """The questions of an intake in this area of law, in their order. Ask these and no others.

    Args:
        practice_area: Area of law of the new case.
    """
    refusal = not_cleared(ctx, practice_area)
    if refusal is not None:
        return refusal
    found = ctx.rows("SELECT question FROM intake_questions WHERE practice_area = ? ORDER BY position", practice_area)
    return ctx.ok({"questions": [row["question"] for row in found]})


def save_intake(
    ctx: ToolContext, practice_area: Area, event_on: dt.date, summary: str, court_date: dt.date | None = None
) -> Envelope:
    """Save the intake. Only after the conflict check is clear and you have read both dates back.

    Called again in this call for the same area, it corrects the intake. A court date within three weeks makes it
    urgent by itself.

    Args:
        practice_area: Area of law of the new case.
        event_on: The date that the first question asks for.
        summary: What happened, in one or two sentences, in the caller's sense.
        court_date: Court, hearing or answer date. Leave it out if there is none.
    """
    refusal = not_cleared(ctx, practice_area)
    if refusal is not None:
        return refusal
    if not summary.strip():
        return ctx.fail("summary_empty", "In a sentence or two, what happened?")
    if court_date is not None and court_date < ctx.now.date():
        return ctx.fail("court_date_past", "That date has passed already. Could you check the date on the letter?")
    subject = who_calls(ctx)
    if subject is None:
        return not_verified(ctx)
    column, key, _ = subject
    urgent = court_date is not None and (court_date - ctx.now.date()).days <= URGENT_WITHIN_DAYS
    saved = ctx.row(
        f"SELECT id FROM intakes WHERE {column} = ? AND practice_area = ? AND taken_at = ?",
        *(key, practice_area, ctx.now),
    )
    if saved is None:
        ctx.run(
            f"INSERT INTO intakes ({column}, practice_area, event_on, court_date, urgent, summary, taken_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(key, practice_area, event_on, court_date, urgent, summary.strip(), ctx.now),
        )
    else:
        ctx.run(
            "UPDATE intakes SET event_on = ?, court_date = ?, urgent = ?, summary = ? WHERE id = ?",
            *(event_on, court_date, urgent, summary.strip(), saved["id"]),
        )
    if column == "prospect_id":
        ctx.run("UPDATE prospects SET status = 'intake' WHERE id = ?", key)
    return ctx.ok({"saved": True, "practice_area": practice_area, "urgent": urgent})


def get_consultation_fee(ctx: ToolContext, practice_area: Area) -> Envelope:
    """What a first consultation costs, in cents, and how long it lasts. The only source of a fee that you may say.

    Args:
        practice_area: Area of law.
    """
    area = ctx.row("SELECT consult_fee_cents FROM practice_areas WHERE code = ?", practice_area) or {}
    return ctx.ok({"practice_area": practice_area, "minutes": 30, "fee_cents": area.get("consult_fee_cents")})


def not_cleared(ctx: ToolContext, practice_area: str) -> Envelope | None:
    """Why no fact of a new case may be taken, as an envelope; None if it may."""
    subject = who_calls(ctx)
    if subject is None:
        return ctx.fail("conflict_check_first", "Before we talk about the case, I need to check something.")
    column, key, _ = subject
    checks = ctx.rows(f"SELECT practice_area, result FROM conflict_checks WHERE {column} = ?", key)
    if any(c["result"] == "conflict" for c in checks):
        return ctx.fail("conflict", "I'm sorry, our firm can't help with this one.")
    if not any(c["practice_area"] == practice_area for c in checks):
        return ctx.fail("conflict_check_first", "Before we talk about the case, I need to check something.")
    area = ctx.row("SELECT takes_new FROM practice_areas WHERE code = ?", practice_area)
    if not (area and area["takes_new"]):
        return ctx.fail("area_closed", "We are not taking new cases in that area at the moment.")
    return None
