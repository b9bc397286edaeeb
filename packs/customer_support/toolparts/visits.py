"""Technician visits: free times, booking, moving, cancelling."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .common import Row, refuse
from .lines import no_service, own_subscription


def find_visit_slots(
    ctx: ToolContext,
    earliest: dt.date | None = None,
    latest: dt.date | None = None,
    time_of_day: Literal["any", "morning", "afternoon"] = "any",
    max_results: int = 3,
) -> Envelope:
    """Free technician times in the customer's area, soonest first. The only source of a time that you may offer.

    Args:
        earliest: First day to look at, if the caller set one.
        latest: Last day to look at, if the caller set one.
        time_of_day: Only if the caller asked for mornings (before noon) or afternoons.
        max_results: How many at most, 1 to 10.
    """
    if refusal := refuse(ctx, "service"):
        return refusal
    line = own_subscription(ctx)
    if line is None:
        return no_service(ctx)
    found = ctx.rows(
        'SELECT id AS slot_id, "start", "end" FROM visit_slots WHERE area_id = ? AND visit_id IS NULL AND "start" > ?'
        ' ORDER BY "start", id',
        *(line["area_id"], ctx.now),
    )
    fits = [
        slot
        for slot in found
        if (earliest is None or slot["start"][:10] >= earliest.isoformat())
        and (latest is None or slot["start"][:10] <= latest.isoformat())
        and (time_of_day == "any" or (slot["start"][11:] < "12:00") == (time_of_day == "morning"))
    ][: min(max(max_results, 1), 10)]
    return ctx.ok({"slots": fits, "count": len(fits)})


def book_visit(ctx: ToolContext, slot_id: str, problem: str) -> Envelope:
    """Send a technician, after a line test that says weak_signal or no_signal, and a yes to day and time.

    Args:
        slot_id: Id of a free time, from find_visit_slots.
        problem: What is wrong, in one sentence.
    """
    if refusal := refuse(ctx, "service"):
        return refusal
    line = own_subscription(ctx)
    if line is None:
        return no_service(ctx)
    visit = booked_visit(ctx, line["id"])
    if visit is not None and visit["slot_id"] == slot_id:
        return ctx.ok({"visit": visit, "status": "booked"})
    if visit is not None:
        return ctx.fail("visit_booked", "A technician is already booked for you. Shall we move that visit?", visit)
    if line["id"] not in ctx.session["lines_tested"]:
        return ctx.fail("test_first", "Let me test the line first.")
    if line["line_reading"] not in ("weak_signal", "no_signal"):
        return ctx.fail("no_visit_needed", "The test shows nothing that a technician could mend at your place.")
    if not problem.strip():
        return ctx.fail("problem_empty", "What should the technician know?")
    if refusal := _refuse_slot(ctx, line, slot_id):
        return refusal
    visit_id = ctx.run(
        "INSERT INTO visits (subscription_id, slot_id, problem, status) VALUES (?, ?, ?, 'booked')",
        *(line["id"], slot_id, problem.strip()),
    )
    ctx.run("UPDATE visit_slots SET visit_id = ? WHERE id = ?", visit_id, slot_id)
    return ctx.ok({"visit": booked_visit(ctx, line["id"]), "status": "booked"})


def move_visit(ctx: ToolContext, visit_id: int, slot_id: str) -> Envelope:
    """Move a booked technician visit to another free time. Only after a yes to day and time. Costs nothing.

    Args:
        visit_id: Id of the visit, from get_service_status.
        slot_id: Id of a free time, from find_visit_slots.
    """
    visit = _own_visit(ctx, visit_id)
    line = own_subscription(ctx)
    if visit is None or line is None or visit["status"] != "booked":
        return _no_visit(ctx)
    if visit["slot_id"] != slot_id:
        if refusal := _refuse_slot(ctx, line, slot_id):
            return refusal
        ctx.run("UPDATE visit_slots SET visit_id = NULL WHERE visit_id = ?", visit_id)
        ctx.run("UPDATE visit_slots SET visit_id = ? WHERE id = ?", visit_id, slot_id)
        ctx.run("UPDATE visits SET slot_id = ? WHERE id = ?", slot_id, visit_id)
    return ctx.ok({"visit": booked_visit(ctx, line["id"]), "status": "moved"})


def cancel_visit(ctx: ToolContext, visit_id: int) -> Envelope:
    """Call off a booked technician visit. Only after a yes; it frees the time for others.

    Args:
        visit_id: Id of the visit, from get_service_status.
    """
    visit = _own_visit(ctx, visit_id)
    if visit is None or visit["status"] == "done":
        return _no_visit(ctx)
    ctx.run("UPDATE visits SET status = 'cancelled' WHERE id = ?", visit_id)
    ctx.run("UPDATE visit_slots SET visit_id = NULL WHERE visit_id = ?", visit_id)
    return ctx.ok({"visit_id": visit_id, "status": "cancelled"})


def booked_visit(ctx: ToolContext, subscription_id: str) -> Row | None:
    """The visit that a line has coming up, or None."""
    return ctx.row(
        'SELECT visits.id AS visit_id, slot_id, "start", "end" FROM visits JOIN visit_slots ON visit_slots.id = slot_id'
        " WHERE subscription_id = ? AND status = 'booked'",
        subscription_id,
    )


def _own_visit(ctx: ToolContext, visit_id: int) -> Row | None:
    line = None if refuse(ctx, "service") else own_subscription(ctx)
    return line and ctx.row("SELECT * FROM visits WHERE id = ? AND subscription_id = ?", visit_id, line["id"])


def _no_visit(ctx: ToolContext) -> Envelope:
    refusal = refuse(ctx, "service")
    return refusal or ctx.fail("visit_unknown", "I don't see that visit coming up for you. Let me look again.")


def _refuse_slot(ctx: ToolContext, line: Row, slot_id: str) -> Envelope | None:
    """Why a technician's time cannot be given to this line, as an envelope; None if it can."""
    slot = ctx.row("SELECT * FROM visit_slots WHERE id = ? AND area_id = ?", slot_id, line["area_id"])
    if slot is None or slot["start"] <= ctx.now.isoformat(timespec="minutes"):
        return ctx.fail("slot_unknown", "I don't have that time. Let me look at the free times again.")
    if slot["visit_id"] is not None:
        return ctx.fail("slot_taken", "That time is no longer free. Let me look for another one.")
    return None
