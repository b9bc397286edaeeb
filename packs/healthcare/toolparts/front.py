"""Addresses and numbers, complaints, and what is asked for and not given."""

from __future__ import annotations

from typing import Annotated, Literal

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .guards import five_digits, known, not_verified, unknown, us_number, verified
from .kinds import ComplaintKind, Declined


def update_mobile(
    ctx: ToolContext, old_mobile_e164: Annotated[str, Phone], new_mobile_e164: Annotated[str, Phone]
) -> Envelope:
    """Change the verified patient's mobile number. The old one is asked for and compared; it is never read out.

    Args:
        old_mobile_e164: The number that we have had so far, as the caller gives it.
        new_mobile_e164: The new number, after you have read it back.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    if not us_number(new_mobile_e164):
        return ctx.fail("mobile_invalid", "Could you give me the ten digits of the new number again?")
    if patient["mobile_e164"] != new_mobile_e164:
        if patient["mobile_e164"] != old_mobile_e164:
            return ctx.fail("old_mobile_mismatch", "The old number doesn't match what we have. Which one was it?")
        ctx.run("UPDATE patients SET mobile_e164 = ? WHERE id = ?", new_mobile_e164, patient["id"])
    return ctx.ok({"updated": True, "mobile_e164": new_mobile_e164})


def update_address(ctx: ToolContext, street: str, city: str, zip_code: str) -> Envelope:
    """Change the verified patient's home address. Mail that was on hold because a letter came back goes out again.

    Args:
        street: House number and street, as in "18 Lincoln Street", after you have read it back.
        city: City or town.
        zip_code: Five-digit ZIP code.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    street, city = " ".join(street.split()), " ".join(city.split())
    if not (street and city and street.isprintable() and city.isprintable()):
        return ctx.fail("address_incomplete", "Could you give me the street with the number, and the city?")
    if not five_digits(zip_code):
        return ctx.fail("zip_invalid", "Could you give me your five-digit ZIP code?")
    ctx.run(
        "INSERT INTO addresses (patient_id, street, city, zip) VALUES (?, ?, ?, ?) ON CONFLICT (patient_id)"
        " DO UPDATE SET street = excluded.street, city = excluded.city, zip = excluded.zip",
        *(patient["id"], street, city, zip_code),
    )
    ctx.run("UPDATE patients SET zip = ? WHERE id = ?", zip_code, patient["id"])
    ctx.run("DELETE FROM mail_holds WHERE patient_id = ?", patient["id"])
    return ctx.ok({"updated": True, "mail_on_hold": False})


def set_reminders(ctx: ToolContext, reminders: Literal["text", "call", "none"]) -> Envelope:
    """How the verified patient is reminded of visits.

    Args:
        reminders: text, call, or none.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    ctx.run(
        "INSERT INTO contact_preferences (patient_id, reminders) VALUES (?, ?) ON CONFLICT (patient_id)"
        " DO UPDATE SET reminders = excluded.reminders",
        *(patient["id"], reminders),
    )
    return ctx.ok({"reminders": reminders})


def file_complaint(ctx: ToolContext, kind: ComplaintKind, location_id: str, complaint: str) -> Envelope:
    """Write down a complaint for the practice manager. The caller need not be identified.

    Args:
        kind: waiting (time spent waiting), staff (how somebody behaved), care, billing, or building.
        location_id: The office that it is about, by id.
        complaint: What happened, in one or two sentences.
    """
    if not known(ctx, "locations", location_id):
        return unknown(ctx, "locations", "location_id")
    if not complaint.strip():
        return ctx.fail("complaint_empty", "What happened?")
    key = (ctx.session["patient_id"], kind, location_id, ctx.now)
    filed = ctx.row(
        "SELECT id FROM complaints WHERE patient_id IS ? AND kind = ? AND location_id = ? AND filed_at = ?", *key
    )
    if filed is None:
        ctx.run(
            "INSERT INTO complaints (patient_id, kind, location_id, filed_at, body) VALUES (?, ?, ?, ?, ?)",
            *(*key, complaint.strip()),
        )
    else:
        ctx.run("UPDATE complaints SET body = ? WHERE id = ?", complaint.strip(), filed["id"])
    return ctx.ok({"filed": True, "kind": kind, "location_id": location_id, "read_by": "practice manager"})


def record_declined_request(ctx: ToolContext, kind: Declined) -> Envelope:
    """Write down that the caller asked for something that is not given to anyone, after you have declined it. Once.

    Args:
        kind: chart_of_another (anything about a person who was not verified in this call), record_changed (to have
            altered what a doctor wrote), or staff_contact (a private number or address of staff).
    """
    ctx.run(
        "INSERT OR IGNORE INTO declined_requests (patient_id, kind, declined_at) VALUES (?, ?, ?)",
        *(ctx.session["patient_id"], kind, ctx.now),
    )
    return ctx.ok({"recorded": True, "kind": kind})
