"""Visits and free times: whose they are, and for whom they fit."""

from __future__ import annotations

import datetime as dt

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import not_verified, verified
from .kinds import Row

APPOINTMENT = (
    'id, patient_id, location_id, provider_id, appointment_type_code, "start", "end", description, status, created_at'
)


def appointment(ctx: ToolContext, appointment_id: int) -> Row | None:
    return ctx.row(f"SELECT {APPOINTMENT} FROM appointments WHERE id = ?", appointment_id)


def own_appointment(ctx: ToolContext, appointment_id: int, also: tuple[str, ...] = ()) -> Row | None:
    """An upcoming appointment of the verified patient's, or None."""
    found = appointment(ctx, appointment_id)
    if found is None or found["patient_id"] != ctx.session["patient_id"]:
        return None
    upcoming = found["start"] >= ctx.now.isoformat(timespec="minutes")
    return found if upcoming and found["status"] in ("booked", "confirmed", *also) else None


def no_appointment(ctx: ToolContext) -> Envelope:
    if verified(ctx) is None:
        return not_verified(ctx)
    return ctx.fail("appointment_unknown", "I don't see that appointment coming up for you. Let me look again.")


def slot_for(ctx: ToolContext, own: Row, start: dt.datetime, end: dt.datetime, slot_id: str | None) -> Row | None:
    """The slot that is meant: the named one, else the one of this time with the same provider and office."""
    times = (start.isoformat(timespec="minutes"), end.isoformat(timespec="minutes"))
    if slot_id is not None:
        return ctx.row('SELECT * FROM slots WHERE id = ? AND "start" = ? AND "end" = ?', slot_id, *times)
    return ctx.row(
        'SELECT * FROM slots WHERE location_id = ? AND "start" = ? AND "end" = ? ORDER BY provider_id = ? DESC,'
        " appointment_id IS NOT NULL OR blocked IS NOT NULL, id",
        *(own["location_id"], *times, own["provider_id"]),
    )


def refuse_slot(ctx: ToolContext, slot: Row, code: str, patient_id: str, moving: int | None) -> Envelope | None:
    """Why a slot cannot be given to this patient for this kind of visit, as an envelope; None if it can."""
    if slot["appointment_id"] is not None or slot["blocked"] is not None:
        return ctx.fail("slot_taken", "That time is no longer free. Let me look for another one.")
    if slot["start"] <= ctx.now.isoformat(timespec="minutes"):
        return ctx.fail("slot_past", "That time has already gone by. Let me look for another one.")
    why = why_not(ctx, slot, code)
    if why is not None:
        return ctx.fail(why, "That kind of visit can't be done at that time. Let me look for another one.")
    clash = ctx.row(
        "SELECT id FROM appointments WHERE patient_id = ? AND id IS NOT ? AND status IN ('booked', 'confirmed')"
        ' AND "start" < ? AND "end" > ?',
        *(patient_id, moving, slot["end"], slot["start"]),
    )
    return ctx.fail("own_clash", "You already have another visit at that time.") if clash else None


def why_not(ctx: ToolContext, slot: Row, code: str) -> str | None:
    """Why a kind of visit cannot be done in a slot, as an error code; None if it can."""
    kind = ctx.row("SELECT service, minutes FROM appointment_types WHERE code = ?", code)
    if kind is None:
        return "appointment_type_code_unknown"
    if not ctx.row(
        "SELECT 1 FROM provider_appointment_types WHERE provider_id = ? AND code = ?", slot["provider_id"], code
    ):
        return "provider_does_not_do_this"
    cosmetic = ctx.row("SELECT offers_cosmetic FROM locations WHERE id = ?", slot["location_id"])
    if kind["service"] == "cosmetic" and not (cosmetic and cosmetic["offers_cosmetic"]):
        return "office_does_not_do_this"
    minutes = dt.datetime.fromisoformat(slot["end"]) - dt.datetime.fromisoformat(slot["start"])
    return "slot_too_short" if minutes < dt.timedelta(minutes=kind["minutes"]) else None
