"""The tools of the front desk of Straus Dermatology.

What policy asks, the tools enforce: nothing of a chart without a verified identity, a payment link only to the mobile
on file, a time only if it is free. Reading tools write nothing. A write that is repeated answers as the first did.
"""

from __future__ import annotations

import datetime as dt
import unicodedata
from typing import Annotated, Any, Literal

from callm_voice.desk.toolkit import Envelope, Name, Phone, ToolContext

MAX_FAILED_CHECKS = 3
SAME_DAY_FEE_CENTS = 5_000
LINK_CHANNEL = "sms"

Row = dict[str, Any]
Service = Literal["medical", "surgical", "cosmetic", "allergy"]
Topic = Literal[
    "billing_question",
    "prescription_refill",
    "test_results",
    "records_request",
    "contact_change",
    "complaint",
    "other",
]
FactTopic = Literal[
    "new_patients",
    "what_to_bring",
    "cancellation",
    "self_pay",
    "insurance_accepted",
    "referrals",
    "results",
    "prescriptions",
    "minors",
    "records",
    "payment_methods",
]
TEAM_OF: dict[str, str] = {
    "billing_question": "billing",
    "prescription_refill": "nurses",
    "test_results": "nurses",
    "complaint": "manager",
}
"""Topic of a message → who gets it; every other topic goes to the front desk."""

APPOINTMENT = (
    'id, patient_id, location_id, provider_id, appointment_type_code, "start", "end", description, status, created_at'
)
OPEN_ITEMS = """
    SELECT item.id AS line_item_id, item.description,
           item.amount_cents - coalesce((SELECT sum(amount_cents) FROM payments WHERE line_item_id = item.id), 0)
               AS amount_cents
    FROM line_items AS item
    WHERE item.patient_id = ? AND item.status = 'open'
    ORDER BY item.posted_on, item.id
"""


# --- identity -------------------------------------------------------------------------------------------------------


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
        return _locked(ctx)
    born = ctx.rows("SELECT first_name, last_name, dob FROM patients WHERE dob = ? ORDER BY id", dob)
    asked = (first_name, last_name)
    alike = [p for p in born if all(sound_key(p[k]) == sound_key(v) for k, v in zip(_NAME_KEYS, asked, strict=True))]
    exact = [p for p in alike if all(_same_text(p[k], v) for k, v in zip(_NAME_KEYS, asked, strict=True))]
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
        }
    )


def verify_identity(ctx: ToolContext, full_name: Annotated[str, Name], dob: dt.date) -> Envelope:
    """Verify the caller against the chart. Only after the caller has agreed to the name and the date you read back.

    From then on the tools for charts, bills and appointments work for this patient. Three failed checks close the
    check for this call.

    Args:
        full_name: First and last name, spelled as on the chart.
        dob: Date of birth.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return _locked(ctx)
    born = ctx.rows("SELECT id, first_name, last_name FROM patients WHERE dob = ?", dob)
    found = [p for p in born if _same_text(f"{p['first_name']} {p['last_name']}", full_name)]
    if not found:
        ctx.session["failed_checks"] += 1
        if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
            return _locked(ctx)
        return ctx.fail("identity_mismatch", "That doesn't match what we have. Could you spell your full name for me?")
    ctx.session["patient_id"] = found[0]["id"]
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
        _same_text(p["first_name"], first) and _same_text(p["last_name"], last)
        for p in ctx.rows("SELECT first_name, last_name FROM patients WHERE dob = ?", dob)
    ):
        return ctx.fail("already_registered", "I think we have a chart for you already. Let me look you up.")
    if not dt.date(1900, 1, 1) <= dob <= ctx.now.date():
        return ctx.fail("dob_impossible", "Could you give me your date of birth again, with the year?")
    if len(zip_code) != 5 or not (zip_code.isascii() and zip_code.isdigit()):
        return ctx.fail("zip_invalid", "Could you give me your five-digit ZIP code?")
    if len(mobile_e164) != 12 or mobile_e164[:2] != "+1" or mobile_e164[2] in "01":
        return ctx.fail("mobile_invalid", "Could you give me a ten-digit mobile number?")
    if not _known(ctx, "locations", home_location_id):
        return _unknown(ctx, "locations", "home_location_id")
    patient_id = _new_patient_id(ctx, first, last)
    ctx.run(
        "INSERT INTO patients (id, first_name, last_name, dob, zip, mobile_e164, home_location_id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(patient_id, first, last, dob, zip_code, mobile_e164, home_location_id),
    )
    ctx.session["patient_id"] = patient_id
    return ctx.ok({"registered": True, "patient_id": patient_id})


def get_patient_summary(ctx: ToolContext) -> Envelope:
    """The verified patient's chart : upcoming appointments with their ids, balance, home office, insurance, flags.

    Read it before you talk about an appointment. Amounts are in cents.
    """
    patient = _verified(ctx)
    if patient is None:
        return _not_verified(ctx)
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


# --- practice -------------------------------------------------------------------------------------------------------


def list_locations(ctx: ToolContext, location_id: str | None = None) -> Envelope:
    """All offices with id, address, hours, services, transit and parking. Public: no identity needed.

    Args:
        location_id: An office to put first, if the caller has named one.
    """
    if location_id is not None and not _known(ctx, "locations", location_id):
        return _unknown(ctx, "locations", "location_id")
    offices = ctx.rows(
        "SELECT id, name, zip, offers_cosmetic, address, floor, suite, hours, services, transit, parking"
        " FROM locations ORDER BY id = ? DESC, listed",
        location_id or "",
    )
    return ctx.ok({"locations": [{**office, "offers_cosmetic": bool(office["offers_cosmetic"])} for office in offices]})


def list_providers(ctx: ToolContext, location_id: str | None = None) -> Envelope:
    """Doctors and other providers with what they do and where. Public.

    Args:
        location_id: Only those who work at this office.
    """
    if location_id is not None and not _known(ctx, "locations", location_id):
        return _unknown(ctx, "locations", "location_id")
    found = ctx.rows(
        "SELECT id AS provider_id, name, focus, accepting_new FROM providers WHERE ? IS NULL OR id IN"
        " (SELECT provider_id FROM provider_locations WHERE location_id = ?) ORDER BY name",
        *(location_id, location_id),
    )
    return ctx.ok({"providers": [{**p, "accepting_new": bool(p["accepting_new"])} for p in found]})


def list_appointment_types(ctx: ToolContext, service: Service | None = None) -> Envelope:
    """Kinds of appointment with the code that book_appointment and find_slots take. Public.

    Args:
        service: Only this branch of care.
    """
    found = ctx.rows(
        "SELECT code, name, service, minutes, new_ok FROM appointment_types WHERE ? IS NULL OR service = ?"
        " ORDER BY code",
        *(service, service),
    )
    return ctx.ok({"appointment_types": [{**t, "new_ok": bool(t["new_ok"])} for t in found]})


def get_practice_fact(ctx: ToolContext, topic: FactTopic) -> Envelope:
    """The practice's own answer to a general question, in words that may be said as they stand. Public.

    Args:
        topic: What the question is about.
    """
    found = ctx.row("SELECT topic, fact FROM practice_facts WHERE topic = ?", topic)
    return ctx.ok(found) if found else ctx.fail("unknown_topic", "I don't have that here. I can take a message.")


def take_message(
    ctx: ToolContext, topic: Topic, message: str, callback_e164: Annotated[str, Phone] | None = None
) -> Envelope:
    """Leave a message for the team that handles the topic.

    For what this desk cannot do itself, and only if the caller wants it.

    Args:
        topic: What it is about; it decides which team reads it.
        message: One or two sentences with what the team needs to act.
        callback_e164: Number to call back, if the caller wants a call.
    """
    if not message.strip():
        return ctx.fail("message_empty", "What should I write down for them?")
    patient_id, team = ctx.session["patient_id"], TEAM_OF.get(topic, "front_desk")
    taken = ctx.row(
        "SELECT id FROM messages WHERE patient_id IS ? AND topic = ? AND taken_at = ?", patient_id, topic, ctx.now
    )
    if taken is None:
        ctx.run(
            "INSERT INTO messages (patient_id, team, topic, body, callback_e164, taken_at) VALUES (?, ?, ?, ?, ?, ?)",
            *(patient_id, team, topic, message.strip(), callback_e164, ctx.now),
        )
    return ctx.ok({"taken": True, "team": team, "topic": topic})


# --- billing --------------------------------------------------------------------------------------------------------


def get_account_balance(ctx: ToolContext) -> Envelope:
    """What the verified patient owes: the total and each open charge, in cents.

    The only source of an amount that you may say.
    """
    patient = _verified(ctx)
    if patient is None:
        return _not_verified(ctx)
    items = ctx.rows(OPEN_ITEMS, patient["id"])
    return ctx.ok({"balance_cents": sum(item["amount_cents"] for item in items), "line_items": items})


def explain_charge(ctx: ToolContext, line_item_id: str) -> Envelope:
    """Why a charge is there, in the approved words. Say them as they stand and add no reasons of your own.

    Args:
        line_item_id: Id of the charge, from get_account_balance.
    """
    item = _own_item(ctx, line_item_id)
    if item is None:
        return _no_item(ctx)
    script = ctx.row("SELECT approved_script FROM charge_kinds WHERE kind = ?", item["kind"])
    return ctx.ok({"line_item_id": line_item_id, **(script or {})})


def list_payments(ctx: ToolContext) -> Envelope:
    """Payments of the verified patient, newest first: date, amount in cents, method, and the charge they were for."""
    patient = _verified(ctx)
    if patient is None:
        return _not_verified(ctx)
    found = ctx.rows(
        "SELECT paid_on, payments.amount_cents, method, line_item_id, description FROM payments"
        " JOIN line_items ON line_items.id = line_item_id WHERE patient_id = ? ORDER BY paid_on DESC, payments.id DESC",
        patient["id"],
    )
    return ctx.ok({"payments": found})


def offer_financing(ctx: ToolContext) -> Envelope:
    """Look up whether the verified patient can pay the balance over time, and with whom.

    Signs nobody up and writes nothing.

    Call it before you say anything about a plan.
    """
    patient = _verified(ctx)
    if patient is None:
        return _not_verified(ctx)
    balance = sum(item["amount_cents"] for item in ctx.rows(OPEN_ITEMS, patient["id"]))
    if patient["account_standing"] == "collections":
        return ctx.ok(
            {"eligible": False, "provider": None, "note": "The billing team arranges plans for this account."}
        )
    program = ctx.row(
        "SELECT provider FROM financing_programs WHERE active = 1 AND min_balance_cents <= ?"
        " ORDER BY min_balance_cents",
        balance,
    )
    if program is None:
        return ctx.ok({"eligible": False, "provider": None, "note": "Financing starts at a balance of $200.00."})
    return ctx.ok({"eligible": True, "provider": program["provider"], "note": None})


def send_payment_link(
    ctx: ToolContext, mobile_e164: Annotated[str, Phone], amount_cents: int | None = None
) -> Envelope:
    """Text the verified patient a link to pay or to set up financing.

    Ask for the mobile first; only the one on the chart works.

    Args:
        mobile_e164: The mobile that the caller gave.
        amount_cents: Only for part of the balance, if the caller named an amount. Leave it out for the whole balance.
    """
    patient = _verified(ctx)
    if patient is None:
        return _not_verified(ctx)
    balance = sum(item["amount_cents"] for item in ctx.rows(OPEN_ITEMS, patient["id"]))
    if balance == 0:
        return ctx.fail("nothing_due", "You don't owe anything right now, so there is nothing to pay.")
    if mobile_e164 != patient["mobile_e164"]:
        return ctx.fail(
            "mobile_not_on_file", "I can only text the mobile number on your chart. Which one would that be?"
        )
    if amount_cents is not None and not 0 < amount_cents <= balance:
        return ctx.fail(
            "amount_not_payable", "That isn't an amount I can put on the link. How much would you like to pay?"
        )
    amount = None if amount_cents == balance else amount_cents
    key = (patient["id"], LINK_CHANNEL, mobile_e164, amount, ctx.now)
    if not ctx.row(
        "SELECT id FROM payment_links WHERE patient_id = ? AND channel = ? AND mobile_e164 = ? AND amount_cents IS ?"
        " AND sent_at = ?",
        *key,
    ):
        ctx.run(
            "INSERT INTO payment_links (patient_id, channel, mobile_e164, amount_cents, sent_at)"
            " VALUES (?, ?, ?, ?, ?)",
            *key,
        )
    return ctx.ok({"sent": True, "channel": LINK_CHANNEL, "mobile_e164": mobile_e164, "amount_cents": amount})


def request_charge_review(ctx: ToolContext, line_item_id: str, reason: str) -> Envelope:
    """Ask the billing team to check a charge that the caller says is wrong.

    Only after explain_charge, and only if they still object.

    Args:
        line_item_id: Id of the charge, from get_account_balance.
        reason: In one sentence, why the caller thinks it is wrong.
    """
    item = _own_item(ctx, line_item_id)
    if item is None:
        return _no_item(ctx)
    if item["status"] != "open":
        return ctx.fail("charge_closed", "That charge is already settled, so there is nothing left to review.")
    if not reason.strip():
        return ctx.fail("reason_empty", "What looks wrong to you about that charge?")
    if not ctx.row("SELECT id FROM charge_reviews WHERE line_item_id = ?", line_item_id):
        ctx.run(
            "INSERT INTO charge_reviews (line_item_id, reason, opened_on) VALUES (?, ?, ?)",
            *(line_item_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"review": "open", "line_item_id": line_item_id})


# --- scheduling -----------------------------------------------------------------------------------------------------


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
    if not location_ids or not all(_known(ctx, "locations", one) for one in location_ids):
        return _unknown(ctx, "locations", "location_ids")
    if appointment_type_code is not None and not _known(ctx, "appointment_types", appointment_type_code):
        return _unknown(ctx, "appointment_types", "appointment_type_code")
    if provider_id is not None and not _known(ctx, "providers", provider_id):
        return _unknown(ctx, "providers", "provider_id")
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
        and (appointment_type_code is None or _why_not(ctx, slot, appointment_type_code) is None)
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
    patient = _verified(ctx)
    if patient is None:
        return _not_verified(ctx)
    kind = ctx.row("SELECT name FROM appointment_types WHERE code = ?", appointment_type_code)
    if kind is None:
        return _unknown(ctx, "appointment_types", "appointment_type_code")
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
    refusal = _refuse_slot(ctx, slot, appointment_type_code, patient["id"], None)
    if refusal is not None:
        return refusal
    new_id = ctx.run(
        'INSERT INTO appointments (patient_id, location_id, provider_id, appointment_type_code, "start", "end",'
        " description, status, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'booked', ?)",
        *(patient["id"], slot["location_id"], slot["provider_id"], appointment_type_code, slot["start"], slot["end"]),
        *(kind["name"], ctx.now.isoformat(sep=" ")),
    )
    ctx.run("UPDATE slots SET appointment_id = ? WHERE id = ?", new_id, slot_id)
    return ctx.ok({"appointment": _appointment(ctx, new_id), "status": "booked"})


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
    own = _own_appointment(ctx, appointment_id)
    if own is None:
        return _no_appointment(ctx)
    slot = _slot_for(ctx, own, new_start, new_end, new_slot_id)
    if slot is None:
        return ctx.fail("slot_unknown", "I don't have that time. Let me look at the free times again.")
    if slot["appointment_id"] != own["id"]:
        refusal = _refuse_slot(ctx, slot, own["appointment_type_code"], own["patient_id"], own["id"])
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
            "appointment": _appointment(ctx, own["id"]),
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
    own = _own_appointment(ctx, appointment_id, also=("cancelled",))
    if own is None:
        return _no_appointment(ctx)
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
            "appointment": _appointment(ctx, own["id"]),
            "status": "cancelled",
            "fee_cents": SAME_DAY_FEE_CENTS if today else 0,
        }
    )


def confirm_appointment(ctx: ToolContext, appointment_id: int) -> Envelope:
    """Note that the verified patient will come to an upcoming appointment. Changes neither day nor time.

    Args:
        appointment_id: Id of the appointment, from get_patient_summary.
    """
    own = _own_appointment(ctx, appointment_id)
    if own is None:
        return _no_appointment(ctx)
    ctx.run("UPDATE appointments SET status = 'confirmed' WHERE id = ?", own["id"])
    return ctx.ok({"appointment": _appointment(ctx, own["id"]), "status": "confirmed"})


def join_waitlist(ctx: ToolContext, location_id: str, appointment_type_code: str) -> Envelope:
    """Put the verified patient on the list for an earlier time.

    Only if they ask for it or agree to it; it moves nothing.

    Args:
        location_id: Office, by id.
        appointment_type_code: Kind of visit they wait for.
    """
    patient = _verified(ctx)
    if patient is None:
        return _not_verified(ctx)
    if not _known(ctx, "locations", location_id):
        return _unknown(ctx, "locations", "location_id")
    if not _known(ctx, "appointment_types", appointment_type_code):
        return _unknown(ctx, "appointment_types", "appointment_type_code")
    ctx.run(
        "INSERT OR IGNORE INTO waitlist (patient_id, location_id, appointment_type_code, added_on) VALUES (?, ?, ?, ?)",
        *(patient["id"], location_id, appointment_type_code, ctx.now.date()),
    )
    return ctx.ok({"waiting": True, "location_id": location_id, "appointment_type_code": appointment_type_code})


# --- names ----------------------------------------------------------------------------------------------------------

_NAME_KEYS = ("first_name", "last_name")
_SOUNDS = (
    *(("sch", "s"), ("chr", "kr"), ("ch", "s"), ("sh", "s"), ("ph", "f"), ("gh", ""), ("ck", "k"), ("x", "ks")),
    *(("ce", "se"), ("ci", "si"), ("cy", "sy"), ("ge", "je"), ("gi", "ji"), ("c", "k"), ("q", "k"), ("z", "s")),
    *(("v", "b"), ("w", "b")),
)
"""Spellings that a listener, or a recogniser on a telephone line, cannot tell apart; applied in this order."""


def sound_key(name: str) -> str:
    """How a name sounds, roughly: consonants only, lookalikes merged, so that Alvarez = Alvares and not Alvarado."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    text = "".join(c for c in plain if c.isalpha())
    for spelled, sound in _SOUNDS:
        text = text.replace(spelled, sound)
    first = "a" if text[:1] in "aeiouy" else text[:1]
    key = first
    for letter in text[1:]:
        if letter not in "aeiouyh" and letter != key[-1:]:
            key += letter
    return key


def _same_text(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _new_patient_id(ctx: ToolContext, first: str, last: str) -> str:
    stem = "pat_" + "_".join("".join(c for c in part.casefold() if c.isalnum()) for part in (first, last))
    taken = {row["id"] for row in ctx.rows("SELECT id FROM patients")}
    return next(i for i in (stem, *(f"{stem}_{n}" for n in range(2, len(taken) + 3))) if i not in taken)


# --- guards ---------------------------------------------------------------------------------------------------------


def _verified(ctx: ToolContext) -> Row | None:
    """The verified patient's row with the name of the home office, or None."""
    return ctx.row(
        "SELECT patients.*, locations.name AS home_office FROM patients"
        " JOIN locations ON locations.id = home_location_id WHERE patients.id = ?",
        ctx.session["patient_id"],
    )


def _not_verified(ctx: ToolContext) -> Envelope:
    return ctx.fail("identity_not_verified", "I need to confirm who I'm speaking with before I can look at that.")


def _locked(ctx: ToolContext) -> Envelope:
    return ctx.fail(
        "identity_locked", "I can't confirm your identity on this call. I can take a message for the office."
    )


def _known(ctx: ToolContext, table: Literal["locations", "providers", "appointment_types"], key: str) -> bool:
    column = "code" if table == "appointment_types" else "id"
    return ctx.row(f"SELECT 1 FROM {table} WHERE {column} = ?", key) is not None


def _unknown(
    ctx: ToolContext, table: Literal["locations", "providers", "appointment_types"], argument: str
) -> Envelope:
    """Refuse an id that no row has, and list the ids that there are."""
    column = "code" if table == "appointment_types" else "id"
    known = [row["key"] for row in ctx.rows(f"SELECT {column} AS key FROM {table} ORDER BY key")]
    return ctx.fail(f"{argument}_unknown", "Let me look that up again.", {"known": known})


def _own_item(ctx: ToolContext, line_item_id: str) -> Row | None:
    return ctx.row("SELECT * FROM line_items WHERE id = ? AND patient_id = ?", line_item_id, ctx.session["patient_id"])


def _no_item(ctx: ToolContext) -> Envelope:
    if _verified(ctx) is None:
        return _not_verified(ctx)
    return ctx.fail("charge_unknown", "I don't see that charge on your account. Let me look at your balance again.")


def _appointment(ctx: ToolContext, appointment_id: int) -> Row | None:
    return ctx.row(f"SELECT {APPOINTMENT} FROM appointments WHERE id = ?", appointment_id)


def _own_appointment(ctx: ToolContext, appointment_id: int, also: tuple[str, ...] = ()) -> Row | None:
    """An upcoming appointment of the verified patient's, or None."""
    found = _appointment(ctx, appointment_id)
    if found is None or found["patient_id"] != ctx.session["patient_id"]:
        return None
    upcoming = found["start"] >= ctx.now.isoformat(timespec="minutes")
    return found if upcoming and found["status"] in ("booked", "confirmed", *also) else None


def _no_appointment(ctx: ToolContext) -> Envelope:
    if _verified(ctx) is None:
        return _not_verified(ctx)
    return ctx.fail("appointment_unknown", "I don't see that appointment coming up for you. Let me look again.")


def _slot_for(ctx: ToolContext, own: Row, start: dt.datetime, end: dt.datetime, slot_id: str | None) -> Row | None:
    """The slot that is meant: the named one, else the one of this time with the same provider and office."""
    times = (start.isoformat(timespec="minutes"), end.isoformat(timespec="minutes"))
    if slot_id is not None:
        return ctx.row('SELECT * FROM slots WHERE id = ? AND "start" = ? AND "end" = ?', slot_id, *times)
    return ctx.row(
        'SELECT * FROM slots WHERE location_id = ? AND "start" = ? AND "end" = ? ORDER BY provider_id = ? DESC, id',
        *(own["location_id"], *times, own["provider_id"]),
    )


def _refuse_slot(ctx: ToolContext, slot: Row, code: str, patient_id: str, moving: int | None) -> Envelope | None:
    """Why a slot cannot be given to this patient for this kind of visit, as an envelope; None if it can."""
    if slot["appointment_id"] is not None or slot["blocked"] is not None:
        return ctx.fail("slot_taken", "That time is no longer free. Let me look for another one.")
    if slot["start"] <= ctx.now.isoformat(timespec="minutes"):
        return ctx.fail("slot_past", "That time has already gone by. Let me look for another one.")
    why = _why_not(ctx, slot, code)
    if why is not None:
        return ctx.fail(why, "That kind of visit can't be done at that time. Let me look for another one.")
    clash = ctx.row(
        "SELECT id FROM appointments WHERE patient_id = ? AND id IS NOT ? AND status IN ('booked', 'confirmed')"
        ' AND "start" < ? AND "end" > ?',
        *(patient_id, moving, slot["end"], slot["start"]),
    )
    return ctx.fail("own_clash", "You already have another visit at that time.") if clash else None


def _why_not(ctx: ToolContext, slot: Row, code: str) -> str | None:
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
