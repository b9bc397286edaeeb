"""Who the caller is, proved against the chart."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from callm_voice.desk.toolkit import Envelope, Name, Phone, ToolContext

from .accounts import OPEN_ITEMS
from .calendar import APPOINTMENT
from .guards import known, locked, not_verified, unknown, verified
from .names import NAME_KEYS, same_text, sound_key

MAX_FAILED_CHECKS = 3
ADULT_YEARS = 18


def identify_patient(
    ctx: ToolContext, first_name: Annotated[str, Name], last_name: Annotated[str, Name], dob: dt.date
) -> Envelope:
    """Look for the chart of the person on the phone. Proves nothing yet: read the result back, then verify_identity.

    The date of birth must be exact; the name may sound like the one on the chart. With match "sounds_alike", spell the
    name of read_back to the caller; if they agree, call this tool again with that spelling before verify_identity.

    Args:
        first_name: First name as the caller gave or spelled it.
        last_name: Last name as the caller gave or spelled it.
        dob: Date of birth.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return locked(ctx)
    born = ctx.rows(
        "SELECT first_name, last_name, dob FROM patients WHERE dob = ? AND chart_status <> 'merged' ORDER BY id", dob
    )
    asked = (first_name, last_name)
    alike = [p for p in born if all(sound_key(p[k]) == sound_key(v) for k, v in zip(NAME_KEYS, asked, strict=True))]
    exact = [p for p in alike if all(same_text(p[k], v) for k, v in zip(NAME_KEYS, asked, strict=True))]
    if not alike:
        return ctx.fail(
            "no_match",
            "I can't find a chart under that. Could you spell your last name and give me your date of birth?",
        )
    if not exact and len(alike) > 1:
        return ctx.fail("several_match", "I have more than one person close to that. Could you spell your full name?")
    found = (exact or alike)[0]
    return ctx.ok(
        {
            "match": "exact" if exact else "sounds_alike",
            "read_back": {"full_name": f"{found['first_name']} {found['last_name']}", "dob": found["dob"]},
            "spell_it_back": not exact or len(alike) > 1,
            **({"guardian_needed": True} if minor(ctx, dob) else {}),
        }
    )


def verify_identity(
    ctx: ToolContext,
    full_name: Annotated[str, Name],
    dob: dt.date,
    guardian_name: Annotated[str, Name] | None = None,
) -> Envelope:
    """Verify the caller against the chart. Only after the caller has agreed to the name and the date you read back.

    From then on the tools for charts, bills and appointments work for this patient. Three failed checks close the
    check for this call.

    Args:
        full_name: First and last name of the patient, spelled as on the chart.
        dob: Date of birth of the patient.
        guardian_name: Only for a patient under eighteen: first and last name of the parent or guardian on the phone.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return locked(ctx)
    born = ctx.rows("SELECT id, first_name, last_name, chart_status FROM patients WHERE dob = ?", dob)
    found = [p for p in born if same_text(f"{p['first_name']} {p['last_name']}", full_name)]
    if not found:
        return _failed(
            ctx, "identity_mismatch", "That doesn't match what we have. Could you spell your full name for me?"
        )
    if found[0]["chart_status"] != "active":
        return _closed(ctx, found[0]["chart_status"])
    if minor(ctx, dob):
        if guardian_name is None:
            return ctx.fail("guardian_needed", "Are you the parent or guardian, and what is your own full name?")
        if not _guards(ctx, found[0]["id"], guardian_name):
            return _failed(ctx, "guardian_not_on_file", "I can only speak with a parent or guardian who is on file.")
    ctx.session.update(patient_id=found[0]["id"], new_patient=False)
    return ctx.ok({"verified": True, "patient_id": found[0]["id"]})


def register_new_patient(
    ctx: ToolContext,
    first_name: Annotated[str, Name],
    last_name: Annotated[str, Name],
    dob: dt.date,
    mobile_e164: Annotated[str, Phone],
    zip_code: str,
    home_location_id: str,
) -> Envelope:
    """Open a chart for a caller who has never been seen here.

    Read every detail back first. The caller then counts as verified.

    Args:
        first_name: First name, as spelled by the caller.
        last_name: Last name, as spelled by the caller.
        dob: Date of birth.
        mobile_e164: Mobile number.
        zip_code: Five-digit ZIP code of the home address.
        home_location_id: The office they want to use, by its id.
    """
    first, last = first_name.title() if first_name.islower() else first_name, last_name
    last = last.title() if last.islower() else last
    if not (first and last and first.isprintable() and last.isprintable()):
        return ctx.fail("name_missing", "Could you give me your first and your last name?")
    if any(
        same_text(p["first_name"], first) and same_text(p["last_name"], last)
        for p in ctx.rows("SELECT first_name, last_name FROM patients WHERE dob = ?", dob)
    ):
        return ctx.fail("already_registered", "I think we have a chart for you already. Let me look you up.")
    if not dt.date(1900, 1, 1) <= dob <= ctx.now.date():
        return ctx.fail("dob_impossible", "Could you give me your date of birth again, with the year?")
    if len(zip_code) != 5 or not (zip_code.isascii() and zip_code.isdigit()):
        return ctx.fail("zip_invalid", "Could you give me your five-digit ZIP code?")
    if len(mobile_e164) != 12 or mobile_e164[:2] != "+1" or mobile_e164[2] in "01":
        return ctx.fail("mobile_invalid", "Could you give me a ten-digit mobile number?")
    if not known(ctx, "locations", home_location_id):
        return unknown(ctx, "locations", "home_location_id")
    patient_id = _new_patient_id(ctx, first, last)
    ctx.run(
        "INSERT INTO patients (id, first_name, last_name, dob, zip, mobile_e164, home_location_id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(patient_id, first, last, dob, zip_code, mobile_e164, home_location_id),
    )
    ctx.session.update(patient_id=patient_id, new_patient=True)
    return ctx.ok({"registered": True, "patient_id": patient_id})


def get_patient_summary(ctx: ToolContext) -> Envelope:
    """The verified patient's chart : upcoming appointments with their ids, balance, home office, insurance, flags.

    Read it before you talk about an appointment. Amounts are in cents.
    """
    patient = verified(ctx)
    if patient is None:
        return not_verified(ctx)
    patient_id = patient["id"]
    upcoming = ctx.rows(
        f"SELECT {APPOINTMENT} FROM appointments WHERE patient_id = ? AND status IN ('booked', 'confirmed')"
        ' AND "start" >= ? ORDER BY "start", id',
        *(patient_id, ctx.now),
    )
    return ctx.ok(
        {
            "patient_id": patient_id,
            "name": f"{patient['first_name']} {patient['last_name']}",
            "language": patient["language"],
            "home_office": patient["home_office"],
            "upcoming_appointments": upcoming,
            "balance_cents": sum(item["amount_cents"] for item in ctx.rows(OPEN_ITEMS, patient_id)),
            "insurance": ctx.row(
                "SELECT carrier, plan_name, member_id_last4 FROM insurance_policies WHERE patient_id = ?", patient_id
            ),
            "portal_active": bool(patient["portal_active"]),
            "open_orders": ctx.rows(
                "SELECT id, kind, description, ordered_on FROM orders WHERE patient_id = ? AND status = 'open'"
                " ORDER BY id",
                patient_id,
            ),
            "clinical_flags": [
                row["flag"]
                for row in ctx.rows("SELECT flag FROM clinical_flags WHERE patient_id = ? ORDER BY flag", patient_id)
            ],
        }
    )


def minor(ctx: ToolContext, dob: dt.date) -> bool:
    """Whether somebody born on `dob` is under eighteen on the day of the call."""
    today = ctx.now.date()
    return today.year - dob.year - ((today.month, today.day) < (dob.month, dob.day)) < ADULT_YEARS


def _guards(ctx: ToolContext, patient_id: str, full_name: str) -> bool:
    """Whether a name sounds like that of a guardian on file; nobody reads that name out, so nobody can repeat it."""
    first, _, last = full_name.partition(" ")
    return any(
        sound_key(g["first_name"]) == sound_key(first) and sound_key(g["last_name"]) == sound_key(last)
        for g in ctx.rows("SELECT first_name, last_name FROM guardians WHERE patient_id = ?", patient_id)
    )


def _failed(ctx: ToolContext, code: str, words: str) -> Envelope:
    """Count a failed check; the last one closes the check for this call."""
    ctx.session["failed_checks"] += 1
    return locked(ctx) if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS else ctx.fail(code, words)


def _closed(ctx: ToolContext, status: str) -> Envelope:
    """Why a chart that is not in use cannot be opened."""
    if status == "merged":
        return ctx.fail(
            "chart_merged", "That chart was joined with another one. Could you spell your name as your ID has it?"
        )
    return ctx.fail("chart_closed", "I can't open that chart on the phone. I can pass a message to the office.")


def _new_patient_id(ctx: ToolContext, first: str, last: str) -> str:
    stem = "pat_" + "_".join("".join(c for c in part.casefold() if c.isalnum()) for part in (first, last))
    taken = {row["id"] for row in ctx.rows("SELECT id FROM patients")}
    return next(i for i in (stem, *(f"{stem}_{n}" for n in range(2, len(taken) + 3))) if i not in taken)
