"""Appointments as they are shown, and why a time cannot be given."""

from __future__ import annotations

from callm_voice.desk.toolkit import Envelope, ToolContext

from .guards import not_verified, who_calls
from .kinds import Row

APPOINTMENT = """
    SELECT a.id AS appointment_id, a.type_code, t.name AS kind, t.place, m.number AS matter_number,
           att.name AS attorney, o.name AS office, a."start", a."end", a.status
    FROM appointments AS a
    JOIN appointment_types AS t ON t.code = a.type_code
    JOIN attorneys AS att ON att.id = a.attorney_id
    JOIN offices AS o ON o.id = a.office_id
    LEFT JOIN matters AS m ON m.id = a.matter_id
"""


def coming_up(ctx: ToolContext) -> list[Row]:
    subject = who_calls(ctx)
    if subject is None:
        return []
    return ctx.rows(
        f"{APPOINTMENT} WHERE a.{subject[0]} = ? AND a.status IN ('booked', 'confirmed') AND a.\"start\" >= ?"
        ' ORDER BY a."start", a.id',
        *(subject[1], ctx.now),
    )


def appointment_row(ctx: ToolContext, appointment_id: int) -> Row | None:
    return ctx.row(f"{APPOINTMENT} WHERE a.id = ?", appointment_id)


def own_appointment(ctx: ToolContext, appointment_id: int, also: tuple[str, ...] = ()) -> Row | None:
    """An upcoming appointment of the caller's, or None."""
    subject, found = who_calls(ctx), ctx.row("SELECT * FROM appointments WHERE id = ?", appointment_id)
    if subject is None or found is None or found[subject[0]] != subject[1]:
        return None
    upcoming = found["start"] >= ctx.now.isoformat(timespec="minutes")
    return found if upcoming and found["status"] in ("booked", "confirmed", *also) else None


def no_appointment(ctx: ToolContext) -> Envelope:
    if who_calls(ctx) is None:
        return not_verified(ctx)
    return ctx.fail("appointment_unknown", "I don't see that appointment coming up for you. Let me look again.")


def refuse_consult(ctx: ToolContext, slot: Row, column: str, key: str) -> Envelope | None:
    attorney = ctx.row("SELECT practice_area, takes_new FROM attorneys WHERE id = ?", slot["attorney_id"]) or {}
    if not ctx.row(
        f"SELECT 1 FROM intakes WHERE {column} = ? AND practice_area = ?", key, attorney.get("practice_area")
    ):
        return ctx.fail("intake_first", "Before I can book that, I need a few details about the case.")
    if not attorney["takes_new"]:
        return ctx.fail("attorney_full", "That attorney is not taking new clients. Let me look at another one.")
    return None


def refuse_for(ctx: ToolContext, slot: Row, type_code: str, matter: Row) -> Envelope | None:
    """Why a slot cannot be used for this kind of appointment in a matter, as an envelope; None if it can."""
    if slot["attorney_id"] != matter["lead_attorney_id"]:
        return ctx.fail("other_attorney", "That time is with another attorney. Let me look again.")
    if type_code == "SIGNING" and not ctx.row(
        "SELECT 1 FROM documents WHERE matter_id = ? AND status = 'awaiting_signature'", matter["id"]
    ):
        return ctx.fail("nothing_to_sign", "There is nothing ready to be signed on that matter yet.")
    if type_code == "HEARING_PREP" and not ctx.row(
        'SELECT 1 FROM hearings WHERE matter_id = ? AND "start" > ?', matter["id"], slot["end"]
    ):
        return ctx.fail(
            "no_hearing_after", "That time would not be before your hearing. Let me look for an earlier one."
        )
    return None


def refuse_slot(ctx: ToolContext, slot: Row, moving: int | None) -> Envelope | None:
    """Why a slot cannot be given to the caller, as an envelope; None if it can."""
    if slot["appointment_id"] is not None or slot["blocked"] is not None:
        return ctx.fail("slot_taken", "That time is no longer free. Let me look for another one.")
    if slot["start"] <= ctx.now.isoformat(timespec="minutes"):
        return ctx.fail("slot_past", "That time has already gone by. Let me look for another one.")
    if any(
        own["appointment_id"] != moving and own["start"] < slot["end"] and own["end"] > slot["start"]
        for own in coming_up(ctx)
    ):
        return ctx.fail("own_clash", "You already have another appointment at that time.")
    return None
