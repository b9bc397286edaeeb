"""Appointments: found, booked, moved, cancelled, waited for."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .calendar import (
    APPOINTMENT,
    appointment_row,
    coming_up,
    no_appointment,
    own_appointment,
    refuse_consult,
    refuse_for,
    refuse_slot,
)
from .guards import has_id, no_matter, not_verified, own_matter, unknown_id, who_calls
from .kinds import AppointmentType, Area


def list_appointments(ctx: ToolContext) -> Envelope:
    """Upcoming appointments of the verified client or of this call's new caller, and the waitlists they are on."""
    subject = who_calls(ctx)
    if subject is None:
        return not_verified(ctx)
    waits = ctx.rows(
        "SELECT m.number AS matter_number, w.type_code FROM waitlist AS w JOIN matters AS m ON m.id = w.matter_id"
        " WHERE m.client_id = ? ORDER BY w.id",
        ctx.session["client_id"],
    )
    return ctx.ok({"appointments": coming_up(ctx), "waitlists": waits})


def find_slots(
    ctx: ToolContext,
    type_code: AppointmentType,
    matter_number: str | None = None,
    practice_area: Area | None = None,
    office_id: str | None = None,
    attorney_id: str | None = None,
    earliest: dt.date | None = None,
    latest: dt.date | None = None,
    time_of_day: Literal["any", "morning", "afternoon"] = "any",
    max_results: int = 3,
) -> Envelope:
    """Free times, soonest first. The only source of a time that you may offer.

    For a client's matter give matter_number: the times are those of its lead attorney. For a first consultation give
    practice_area: the times are those of attorneys who take new clients in it.

    Args:
        type_code: Kind of appointment.
        matter_number: Four digits; for everything but CONSULT.
        practice_area: Only for CONSULT.
        office_id: Only this office; only for CONSULT.
        attorney_id: Only this attorney; only for CONSULT.
        earliest: First day to look at, if the caller set one.
        latest: Last day to look at, if the caller set one.
        time_of_day: Only if the caller asked for mornings (before noon) or afternoons.
        max_results: How many times at most, 1 to 10.
    """
    if (type_code == "CONSULT") != (practice_area is not None and matter_number is None):
        return ctx.fail("matter_or_area", "Let me see which calendar that is.")
    if office_id is not None and not has_id(ctx, "offices", office_id):
        return unknown_id(ctx, "offices", "office_id")
    if attorney_id is not None and not has_id(ctx, "attorneys", attorney_id):
        return unknown_id(ctx, "attorneys", "attorney_id")
    if practice_area is not None:
        who = ctx.rows("SELECT id FROM attorneys WHERE practice_area = ? AND takes_new = 1", practice_area)
        attorneys = [a["id"] for a in who if attorney_id in (None, a["id"])]
    else:
        matter = own_matter(ctx, matter_number or "")
        if matter is None:
            return no_matter(ctx)
        attorneys = [matter["lead_attorney_id"]]
    found = ctx.rows(
        "SELECT s.id AS slot_id, s.attorney_id, a.name AS attorney, s.office_id, o.name AS office,"
        ' s."start", s."end" FROM slots AS s JOIN attorneys AS a ON a.id = s.attorney_id'
        " JOIN offices AS o ON o.id = s.office_id WHERE s.appointment_id IS NULL AND s.blocked IS NULL"
        ' AND s."start" > ? ORDER BY s."start", s.id',
        ctx.now,
    )
    fits = [
        slot
        for slot in found
        if slot["attorney_id"] in attorneys
        and (office_id is None or practice_area is None or slot["office_id"] == office_id)
        and (earliest is None or slot["start"] >= earliest.isoformat())
        and (latest is None or slot["start"][:10] <= latest.isoformat())
        and (time_of_day == "any" or (slot["start"][11:] < "12:00") == (time_of_day == "morning"))
    ][: min(max(max_results, 1), 10)]
    return ctx.ok({"slots": fits, "count": len(fits)})


def book_appointment(
    ctx: ToolContext, slot_id: str, type_code: AppointmentType, matter_number: str | None = None
) -> Envelope:
    """Book a free time from find_slots. Only after the caller agreed to day, time and office (or telephone).

    A first consultation needs a saved intake; every other kind needs a matter of the verified client.

    Args:
        slot_id: Id of the free time.
        type_code: Kind of appointment.
        matter_number: Four digits; for everything but CONSULT.
    """
    subject = who_calls(ctx)
    if subject is None:
        return not_verified(ctx)
    slot = ctx.row("SELECT * FROM slots WHERE id = ?", slot_id)
    if slot is None:
        return ctx.fail("slot_unknown", "Let me look at the free times again.")
    column, key, _ = subject
    matter = None if type_code == "CONSULT" else own_matter(ctx, matter_number or "")
    if type_code != "CONSULT" and matter is None:
        return no_matter(ctx)
    refusal = refuse_consult(ctx, slot, column, key) if matter is None else refuse_for(ctx, slot, type_code, matter)
    if refusal is not None:
        return refusal
    same_kind = ctx.row(
        f"{APPOINTMENT} WHERE a.{column} = ? AND a.type_code = ? AND a.matter_id IS ? AND a.attorney_id IN"
        " (SELECT id FROM attorneys WHERE practice_area = (SELECT practice_area FROM attorneys WHERE id = ?))"
        " AND a.status IN ('booked', 'confirmed') AND a.\"start\" >= ?",
        *(key, type_code, matter["id"] if matter else None, slot["attorney_id"], ctx.now),
    )
    if same_kind and same_kind["appointment_id"] == slot["appointment_id"]:
        return ctx.ok({"appointment": same_kind, "status": "booked"})
    if same_kind:
        return ctx.fail("already_booked", "You already have an appointment of that kind.", {"appointment": same_kind})
    refusal = refuse_slot(ctx, slot, None)
    if refusal is not None:
        return refusal
    new_id = ctx.run(
        f'INSERT INTO appointments ({column}, matter_id, attorney_id, office_id, type_code, "start", "end", status,'
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'booked', ?)",
        *(key, matter["id"] if matter else None, slot["attorney_id"], slot["office_id"], type_code),
        *(slot["start"], slot["end"], ctx.now.isoformat(sep=" ")),
    )
    ctx.run("UPDATE slots SET appointment_id = ? WHERE id = ?", new_id, slot_id)
    return ctx.ok({"appointment": appointment_row(ctx, new_id), "status": "booked"})


def reschedule_appointment(ctx: ToolContext, appointment_id: int, new_slot_id: str) -> Envelope:
    """Move an upcoming appointment to another free time of the same attorney. Costs nothing.

    Only after the caller agreed to the new day and time.

    Args:
        appointment_id: Id of the appointment.
        new_slot_id: Id of the free time, from find_slots.
    """
    own = own_appointment(ctx, appointment_id)
    if own is None:
        return no_appointment(ctx)
    slot = ctx.row("SELECT * FROM slots WHERE id = ?", new_slot_id)
    if slot is None:
        return ctx.fail("slot_unknown", "Let me look at the free times again.")
    if slot["attorney_id"] != own["attorney_id"]:
        return ctx.fail("other_attorney", "That time is with another attorney. Let me look again.")
    if slot["appointment_id"] != own["id"]:
        refusal = refuse_slot(ctx, slot, own["id"])
        if refusal is not None:
            return refusal
        ctx.run("UPDATE slots SET appointment_id = NULL WHERE appointment_id = ?", own["id"])
        ctx.run("UPDATE slots SET appointment_id = ? WHERE id = ?", own["id"], slot["id"])
        ctx.run(
            'UPDATE appointments SET "start" = ?, "end" = ?, status = \'booked\' WHERE id = ?',
            *(slot["start"], slot["end"], own["id"]),
        )
    return ctx.ok({"appointment": appointment_row(ctx, own["id"]), "status": "rescheduled"})


def cancel_appointment(ctx: ToolContext, appointment_id: int) -> Envelope:
    """Cancel an upcoming appointment. Only after you read it back and they said to cancel it, not to move it.

    Args:
        appointment_id: Id of the appointment.
    """
    own = own_appointment(ctx, appointment_id, also=("cancelled",))
    if own is None:
        return no_appointment(ctx)
    ctx.run("UPDATE appointments SET status = 'cancelled' WHERE id = ?", own["id"])
    ctx.run("UPDATE slots SET appointment_id = NULL WHERE appointment_id = ?", own["id"])
    return ctx.ok({"appointment": appointment_row(ctx, own["id"]), "status": "cancelled"})


def confirm_appointment(ctx: ToolContext, appointment_id: int) -> Envelope:
    """Note that the caller will come to an upcoming appointment. Changes neither day nor time.

    Args:
        appointment_id: Id of the appointment.
    """
    own = own_appointment(ctx, appointment_id)
    if own is None:
        return no_appointment(ctx)
    ctx.run("UPDATE appointments SET status = 'confirmed' WHERE id = ?", own["id"])
    return ctx.ok({"appointment": appointment_row(ctx, own["id"]), "status": "confirmed"})


def join_waitlist(ctx: ToolContext, matter_number: str, type_code: AppointmentType) -> Envelope:
    """Put the verified client on the list for an earlier time. Only if they ask for it or agree; it moves nothing.

    Args:
        matter_number: Four digits.
        type_code: Kind of appointment they wait for.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    ctx.run(
        "INSERT OR IGNORE INTO waitlist (matter_id, type_code, added_on) VALUES (?, ?, ?)",
        *(matter["id"], type_code, ctx.now.date()),
    )
    return ctx.ok({"waiting": True, "matter_number": matter_number, "type_code": type_code})


def leave_waitlist(ctx: ToolContext, matter_number: str, type_code: AppointmentType) -> Envelope:
    """Take the verified client off a waitlist. Only if they ask for it.

    Args:
        matter_number: Four digits.
        type_code: Kind of appointment they waited for.
    """
    matter = own_matter(ctx, matter_number)
    if matter is None:
        return no_matter(ctx)
    ctx.run("DELETE FROM waitlist WHERE matter_id = ? AND type_code = ?", matter["id"], type_code)
    return ctx.ok({"waiting": False, "matter_number": matter_number, "type_code": type_code})
