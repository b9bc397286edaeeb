"""Waiting for an earlier time, and what a visit needs."""

from __future__ import annotations

from callm_voice.desk.toolkit import Envelope, ToolContext

from .calendar import no_appointment, own_appointment
from .guards import known, not_verified, unknown, verified
from .kinds import Accommodation


def join_waitlist(ctx: ToolContext, location_id: str, appointment_type_code: str) -> Envelope:
    """Put the verified patient on the list for an earlier time.

    Only if they ask for it or agree to it; it moves nothing.

    Args:
        location_id: Office, by id.
        appointment_type_code: Kind of visit they wait for.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    if not known(ctx, "locations", location_id):
        return unknown(ctx, "locations", "location_id")
    if not known(ctx, "appointment_types", appointment_type_code):
        return unknown(ctx, "appointment_types", "appointment_type_code")
    ctx.run(
        "INSERT OR IGNORE INTO waitlist (patient_id, location_id, appointment_type_code, added_on) VALUES (?, ?, ?, ?)",
        *(patient["id"], location_id, appointment_type_code, ctx.now.date()),
    )
    return ctx.ok({"waiting": True, "location_id": location_id, "appointment_type_code": appointment_type_code})


def list_waitlist(ctx: ToolContext) -> Envelope:
    """What the verified patient waits for: office, kind of visit, and since when."""
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    found = ctx.rows(
        "SELECT location_id, locations.name AS location, appointment_type_code, appointment_types.name AS visit,"
        " added_on FROM waitlist JOIN locations ON locations.id = location_id"
        " JOIN appointment_types ON code = appointment_type_code WHERE patient_id = ? ORDER BY waitlist.id",
        patient["id"],
    )
    return ctx.ok({"waiting_for": found})


def leave_waitlist(ctx: ToolContext, location_id: str, appointment_type_code: str) -> Envelope:
    """Take the verified patient off the list for an earlier time. Their visits stay as they are.

    Args:
        location_id: Office, by id, from list_waitlist.
        appointment_type_code: Kind of visit, from list_waitlist.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    if not known(ctx, "locations", location_id):
        return unknown(ctx, "locations", "location_id")
    if not known(ctx, "appointment_types", appointment_type_code):
        return unknown(ctx, "appointment_types", "appointment_type_code")
    ctx.run(
        "DELETE FROM waitlist WHERE patient_id = ? AND location_id = ? AND appointment_type_code = ?",
        *(patient["id"], location_id, appointment_type_code),
    )
    return ctx.ok({"waiting": False, "location_id": location_id, "appointment_type_code": appointment_type_code})


def add_accommodation(ctx: ToolContext, appointment_id: int, kind: Accommodation) -> Envelope:
    """Note what the verified patient needs at an upcoming visit.

    Args:
        appointment_id: Id of the appointment, from get_patient_summary.
        kind: wheelchair, interpreter, hearing (a sign language interpreter or amplifier), or extra_time.
    """
    own = own_appointment(ctx, appointment_id)
    if own is None:
        return no_appointment(ctx)
    ctx.run("INSERT OR IGNORE INTO accommodations (appointment_id, kind) VALUES (?, ?)", appointment_id, kind)
    return ctx.ok({"noted": True, "appointment_id": appointment_id, "kind": kind})
