"""Free times, and the visits that are booked, moved, cancelled and confirmed."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

from .calendar import APPOINTMENT, appointment, no_appointment, own_appointment, refuse_slot, slot_for, why_not
from .guards import known, not_verified, unknown, verified

SAME_DAY_FEE_CENTS = 5_000
SURGEON_BOOKS = "SURG_MOHS"


def find_slots(
    ctx: ToolContext,
    location_ids: list[str],
    appointment_type_code: str | None = None,
    provider_id: str | None = None,
    earliest: dt.date | None = None,
    latest: dt.date | None = None,
    time_of_day: Literal["any", "morning", "afternoon"] = "any",
    max_results: int = 3,
) -> Envelope:
    """Free appointment times, soonest first.

    The only source of a time that you may offer; times change during the call.

    Args:
        location_ids: Offices to look at, by id, like ["loc_park_ave"].
        appointment_type_code: Only times of providers who do this kind of visit.
        provider_id: Only this provider, if the caller insists on one.
        earliest: First day to look at, if the caller set one.
        latest: Last day to look at, if the caller set one.
        time_of_day: Only if the caller asked for mornings (before noon) or afternoons.
        max_results: How many times at most, 1 to 10.
    """
    if not location_ids or not all(known(ctx, "locations", one) for one in location_ids):
        return unknown(ctx, "locations", "location_ids")
    if appointment_type_code is not None and not known(ctx, "appointment_types", appointment_type_code):
        return unknown(ctx, "appointment_types", "appointment_type_code")
    if provider_id is not None and not known(ctx, "providers", provider_id):
        return unknown(ctx, "providers", "provider_id")
    found = ctx.rows(
        "SELECT slots.id AS slot_id, location_id, locations.name AS location, provider_id, providers.name AS provider,"
        ' "start", "end" FROM slots JOIN locations ON locations.id = location_id'
        " JOIN providers ON providers.id = provider_id"
        ' WHERE appointment_id IS NULL AND blocked IS NULL AND "start" > ? ORDER BY "start", slots.id',
        ctx.now,
    )
    fits = [
        slot
        for slot in found
        if slot["location_id"] in location_ids
        and (provider_id is None or slot["provider_id"] == provider_id)
        and (appointment_type_code is None or why_not(ctx, slot, appointment_type_code) is None)
        and (earliest is None or slot["start"] >= earliest.isoformat())
        and (latest is None or slot["start"][:10] <= latest.isoformat())
        and (time_of_day == "any" or (slot["start"][11:] < "12:00") == (time_of_day == "morning"))
    ][: min(max(max_results, 1), 10)]
    return ctx.ok({"slots": fits, "count": len(fits)})


def book_appointment(ctx: ToolContext, slot_id: str, appointment_type_code: str) -> Envelope:
    """Book a new appointment for the verified patient.

    Only after they agreed to day, time and office. To move one, use reschedule_appointment.

    Args:
        slot_id: Id of a free time, from find_slots.
        appointment_type_code: Kind of visit, from list_appointment_types.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    kind = ctx.row("SELECT name, new_ok FROM appointment_types WHERE code = ?", appointment_type_code)
    if kind is None:
        return unknown(ctx, "appointment_types", "appointment_type_code")
    if appointment_type_code == SURGEON_BOOKS:
        return ctx.fail("surgeon_books", "That surgery is booked by the surgeon's team. I can pass a message to them.")
    if ctx.session["new_patient"] and not kind["new_ok"]:
        return ctx.fail("not_for_new_patients", "A first visit has to be of another kind. Shall I look for that?")
    slot = ctx.row("SELECT * FROM slots WHERE id = ?", slot_id)
    if slot is None:
        return ctx.fail("slot_unknown", "Let me look at the free times again.")
    same_kind = ctx.row(
        f"SELECT {APPOINTMENT} FROM appointments WHERE patient_id = ? AND appointment_type_code = ?"
        " AND status IN ('booked', 'confirmed') AND \"start\" >= ?",
        *(patient["id"], appointment_type_code, ctx.now),
    )
    if same_kind and same_kind["id"] == slot["appointment_id"]:
        return ctx.ok({"appointment": same_kind, "status": "booked"})
    if same_kind:
        return ctx.fail("already_booked", "You already have a visit of that kind. Shall we move that one?", same_kind)
    refusal = refuse_slot(ctx, slot, appointment_type_code, patient["id"], None)
    if refusal is not None:
        return refusal
    new_id = ctx.run(
        'INSERT INTO appointments (patient_id, location_id, provider_id, appointment_type_code, "start", "end",'
        " description, status, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'booked', ?)",
        *(patient["id"], slot["location_id"], slot["provider_id"], appointment_type_code, slot["start"], slot["end"]),
        *(kind["name"], ctx.now.isoformat(sep=" ")),
    )
    ctx.run("UPDATE slots SET appointment_id = ? WHERE id = ?", new_id, slot_id)
    return ctx.ok({"appointment": appointment(ctx, new_id), "status": "booked"})


def reschedule_appointment(
    ctx: ToolContext,
    appointment_id: int,
    new_start: dt.datetime,
    new_end: dt.datetime,
    new_slot_id: str | None = None,
) -> Envelope:
    """Move an upcoming appointment of the verified patient to a free time from find_slots.

    Only after they agreed to the new day and time.

    Args:
        appointment_id: Id of the appointment, from get_patient_summary.
        new_start: Start of the free time.
        new_end: End of the free time.
        new_slot_id: Id of the free time. Needed if the visit moves to another office or provider.
    """
    own = own_appointment(ctx, appointment_id)
    if own is None:
        return no_appointment(ctx)
    slot = slot_for(ctx, own, new_start, new_end, new_slot_id)
    if slot is None:
        return ctx.fail("slot_unknown", "I don't have that time. Let me look at the free times again.")
    if slot["appointment_id"] != own["id"]:
        refusal = refuse_slot(ctx, slot, own["appointment_type_code"], own["patient_id"], own["id"])
        if refusal is not None:
            return refusal
        ctx.run("UPDATE slots SET appointment_id = NULL WHERE appointment_id = ?", own["id"])
        ctx.run("UPDATE slots SET appointment_id = ? WHERE id = ?", own["id"], slot["id"])
        ctx.run(
            'UPDATE appointments SET location_id = ?, provider_id = ?, "start" = ?, "end" = ?,'
            " status = 'booked' WHERE id = ?",
            *(slot["location_id"], slot["provider_id"], slot["start"], slot["end"], own["id"]),
        )
    return ctx.ok(
        {
            "appointment": appointment(ctx, own["id"]),
            "status": "rescheduled",
            "fee_cents": 0,
            "note": "Rescheduling never costs anything — say so.",
        }
    )


def cancel_appointment(ctx: ToolContext, appointment_id: int, fee_accepted: bool = False) -> Envelope:
    """Cancel an upcoming appointment of the verified patient.

    Only after you read it back and they said to cancel it, not to move it.

    Args:
        appointment_id: Id of the appointment, from get_patient_summary.
        fee_accepted: True only for a visit that is today, after the caller has heard of the fee and still wants it.
    """
    own = own_appointment(ctx, appointment_id, also=("cancelled",))
    if own is None:
        return no_appointment(ctx)
    today = own["start"][:10] == ctx.now.date().isoformat()
    if own["status"] != "cancelled":
        if today and not fee_accepted:
            return ctx.fail("fee_not_accepted", "Cancelling on the same day costs fifty dollars. Moving it is free.")
        ctx.run("UPDATE appointments SET status = 'cancelled' WHERE id = ?", own["id"])
        ctx.run("UPDATE slots SET appointment_id = NULL WHERE appointment_id = ?", own["id"])
        if today:
            ctx.run(
                "INSERT INTO line_items (id, patient_id, kind, description, amount_cents, posted_on, status)"
                " VALUES (?, ?, 'no_show', 'Same-day cancellation fee', ?, ?, 'open')",
                *(f"li_cancel_{own['id']}", own["patient_id"], SAME_DAY_FEE_CENTS, ctx.now.date()),
            )
    return ctx.ok(
        {
            "appointment": appointment(ctx, own["id"]),
            "status": "cancelled",
            "fee_cents": SAME_DAY_FEE_CENTS if today else 0,
        }
    )


def confirm_appointment(ctx: ToolContext, appointment_id: int) -> Envelope:
    """Note that the verified patient will come to an upcoming appointment. Changes neither day nor time.

    Args:
        appointment_id: Id of the appointment, from get_patient_summary.
    """
    own = own_appointment(ctx, appointment_id)
    if own is None:
        return no_appointment(ctx)
    ctx.run("UPDATE appointments SET status = 'confirmed' WHERE id = ?", own["id"])
    return ctx.ok({"appointment": appointment(ctx, own["id"]), "status": "confirmed"})
