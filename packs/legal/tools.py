"""The tools of the front desk of Calloway Finch, in the order of the roles that use them.

What policy asks, the tools enforce: nothing of a matter without a verified client, no fact of a new case before the
conflict check is clear, money and papers only the way the file allows. Reading tools write nothing. A write that is
repeated answers as the first did.
"""

from __future__ import annotations

import datetime as dt
import unicodedata
from typing import Annotated, Any, Literal

from callm_voice.desk.toolkit import Envelope, Name, Phone, ToolContext

MAX_FAILED_CHECKS = 3
URGENT_WITHIN_DAYS = 21
EXTENSION_NOTICE_DAYS = 2
PLAN_FROM_CENTS = 60_000
PLAN_MONTHS = (3, 6, 12)
REFERRAL_SERVICE = "County Lawyer Referral Service"

Row = dict[str, Any]
Area = Literal["FAMILY", "EMPLOYMENT", "INJURY", "ESTATE", "TENANCY", "BUSINESS", "IMMIGRATION"]
AppointmentType = Literal["CONSULT", "CLIENT_MEETING", "SIGNING", "PHONE_UPDATE", "HEARING_PREP"]
CopyKind = Literal["full_file", "certified_copy"]
Topic = Literal[
    "legal_question",
    "case_update",
    "billing_question",
    "contact_change",
    "complaint",
    "third_party",
    "opposing_side",
    "supplier",
    "other",
]
FactTopic = Literal[
    "first_consultation",
    "engagement",
    "confidentiality",
    "what_to_bring",
    "payment_methods",
    "trust_account",
    "new_referrals",
    "interpreters",
    "file_copies",
    "closing",
]
TEAM_OF: dict[str, str] = {
    "legal_question": "attorney",
    "case_update": "attorney",
    "billing_question": "billing",
    "complaint": "managing_partner",
}
"""Topic of a message → who reads it; every other topic goes to the front desk."""
TOPICS_OF_A_MATTER = ("legal_question", "case_update")

APPOINTMENT = """
    SELECT a.id AS appointment_id, a.type_code, t.name AS kind, t.place, m.number AS matter_number,
           att.name AS attorney, o.name AS office, a."start", a."end", a.status
    FROM appointments AS a
    JOIN appointment_types AS t ON t.code = a.type_code
    JOIN attorneys AS att ON att.id = a.attorney_id
    JOIN offices AS o ON o.id = a.office_id
    LEFT JOIN matters AS m ON m.id = a.matter_id
"""
OPEN_INVOICES = """
    SELECT i.number AS invoice_number, m.number AS matter_number, m.title, i.due_on,
           (SELECT sum(amount_cents) FROM invoice_lines WHERE invoice_number = i.number)
           - coalesce((SELECT sum(amount_cents) FROM payments WHERE invoice_number = i.number), 0) AS balance_cents,
           (SELECT months FROM payment_plans WHERE invoice_number = i.number) AS plan_months
    FROM invoices AS i JOIN matters AS m ON m.id = i.matter_id
    WHERE m.client_id = ? AND i.status = 'open'
    ORDER BY i.number
"""


# --- the firm: public -----------------------------------------------------------------------------------------------


def list_offices(ctx: ToolContext, office_id: str | None = None) -> Envelope:
    """All offices with id, address, hours, parking and transit. Public: no identity needed.

    Args:
        office_id: An office to put first, if the caller has named one.
    """
    if office_id is not None and not _known(ctx, "offices", office_id):
        return _unknown(ctx, "offices", "office_id")
    return ctx.ok(
        {
            "offices": ctx.rows(
                "SELECT id, name, address, hours, parking, transit FROM offices ORDER BY id = ? DESC, listed",
                office_id or "",
            )
        }
    )


def list_practice_areas(ctx: ToolContext) -> Envelope:
    """Areas of law with their codes, what they cover, and whether the firm takes new cases in them. Public."""
    areas = ctx.rows("SELECT code, name, covers, takes_new FROM practice_areas ORDER BY name")
    return ctx.ok({"practice_areas": [{**a, "takes_new": bool(a["takes_new"])} for a in areas]})


def list_attorneys(ctx: ToolContext, practice_area: Area | None = None) -> Envelope:
    """Attorneys with area, office and whether they take new clients. Public; never say who represents whom.

    Args:
        practice_area: Only this area of law.
    """
    found = ctx.rows(
        "SELECT a.id AS attorney_id, a.name, a.practice_area, o.name AS office, a.takes_new FROM attorneys AS a"
        " JOIN offices AS o ON o.id = a.office_id WHERE ? IS NULL OR a.practice_area = ? ORDER BY a.name",
        *(practice_area, practice_area),
    )
    return ctx.ok({"attorneys": [{**a, "takes_new": bool(a["takes_new"])} for a in found]})


def get_firm_fact(ctx: ToolContext, topic: FactTopic) -> Envelope:
    """The firm's own answer to a general question, in words that may be said as they stand. Public.

    Args:
        topic: What the question is about.
    """
    found = ctx.row("SELECT topic, fact FROM firm_facts WHERE topic = ?", topic)
    return ctx.ok(found) if found else ctx.fail("unknown_topic", "I don't have that here. I can take a message.")


def take_message(
    ctx: ToolContext,
    topic: Topic,
    message: str,
    matter_number: str | None = None,
    callback_e164: Annotated[str, Phone] | None = None,
) -> Envelope:
    """Leave a message for whoever handles the topic. For what this desk cannot or must not do itself.

    legal_question and case_update go to the lead attorney of a matter and need a verified client and matter_number.
    All other topics go without a matter. The same topic again in this call replaces the text and the number.

    Args:
        topic: What it is about; it decides who reads it.
        message: One or two sentences with what the reader needs.
        matter_number: Four digits; only for legal_question and case_update.
        callback_e164: Only if the caller asks to be called back, the number that they gave for it.
    """
    if not message.strip():
        return ctx.fail("message_empty", "What should I write down?")
    client_id, matter_id = ctx.session["client_id"], None
    if topic in TOPICS_OF_A_MATTER:
        if client_id is None:
            return _not_verified(ctx)
        matter = _own_matter(ctx, matter_number or "")
        if matter is None:
            return _no_matter(ctx)
        matter_id = matter["id"]
    team = TEAM_OF.get(topic, "front_desk")
    taken = ctx.row(
        "SELECT id FROM messages WHERE client_id IS ? AND topic = ? AND matter_id IS ? AND taken_at = ?",
        *(client_id, topic, matter_id, ctx.now),
    )
    if taken is None:
        ctx.run(
            "INSERT INTO messages (client_id, matter_id, team, topic, body, callback_e164, taken_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(client_id, matter_id, team, topic, message.strip(), callback_e164, ctx.now),
        )
    else:
        ctx.run(
            "UPDATE messages SET body = ?, callback_e164 = ? WHERE id = ?",
            *(message.strip(), callback_e164, taken["id"]),
        )
    return ctx.ok({"taken": True, "team": team, "topic": topic})


# --- identity -------------------------------------------------------------------------------------------------------


def identify_client(
    ctx: ToolContext, first_name: Annotated[str, Name], last_name: Annotated[str, Name], dob: dt.date
) -> Envelope:
    """Look for the client on the phone. Proves nothing yet: read the result back, then verify_identity.

    The date of birth must be exact; the name may sound like the one on file. With match "sounds_alike", spell the
    name of read_back to the caller; if they agree, call this tool again with that spelling before verify_identity.

    Args:
        first_name: First name as the caller gave or spelled it.
        last_name: Last name as the caller gave or spelled it.
        dob: Date of birth.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return _locked(ctx)
    born = ctx.rows("SELECT first_name, last_name, dob FROM clients WHERE dob = ? ORDER BY id", dob)
    asked = (first_name, last_name)
    alike = [c for c in born if all(sound_key(c[k]) == sound_key(v) for k, v in zip(_NAME_KEYS, asked, strict=True))]
    exact = [c for c in alike if all(_same_text(c[k], v) for k, v in zip(_NAME_KEYS, asked, strict=True))]
    if not alike:
        return ctx.fail(
            "no_match", "I can't find that. Could you spell your last name and give me your date of birth once more?"
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
    """Verify the caller as a client. Only after the caller has agreed to the name and the date you read back.

    From then on the tools for matters, accounts, papers and appointments work for this client. Three failed checks
    close the check for this call.

    Args:
        full_name: First and last name, spelled as on file.
        dob: Date of birth.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return _locked(ctx)
    born = ctx.rows("SELECT id, first_name, last_name FROM clients WHERE dob = ?", dob)
    found = [c for c in born if _same_text(f"{c['first_name']} {c['last_name']}", full_name)]
    if not found:
        ctx.session["failed_checks"] += 1
        if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
            return _locked(ctx)
        return ctx.fail("identity_mismatch", "That doesn't match what we have. Could you spell your full name for me?")
    ctx.session["client_id"], ctx.session["prospect_id"] = found[0]["id"], None
    return ctx.ok({"verified": True, "client_id": found[0]["id"]})


def get_client_overview(ctx: ToolContext) -> Envelope:
    """The verified client's matters with their numbers, upcoming appointments, and what is owed in total, in cents.

    Read it once after verify_identity; the next roles find it in the conversation.
    """
    client = _verified(ctx)
    if client is None:
        return _not_verified(ctx)
    matters = ctx.rows(
        "SELECT m.number AS matter_number, m.title, m.practice_area, a.name AS lead_attorney, m.status FROM matters"
        " AS m JOIN attorneys AS a ON a.id = m.lead_attorney_id WHERE m.client_id = ? ORDER BY m.number",
        client["id"],
    )
    return ctx.ok(
        {
            "client_id": client["id"],
            "name": f"{client['first_name']} {client['last_name']}",
            "matters": matters,
            "upcoming_appointments": _upcoming(ctx),
            "balance_cents": sum(i["balance_cents"] for i in ctx.rows(OPEN_INVOICES, client["id"])),
        }
    )


def update_mobile(
    ctx: ToolContext, old_mobile_e164: Annotated[str, Phone], new_mobile_e164: Annotated[str, Phone]
) -> Envelope:
    """Change the verified client's mobile number. The old one is asked for and compared; it is never read out.

    Args:
        old_mobile_e164: The number that the firm has had so far, as the caller gives it.
        new_mobile_e164: The new number, after you have read it back.
    """
    client = _verified(ctx)
    if client is None:
        return _not_verified(ctx)
    if not _us_number(new_mobile_e164):
        return ctx.fail("mobile_invalid", "Could you give me the ten digits of the new number again?")
    if client["mobile_e164"] == new_mobile_e164:
        return ctx.ok({"updated": True, "mobile_e164": new_mobile_e164})
    if client["mobile_e164"] != old_mobile_e164:
        return ctx.fail("old_mobile_mismatch", "The old number doesn't match what we have. Which one was it?")
    ctx.run("UPDATE clients SET mobile_e164 = ? WHERE id = ?", new_mobile_e164, client["id"])
    return ctx.ok({"updated": True, "mobile_e164": new_mobile_e164})


# --- conflicts ------------------------------------------------------------------------------------------------------


def register_prospect(
    ctx: ToolContext,
    first_name: Annotated[str, Name],
    last_name: Annotated[str, Name],
    mobile_e164: Annotated[str, Phone],
) -> Envelope:
    """Open a card for a caller who is not a client: name and mobile, nothing about the case.

    Called again in the same call, it corrects the card.

    Args:
        first_name: First name, as spelled by the caller.
        last_name: Last name, as spelled by the caller.
        mobile_e164: Mobile number, read back.
    """
    first, last = _proper(first_name), _proper(last_name)
    if ctx.session["client_id"] is not None:
        return ctx.fail("already_client", "You are a client already, so I have your details.")
    if not (first.isprintable() and last.isprintable()):
        return ctx.fail("name_missing", "Could you give me your first and your last name?")
    if not _us_number(mobile_e164):
        return ctx.fail("mobile_invalid", "Could you give me a ten-digit mobile number?")
    clients = ctx.rows("SELECT first_name, last_name FROM clients WHERE mobile_e164 = ?", mobile_e164)
    if any(_same_text(c["first_name"], first) and _same_text(c["last_name"], last) for c in clients):
        return ctx.fail("already_client", "It looks as if we know you already. Let me check that first.")
    own = ctx.session["prospect_id"]
    known = ctx.row(
        "SELECT id FROM prospects WHERE first_name = ? AND last_name = ? AND mobile_e164 = ?", first, last, mobile_e164
    )
    if known is not None:
        own = known["id"]
    elif own is not None:
        ctx.run(
            "UPDATE prospects SET first_name = ?, last_name = ?, mobile_e164 = ? WHERE id = ?",
            *(first, last, mobile_e164, own),
        )
    else:
        own = f"pro_{len(ctx.rows('SELECT id FROM prospects')) + 1}"
        ctx.run(
            "INSERT INTO prospects (id, first_name, last_name, mobile_e164, status, called_on)"
            " VALUES (?, ?, ?, ?, 'new', ?)",
            *(own, first, last, mobile_e164, ctx.now.date()),
        )
    ctx.session["prospect_id"] = own
    return ctx.ok({"registered": True, "prospect_id": own})


def check_conflicts(
    ctx: ToolContext, other_party: Annotated[str, Name], practice_area: Area, spelling_confirmed: bool
) -> Envelope:
    """Check one person or company on the other side against everyone the firm acts for, and record the result.

    Call it once for each name on the other side, before any fact of the case is taken. A corrected spelling replaces
    the check of the wrong one.

    Args:
        other_party: Full name of the person or company on the other side.
        practice_area: Area of law of the new case.
        spelling_confirmed: True only after you spelled the name to the caller and they said that it is right.
    """
    subject = _subject(ctx)
    if subject is None:
        return ctx.fail("register_first", "May I have your own name and mobile number first?")
    if not spelling_confirmed:
        return ctx.fail("confirm_spelling", "Let me make sure that I have that name right. How is it spelled?")
    if not other_party.isprintable():
        return ctx.fail("name_missing", "What is the full name of the other side?")
    column, key, name = subject
    party = _proper(other_party)
    result = "conflict" if _we_act_for(ctx, party, key) or _we_act_against(ctx, name) else "clear"
    earlier = [
        c
        for c in ctx.rows(f"SELECT id, other_party, practice_area FROM conflict_checks WHERE {column} = ?", key)
        if sound_key(c["other_party"]) == sound_key(party) and c["practice_area"] == practice_area
    ]
    if earlier:
        ctx.run("UPDATE conflict_checks SET other_party = ?, result = ? WHERE id = ?", party, result, earlier[0]["id"])
    else:
        ctx.run(
            f"INSERT INTO conflict_checks ({column}, practice_area, other_party, result, checked_at)"
            " VALUES (?, ?, ?, ?, ?)",
            *(key, practice_area, party, result, ctx.now),
        )
    if result == "clear":
        return ctx.ok({"result": "clear", "other_party": party})
    words = "I'm sorry, our firm can't help with this one. I'm not able to say more about the reason."
    return ctx.ok({"result": "conflict", "other_party": party, "say": words})


def record_referral(ctx: ToolContext, reason: Literal["conflict", "area_closed", "area_not_practised"]) -> Envelope:
    """Close the card of a caller whom the firm cannot take, and note that they were told of the referral service.

    Args:
        reason: Why: the conflict check was not clear, the area takes no new cases, or the firm does not practise it.
    """
    prospect_id = ctx.session["prospect_id"]
    if prospect_id is None:
        return ctx.fail("register_first", "May I have your name and mobile number first?")
    conflict = ctx.row("SELECT 1 FROM conflict_checks WHERE prospect_id = ? AND result = 'conflict'", prospect_id)
    if (reason == "conflict") != (conflict is not None):
        return ctx.fail("reason_not_on_record", "Let me check that once more.")
    if not ctx.row("SELECT id FROM referrals WHERE prospect_id = ?", prospect_id):
        ctx.run(
            "INSERT INTO referrals (prospect_id, reason, referred_to, made_on) VALUES (?, ?, ?, ?)",
            *(prospect_id, reason, REFERRAL_SERVICE, ctx.now.date()),
        )
        ctx.run("UPDATE prospects SET status = 'declined' WHERE id = ?", prospect_id)
    fact = ctx.row("SELECT fact FROM firm_facts WHERE topic = 'new_referrals'") or {}
    return ctx.ok({"referred_to": REFERRAL_SERVICE, "say": fact.get("fact")})


# --- intake ---------------------------------------------------------------------------------------------------------


def get_intake_questions(ctx: ToolContext, practice_area: Area) -> Envelope:
    """The questions of an intake in this area of law, in their order. Ask these and no others.

    Args:
        practice_area: Area of law of the new case.
    """
    refusal = _not_cleared(ctx, practice_area)
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
    refusal = _not_cleared(ctx, practice_area)
    if refusal is not None:
        return refusal
    if not summary.strip():
        return ctx.fail("summary_empty", "In a sentence or two, what happened?")
    if court_date is not None and court_date < ctx.now.date():
        return ctx.fail("court_date_past", "That date has passed already. Could you check the date on the letter?")
    subject = _subject(ctx)
    if subject is None:
        return _not_verified(ctx)
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


# --- scheduling -----------------------------------------------------------------------------------------------------


def list_appointments(ctx: ToolContext) -> Envelope:
    """Upcoming appointments of the verified client or of this call's new caller, and the waitlists they are on."""
    subject = _subject(ctx)
    if subject is None:
        return _not_verified(ctx)
    waits = ctx.rows(
        "SELECT m.number AS matter_number, w.type_code FROM waitlist AS w JOIN matters AS m ON m.id = w.matter_id"
        " WHERE m.client_id = ? ORDER BY w.id",
        ctx.session["client_id"],
    )
    return ctx.ok({"appointments": _upcoming(ctx), "waitlists": waits})


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
    if office_id is not None and not _known(ctx, "offices", office_id):
        return _unknown(ctx, "offices", "office_id")
    if attorney_id is not None and not _known(ctx, "attorneys", attorney_id):
        return _unknown(ctx, "attorneys", "attorney_id")
    if practice_area is not None:
        who = ctx.rows("SELECT id FROM attorneys WHERE practice_area = ? AND takes_new = 1", practice_area)
        attorneys = [a["id"] for a in who if attorney_id in (None, a["id"])]
    else:
        matter = _own_matter(ctx, matter_number or "")
        if matter is None:
            return _no_matter(ctx)
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
    subject = _subject(ctx)
    if subject is None:
        return _not_verified(ctx)
    slot = ctx.row("SELECT * FROM slots WHERE id = ?", slot_id)
    if slot is None:
        return ctx.fail("slot_unknown", "Let me look at the free times again.")
    column, key, _ = subject
    matter = None if type_code == "CONSULT" else _own_matter(ctx, matter_number or "")
    if type_code != "CONSULT" and matter is None:
        return _no_matter(ctx)
    refusal = _refuse_consult(ctx, slot, column, key) if matter is None else _refuse_for(ctx, slot, type_code, matter)
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
    refusal = _refuse_slot(ctx, slot, None)
    if refusal is not None:
        return refusal
    new_id = ctx.run(
        f'INSERT INTO appointments ({column}, matter_id, attorney_id, office_id, type_code, "start", "end", status,'
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'booked', ?)",
        *(key, matter["id"] if matter else None, slot["attorney_id"], slot["office_id"], type_code),
        *(slot["start"], slot["end"], ctx.now.isoformat(sep=" ")),
    )
    ctx.run("UPDATE slots SET appointment_id = ? WHERE id = ?", new_id, slot_id)
    return ctx.ok({"appointment": _appointment(ctx, new_id), "status": "booked"})


def reschedule_appointment(ctx: ToolContext, appointment_id: int, new_slot_id: str) -> Envelope:
    """Move an upcoming appointment to another free time of the same attorney. Costs nothing.

    Only after the caller agreed to the new day and time.

    Args:
        appointment_id: Id of the appointment.
        new_slot_id: Id of the free time, from find_slots.
    """
    own = _own_appointment(ctx, appointment_id)
    if own is None:
        return _no_appointment(ctx)
    slot = ctx.row("SELECT * FROM slots WHERE id = ?", new_slot_id)
    if slot is None:
        return ctx.fail("slot_unknown", "Let me look at the free times again.")
    if slot["attorney_id"] != own["attorney_id"]:
        return ctx.fail("other_attorney", "That time is with another attorney. Let me look again.")
    if slot["appointment_id"] != own["id"]:
        refusal = _refuse_slot(ctx, slot, own["id"])
        if refusal is not None:
            return refusal
        ctx.run("UPDATE slots SET appointment_id = NULL WHERE appointment_id = ?", own["id"])
        ctx.run("UPDATE slots SET appointment_id = ? WHERE id = ?", own["id"], slot["id"])
        ctx.run(
            'UPDATE appointments SET "start" = ?, "end" = ?, status = \'booked\' WHERE id = ?',
            *(slot["start"], slot["end"], own["id"]),
        )
    return ctx.ok({"appointment": _appointment(ctx, own["id"]), "status": "rescheduled"})


def cancel_appointment(ctx: ToolContext, appointment_id: int) -> Envelope:
    """Cancel an upcoming appointment. Only after you read it back and they said to cancel it, not to move it.

    Args:
        appointment_id: Id of the appointment.
    """
    own = _own_appointment(ctx, appointment_id, also=("cancelled",))
    if own is None:
        return _no_appointment(ctx)
    ctx.run("UPDATE appointments SET status = 'cancelled' WHERE id = ?", own["id"])
    ctx.run("UPDATE slots SET appointment_id = NULL WHERE appointment_id = ?", own["id"])
    return ctx.ok({"appointment": _appointment(ctx, own["id"]), "status": "cancelled"})


def confirm_appointment(ctx: ToolContext, appointment_id: int) -> Envelope:
    """Note that the caller will come to an upcoming appointment. Changes neither day nor time.

    Args:
        appointment_id: Id of the appointment.
    """
    own = _own_appointment(ctx, appointment_id)
    if own is None:
        return _no_appointment(ctx)
    ctx.run("UPDATE appointments SET status = 'confirmed' WHERE id = ?", own["id"])
    return ctx.ok({"appointment": _appointment(ctx, own["id"]), "status": "confirmed"})


def join_waitlist(ctx: ToolContext, matter_number: str, type_code: AppointmentType) -> Envelope:
    """Put the verified client on the list for an earlier time. Only if they ask for it or agree; it moves nothing.

    Args:
        matter_number: Four digits.
        type_code: Kind of appointment they wait for.
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
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
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    ctx.run("DELETE FROM waitlist WHERE matter_id = ? AND type_code = ?", matter["id"], type_code)
    return ctx.ok({"waiting": False, "matter_number": matter_number, "type_code": type_code})


# --- billing --------------------------------------------------------------------------------------------------------


def get_account_balance(ctx: ToolContext) -> Envelope:
    """What the verified client owes: the total and each open invoice with its matter, in cents.

    The only source of an amount that you may say.
    """
    client = _verified(ctx)
    if client is None:
        return _not_verified(ctx)
    invoices = ctx.rows(OPEN_INVOICES, client["id"])
    return ctx.ok({"balance_cents": sum(i["balance_cents"] for i in invoices), "open_invoices": invoices})


def get_invoice(ctx: ToolContext, invoice_number: str) -> Envelope:
    """One invoice of the verified client with its lines, their ids and amounts in cents.

    Args:
        invoice_number: Five digits.
    """
    invoice = _own_invoice(ctx, invoice_number)
    if invoice is None:
        return _no_invoice(ctx)
    lines = ctx.rows(
        "SELECT id AS line_id, kind, description, amount_cents FROM invoice_lines WHERE invoice_number = ? ORDER BY id",
        invoice_number,
    )
    shown = {k: invoice[k] for k in ("number", "issued_on", "due_on", "status")}
    return ctx.ok({**shown, "lines": lines, "balance_cents": _balance(ctx, invoice_number)})


def explain_line(ctx: ToolContext, line_id: str) -> Envelope:
    """Why a line is on an invoice, in the approved words. Say them as they stand and add no reasons of your own.

    Args:
        line_id: Id of the line, from get_invoice.
    """
    line = _own_line(ctx, line_id)
    if line is None:
        return _no_invoice(ctx)
    script = ctx.row("SELECT approved_script FROM line_kinds WHERE kind = ?", line["kind"]) or {}
    return ctx.ok({"line_id": line_id, **script})


def list_payments(ctx: ToolContext) -> Envelope:
    """Payments of the verified client, newest first: date, amount in cents, method and invoice."""
    client = _verified(ctx)
    if client is None:
        return _not_verified(ctx)
    found = ctx.rows(
        "SELECT p.paid_on, p.amount_cents, p.method, p.invoice_number FROM payments AS p"
        " JOIN invoices AS i ON i.number = p.invoice_number JOIN matters AS m ON m.id = i.matter_id"
        " WHERE m.client_id = ? ORDER BY p.paid_on DESC, p.id DESC",
        client["id"],
    )
    return ctx.ok({"payments": found})


def get_trust_statement(ctx: ToolContext, matter_number: str) -> Envelope:
    """The trust account of one matter: balance and entries, in cents. Deposits are positive, money taken is negative.

    Args:
        matter_number: Four digits.
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    entries = ctx.rows(
        "SELECT entry_on, kind, amount_cents, memo FROM trust_ledger WHERE matter_id = ? ORDER BY entry_on, id",
        matter["id"],
    )
    return ctx.ok({"matter_number": matter_number, "balance_cents": _trust(ctx, matter["id"]), "entries": entries})


def request_trust_payment(ctx: ToolContext, invoice_number: str, amount_cents: int | None = None) -> Envelope:
    """Ask the attorney to pay an invoice out of the trust account of the same matter. Nothing moves before they agree.

    Args:
        invoice_number: Five digits.
        amount_cents: Only for a part of the invoice, if the caller named an amount. Leave it out for all of it.
    """
    invoice = _own_invoice(ctx, invoice_number)
    if invoice is None:
        return _no_invoice(ctx)
    balance, trust = _balance(ctx, invoice_number), _trust(ctx, invoice["matter_id"])
    amount = balance if amount_cents is None else amount_cents
    if not 0 < amount <= balance:
        return ctx.fail("amount_not_payable", "That is not an amount of that invoice. How much should it be?")
    if amount > trust:
        return ctx.fail(
            "trust_too_low", "There isn't enough in the trust account of that matter.", {"trust_balance_cents": trust}
        )
    asked = ctx.row("SELECT id FROM trust_requests WHERE kind = 'apply' AND invoice_number = ?", invoice_number)
    if asked:
        ctx.run("UPDATE trust_requests SET amount_cents = ? WHERE id = ?", amount, asked["id"])
    else:
        ctx.run(
            "INSERT INTO trust_requests (matter_id, kind, invoice_number, amount_cents, requested_on)"
            " VALUES (?, 'apply', ?, ?, ?)",
            *(invoice["matter_id"], invoice_number, amount, ctx.now.date()),
        )
    return ctx.ok({"requested": True, "invoice_number": invoice_number, "amount_cents": amount})


def request_trust_refund(ctx: ToolContext, matter_number: str) -> Envelope:
    """Ask for what is left in the trust account to be returned. Only for a closed matter without open invoices.

    Args:
        matter_number: Four digits.
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    if matter["status"] != "closed":
        return ctx.fail("matter_open", "While a matter is open, the money in trust stays there for it.")
    if ctx.row("SELECT 1 FROM invoices WHERE matter_id = ? AND status = 'open'", matter["id"]):
        return ctx.fail("invoice_open", "There is still an open invoice on that matter.")
    amount = _trust(ctx, matter["id"])
    if amount <= 0:
        return ctx.fail("trust_empty", "There is nothing left in the trust account of that matter.")
    if not ctx.row("SELECT id FROM trust_requests WHERE kind = 'refund' AND matter_id = ?", matter["id"]):
        ctx.run(
            "INSERT INTO trust_requests (matter_id, kind, amount_cents, requested_on) VALUES (?, 'refund', ?, ?)",
            *(matter["id"], amount, ctx.now.date()),
        )
    return ctx.ok({"requested": True, "matter_number": matter_number, "amount_cents": amount})


def check_payment_plan(ctx: ToolContext, invoice_number: str) -> Envelope:
    """Whether an invoice can be paid in monthly parts, and in which. Signs nobody up.

    Call it before you speak of a plan.

    Args:
        invoice_number: Five digits.
    """
    invoice = _own_invoice(ctx, invoice_number)
    if invoice is None:
        return _no_invoice(ctx)
    note = _no_plan_because(ctx, invoice_number)
    balance = _balance(ctx, invoice_number)
    options = [] if note else [{"months": m, "monthly_cents": -(-balance // m)} for m in PLAN_MONTHS]
    return ctx.ok({"eligible": note is None, "balance_cents": balance, "options": options, "note": note})


def start_payment_plan(ctx: ToolContext, invoice_number: str, months: int) -> Envelope:
    """Set up a plan of 3, 6 or 12 months. Only after check_payment_plan and a yes to the months and the monthly amount.

    Args:
        invoice_number: Five digits.
        months: 3, 6 or 12.
    """
    invoice = _own_invoice(ctx, invoice_number)
    if invoice is None:
        return _no_invoice(ctx)
    if months not in PLAN_MONTHS:
        return ctx.fail("months_not_offered", "The plan can run for three, six or twelve months.")
    balance = _balance(ctx, invoice_number)
    running = ctx.row(
        "SELECT months, monthly_cents, first_due_on FROM payment_plans WHERE invoice_number = ?", invoice_number
    )
    if running is None or running["months"] != months:
        note = _no_plan_because(ctx, invoice_number)
        if note is not None:
            return ctx.fail("no_plan", note)
        first = (ctx.now.date().replace(day=1) + dt.timedelta(days=32)).replace(day=1)
        running = {"months": months, "monthly_cents": -(-balance // months), "first_due_on": first.isoformat()}
        ctx.run(
            "INSERT INTO payment_plans (invoice_number, months, monthly_cents, first_due_on) VALUES (?, ?, ?, ?)",
            *(invoice_number, *running.values()),
        )
    return ctx.ok({"invoice_number": invoice_number, **running})


def send_payment_link(
    ctx: ToolContext, invoice_number: str, mobile_e164: Annotated[str, Phone], amount_cents: int | None = None
) -> Envelope:
    """Text the verified client a link to pay one invoice. Ask for the mobile first; only the one on file works.

    Args:
        invoice_number: Five digits.
        mobile_e164: The mobile that the caller gave.
        amount_cents: Only for a part of the invoice, if the caller named an amount. Leave it out for all of it.
    """
    client, invoice = _verified(ctx), _own_invoice(ctx, invoice_number)
    if client is None or invoice is None:
        return _no_invoice(ctx)
    balance = _balance(ctx, invoice_number)
    if balance == 0:
        return ctx.fail("nothing_due", "That invoice is paid, so there is nothing left to pay on it.")
    if mobile_e164 != client["mobile_e164"]:
        return ctx.fail("mobile_not_on_file", "I can only text the mobile that we have on file. Which one is that?")
    amount = balance if amount_cents is None else amount_cents
    if not 0 < amount <= balance:
        return ctx.fail("amount_not_payable", "That isn't an amount I can put on the link. How much should it be?")
    ctx.run(
        "INSERT OR IGNORE INTO payment_links (invoice_number, mobile_e164, amount_cents, sent_at) VALUES (?, ?, ?, ?)",
        *(invoice_number, mobile_e164, amount, ctx.now),
    )
    return ctx.ok({"sent": True, "invoice_number": invoice_number, "amount_cents": amount})


def dispute_line(ctx: ToolContext, line_id: str, reason: str) -> Envelope:
    """Ask for a review of a line that the caller says is wrong. Only after explain_line, and if they still object.

    Args:
        line_id: Id of the line, from get_invoice.
        reason: In one sentence, why the caller thinks that it is wrong.
    """
    line = _own_line(ctx, line_id)
    if line is None:
        return _no_invoice(ctx)
    if not reason.strip():
        return ctx.fail("reason_empty", "What looks wrong to you about that line?")
    if _balance(ctx, line["invoice_number"]) == 0:
        return ctx.fail("invoice_settled", "That invoice is settled already, so there is nothing to review on it.")
    if not ctx.row("SELECT id FROM fee_disputes WHERE line_id = ?", line_id):
        ctx.run(
            "INSERT INTO fee_disputes (line_id, reason, opened_on) VALUES (?, ?, ?)",
            *(line_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"review": "open", "line_id": line_id})


# --- documents ------------------------------------------------------------------------------------------------------


def list_documents(ctx: ToolContext, matter_number: str) -> Envelope:
    """The papers of one matter with id, title, date, status and whether the desk may send them; open copy requests.

    Args:
        matter_number: Four digits.
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    papers = ctx.rows(
        "SELECT id AS document_id, title, dated, status, releasable FROM documents WHERE matter_id = ? ORDER BY id",
        matter["id"],
    )
    shown = [{**{k: p[k] for k in list(p)[:4]}, "may_be_sent": _no_release(p) is None} for p in papers]
    copies = ctx.rows("SELECT kind, requested_on FROM copy_requests WHERE matter_id = ? ORDER BY id", matter["id"])
    return ctx.ok({"matter_number": matter_number, "documents": shown, "copy_requests": copies})


def send_document(
    ctx: ToolContext, document_id: str, channel: Literal["email", "pickup"], office_id: str | None = None
) -> Envelope:
    """Give the verified client a paper of their file: to the email address on file, or for pickup at an office.

    Args:
        document_id: Id of the paper, from list_documents.
        channel: email or pickup, as the caller wants it.
        office_id: Only for pickup: the office, by id.
    """
    paper = _own_document(ctx, document_id)
    if paper is None:
        return _no_document(ctx)
    refusal = _no_release(paper)
    if refusal is not None:
        return ctx.fail(refusal, "I can't give that paper out from here. Your attorney can tell you more about it.")
    if (channel == "pickup") != (office_id is not None):
        return ctx.fail("office_missing", "At which office would you like to pick it up?")
    if office_id is not None and not _known(ctx, "offices", office_id):
        return _unknown(ctx, "offices", "office_id")
    ordered = ctx.row(
        "SELECT id FROM document_deliveries WHERE document_id = ? AND channel = ? AND office_id IS ?"
        " AND ordered_at = ?",
        *(document_id, channel, office_id, ctx.now),
    )
    if ordered is None:
        ctx.run(
            "INSERT INTO document_deliveries (document_id, channel, office_id, ordered_at) VALUES (?, ?, ?, ?)",
            *(document_id, channel, office_id, ctx.now),
        )
    return ctx.ok({"ordered": True, "title": paper["title"], "channel": channel, "office_id": office_id})


def report_document_sent(ctx: ToolContext, document_id: str) -> Envelope:
    """Note that the client has sent in a paper that the firm waits for.

    Args:
        document_id: Id of the awaited paper, from list_documents.
    """
    paper = _own_document(ctx, document_id)
    if paper is None:
        return _no_document(ctx)
    if paper["status"] not in ("awaited_from_client", "announced"):
        return ctx.fail("not_awaited", "We are not waiting for that paper.")
    ctx.run("UPDATE documents SET status = 'announced' WHERE id = ?", document_id)
    return ctx.ok({"noted": True, "title": paper["title"]})


def request_copy(ctx: ToolContext, matter_number: str, kind: CopyKind) -> Envelope:
    """Order a copy of the client's file.

    Args:
        matter_number: Four digits.
        kind: full_file (five working days) or certified_copy (ten working days).
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    ctx.run(
        "INSERT OR IGNORE INTO copy_requests (matter_id, kind, requested_on) VALUES (?, ?, ?)",
        *(matter["id"], kind, ctx.now.date()),
    )
    return ctx.ok({"requested": True, "matter_number": matter_number, "kind": kind})


def withdraw_copy_request(ctx: ToolContext, matter_number: str, kind: CopyKind) -> Envelope:
    """Take back an order for a copy that has not been made yet.

    Args:
        matter_number: Four digits.
        kind: full_file or certified_copy.
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    ctx.run("DELETE FROM copy_requests WHERE matter_id = ? AND kind = ?", matter["id"], kind)
    return ctx.ok({"requested": False, "matter_number": matter_number, "kind": kind})


# --- case status ----------------------------------------------------------------------------------------------------


def get_matter_status(ctx: ToolContext, matter_number: str) -> Envelope:
    """Where a matter of the verified client stands, in the words that the attorney has approved. Say these words only.

    Args:
        matter_number: Four digits.
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    lead = ctx.row("SELECT name FROM attorneys WHERE id = ?", matter["lead_attorney_id"]) or {}
    shown = {k: matter[k] for k in ("title", "status", "phase", "status_note")}
    return ctx.ok({"matter_number": matter_number, **shown, "lead_attorney": lead.get("name")})


def list_deadlines(ctx: ToolContext, matter_number: str) -> Envelope:
    """Open deadlines of one matter: id, what is due, on which day, who has to act, and the reminders that are set.

    Args:
        matter_number: Four digits.
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    found = ctx.rows(
        "SELECT id AS deadline_id, title, due_on, owner, status FROM deadlines WHERE matter_id = ? AND status <> 'met'"
        " ORDER BY due_on, id",
        matter["id"],
    )
    for row in found:
        sent = ctx.rows("SELECT send_on FROM reminders WHERE deadline_id = ? ORDER BY send_on", row["deadline_id"])
        row["reminders"] = [r["send_on"] for r in sent]
    return ctx.ok({"matter_number": matter_number, "deadlines": found})


def report_deadline_done(ctx: ToolContext, deadline_id: str) -> Envelope:
    """Note that the client has done what a deadline asks of them. The attorney still checks it.

    Args:
        deadline_id: Id of the deadline, from list_deadlines.
    """
    deadline = _own_deadline(ctx, deadline_id)
    if deadline is None:
        return _no_deadline(ctx)
    if deadline["owner"] != "client":
        return ctx.fail("firm_acts", "That one is for the firm to do, so there is nothing for you to report.")
    ctx.run("UPDATE deadlines SET status = 'reported_done' WHERE id = ?", deadline_id)
    return ctx.ok({"noted": True, "title": deadline["title"]})


def request_extension(ctx: ToolContext, deadline_id: str, reason: str) -> Envelope:
    """Ask the attorney for more time on a deadline of the client's. Grants nothing.

    Args:
        deadline_id: Id of the deadline, from list_deadlines.
        reason: In one sentence, why the client needs more time.
    """
    deadline = _own_deadline(ctx, deadline_id)
    if deadline is None:
        return _no_deadline(ctx)
    if not reason.strip():
        return ctx.fail("reason_empty", "Why do you need more time?")
    if deadline["owner"] != "client" or deadline["status"] != "open":
        return ctx.fail("nothing_to_extend", "There is nothing open for you on that one.")
    if (dt.date.fromisoformat(deadline["due_on"]) - ctx.now.date()).days < EXTENSION_NOTICE_DAYS:
        return ctx.fail("too_late_to_extend", "It is too close for that. Your attorney has to hear of it today.")
    if not ctx.row("SELECT id FROM extension_requests WHERE deadline_id = ?", deadline_id):
        ctx.run(
            "INSERT INTO extension_requests (deadline_id, reason, requested_on) VALUES (?, ?, ?)",
            *(deadline_id, reason.strip(), ctx.now.date()),
        )
    return ctx.ok({"requested": True, "title": deadline["title"], "due_on": deadline["due_on"]})


def set_reminder(ctx: ToolContext, deadline_id: str, send_on: dt.date) -> Envelope:
    """Set a text reminder of a deadline, sent at nine in the morning of a day up to the due day.

    Args:
        deadline_id: Id of the deadline, from list_deadlines.
        send_on: Day of the reminder.
    """
    deadline = _own_deadline(ctx, deadline_id)
    if deadline is None:
        return _no_deadline(ctx)
    if not ctx.now.date().isoformat() < send_on.isoformat() <= deadline["due_on"]:
        return ctx.fail("day_not_possible", "A reminder can come on any day from tomorrow up to the due day.")
    ctx.run("INSERT OR IGNORE INTO reminders (deadline_id, send_on) VALUES (?, ?)", deadline_id, send_on)
    return ctx.ok({"set": True, "title": deadline["title"], "send_on": send_on.isoformat()})


def remove_reminder(ctx: ToolContext, deadline_id: str, send_on: dt.date) -> Envelope:
    """Take a reminder away. Only if the client asks for it.

    Args:
        deadline_id: Id of the deadline, from list_deadlines.
        send_on: Day of the reminder that goes.
    """
    deadline = _own_deadline(ctx, deadline_id)
    if deadline is None:
        return _no_deadline(ctx)
    ctx.run("DELETE FROM reminders WHERE deadline_id = ? AND send_on = ?", deadline_id, send_on)
    return ctx.ok({"set": False, "title": deadline["title"], "send_on": send_on.isoformat()})


def list_hearings(ctx: ToolContext, matter_number: str) -> Envelope:
    """Coming hearings of one matter: id, kind, court, room, time, and whether the client has to attend.

    Args:
        matter_number: Four digits.
    """
    matter = _own_matter(ctx, matter_number)
    if matter is None:
        return _no_matter(ctx)
    found = ctx.rows(
        'SELECT id AS hearing_id, kind, court, room, "start", client_attends, client_confirmed FROM hearings'
        ' WHERE matter_id = ? AND "start" >= ? ORDER BY "start"',
        *(matter["id"], ctx.now),
    )
    return ctx.ok({"hearings": [{**h, "client_confirmed": bool(h["client_confirmed"])} for h in found]})


def confirm_hearing(ctx: ToolContext, hearing_id: str) -> Envelope:
    """Note that the client will be at a hearing. Only after you said day, time, court and room, and they agreed.

    Args:
        hearing_id: Id of the hearing, from list_hearings.
    """
    hearing = ctx.row(
        "SELECT h.* FROM hearings AS h JOIN matters AS m ON m.id = h.matter_id WHERE h.id = ? AND m.client_id = ?",
        *(hearing_id, ctx.session["client_id"]),
    )
    if hearing is None:
        if _verified(ctx) is None:
            return _not_verified(ctx)
        return ctx.fail("hearing_unknown", "I don't see that hearing on your matter. Let me look again.")
    ctx.run("UPDATE hearings SET client_confirmed = 1 WHERE id = ?", hearing_id)
    return ctx.ok({"confirmed": True, "kind": hearing["kind"], "start": hearing["start"]})


# --- names ----------------------------------------------------------------------------------------------------------

_NAME_KEYS = ("first_name", "last_name")
_SOUNDS = (
    *(("sch", "s"), ("chr", "kr"), ("ch", "s"), ("sh", "s"), ("ph", "f"), ("gh", ""), ("ck", "k"), ("x", "ks")),
    *(("ce", "se"), ("ci", "si"), ("cy", "sy"), ("ge", "je"), ("gi", "ji"), ("c", "k"), ("q", "k"), ("z", "s")),
    *(("v", "b"), ("w", "b")),
)
"""Spellings that a listener, or a recogniser on a telephone line, cannot tell apart; applied in this order."""


def sound_key(name: str) -> str:
    """How a name sounds, roughly: consonants only, lookalikes merged, so that Catherine = Kathryn and not Christine."""
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


def _proper(name: str) -> str:
    """A name as it is written on a card: words that came in one case only get a capital."""
    words = (w.capitalize() if w.islower() or (w.isupper() and len(w) > 1) else w for w in name.split())
    return " ".join(words)


def _us_number(e164: str) -> bool:
    return len(e164) == 12 and e164[:2] == "+1" and e164[2] not in "01"


# --- guards ---------------------------------------------------------------------------------------------------------


def _verified(ctx: ToolContext) -> Row | None:
    return ctx.row("SELECT * FROM clients WHERE id = ?", ctx.session["client_id"])


def _not_verified(ctx: ToolContext) -> Envelope:
    return ctx.fail("identity_not_verified", "I need to confirm who I'm speaking with before I can look at that.")


def _locked(ctx: ToolContext) -> Envelope:
    return ctx.fail("identity_locked", "I can't confirm your identity on this call. I can take a message for the firm.")


def _subject(ctx: ToolContext) -> tuple[str, str, str] | None:
    """Whom the call is about: the column that names them, their id and their full name; None: nobody yet."""
    for column, table in (("client_id", "clients"), ("prospect_id", "prospects")):
        found = ctx.row(f"SELECT * FROM {table} WHERE id = ?", ctx.session[column])
        if found is not None:
            return column, found["id"], f"{found['first_name']} {found['last_name']}"
    return None


def _known(ctx: ToolContext, table: Literal["offices", "attorneys"], key: str) -> bool:
    return ctx.row(f"SELECT 1 FROM {table} WHERE id = ?", key) is not None


def _unknown(ctx: ToolContext, table: Literal["offices", "attorneys"], argument: str) -> Envelope:
    """Refuse an id that no row has, and list the ids that there are."""
    known = [row["id"] for row in ctx.rows(f"SELECT id FROM {table} ORDER BY id")]
    return ctx.fail(f"{argument}_unknown", "Let me look that up again.", {"known": known})


def _own_matter(ctx: ToolContext, number: str) -> Row | None:
    return ctx.row("SELECT * FROM matters WHERE number = ? AND client_id = ?", number, ctx.session["client_id"])


def _no_matter(ctx: ToolContext) -> Envelope:
    """Refuse a matter number, and list those of the verified client."""
    if _verified(ctx) is None:
        return _not_verified(ctx)
    own = ctx.rows("SELECT number FROM matters WHERE client_id = ? ORDER BY number", ctx.session["client_id"])
    return ctx.fail(
        "matter_unknown", "I don't see that matter under your name.", {"your_matters": [m["number"] for m in own]}
    )


def _own_deadline(ctx: ToolContext, deadline_id: str) -> Row | None:
    return ctx.row(
        "SELECT d.* FROM deadlines AS d JOIN matters AS m ON m.id = d.matter_id WHERE d.id = ? AND m.client_id = ?",
        *(deadline_id, ctx.session["client_id"]),
    )


def _no_deadline(ctx: ToolContext) -> Envelope:
    if _verified(ctx) is None:
        return _not_verified(ctx)
    return ctx.fail("deadline_unknown", "I don't see that deadline on your matter. Let me look again.")


def _own_document(ctx: ToolContext, document_id: str) -> Row | None:
    return ctx.row(
        "SELECT d.* FROM documents AS d JOIN matters AS m ON m.id = d.matter_id WHERE d.id = ? AND m.client_id = ?",
        *(document_id, ctx.session["client_id"]),
    )


def _no_document(ctx: ToolContext) -> Envelope:
    if _verified(ctx) is None:
        return _not_verified(ctx)
    return ctx.fail("document_unknown", "I don't see that paper in your file. Let me look again.")


def _no_release(paper: Row) -> str | None:
    """Why the desk may not give a paper out, as an error code; None if it may."""
    if not paper["releasable"]:
        return "attorney_only"
    return None if paper["status"] in ("final", "signed", "awaiting_signature") else "not_final"


# --- guards: new cases ----------------------------------------------------------------------------------------------


def _we_act_for(ctx: ToolContext, party: str, subject_id: str) -> bool:
    """Whether a client other than the caller, or a company of one, has this name."""
    people = ctx.rows("SELECT first_name || ' ' || last_name AS name FROM clients WHERE id <> ?", subject_id)
    ours = ctx.rows(
        "SELECT p.name FROM parties AS p JOIN matters AS m ON m.id = p.matter_id"
        " WHERE p.side = 'related' AND m.client_id <> ?",
        subject_id,
    )
    return any(_same_text(row["name"], party) for row in (*people, *ours))


def _we_act_against(ctx: ToolContext, name: str) -> bool:
    """Whether the caller is on the other side of a matter that is not closed."""
    theirs = ctx.rows(
        "SELECT p.name FROM parties AS p JOIN matters AS m ON m.id = p.matter_id"
        " WHERE p.side = 'adverse' AND m.status <> 'closed'"
    )
    return any(_same_text(row["name"], name) for row in theirs)


def _not_cleared(ctx: ToolContext, practice_area: str) -> Envelope | None:
    """Why no fact of a new case may be taken, as an envelope; None if it may."""
    subject = _subject(ctx)
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


# --- guards: calendar -----------------------------------------------------------------------------------------------


def _upcoming(ctx: ToolContext) -> list[Row]:
    subject = _subject(ctx)
    if subject is None:
        return []
    return ctx.rows(
        f"{APPOINTMENT} WHERE a.{subject[0]} = ? AND a.status IN ('booked', 'confirmed') AND a.\"start\" >= ?"
        ' ORDER BY a."start", a.id',
        *(subject[1], ctx.now),
    )


def _appointment(ctx: ToolContext, appointment_id: int) -> Row | None:
    return ctx.row(f"{APPOINTMENT} WHERE a.id = ?", appointment_id)


def _own_appointment(ctx: ToolContext, appointment_id: int, also: tuple[str, ...] = ()) -> Row | None:
    """An upcoming appointment of the caller's, or None."""
    subject, found = _subject(ctx), ctx.row("SELECT * FROM appointments WHERE id = ?", appointment_id)
    if subject is None or found is None or found[subject[0]] != subject[1]:
        return None
    upcoming = found["start"] >= ctx.now.isoformat(timespec="minutes")
    return found if upcoming and found["status"] in ("booked", "confirmed", *also) else None


def _no_appointment(ctx: ToolContext) -> Envelope:
    if _subject(ctx) is None:
        return _not_verified(ctx)
    return ctx.fail("appointment_unknown", "I don't see that appointment coming up for you. Let me look again.")


def _refuse_consult(ctx: ToolContext, slot: Row, column: str, key: str) -> Envelope | None:
    attorney = ctx.row("SELECT practice_area, takes_new FROM attorneys WHERE id = ?", slot["attorney_id"]) or {}
    if not ctx.row(
        f"SELECT 1 FROM intakes WHERE {column} = ? AND practice_area = ?", key, attorney.get("practice_area")
    ):
        return ctx.fail("intake_first", "Before I can book that, I need a few details about the case.")
    if not attorney["takes_new"]:
        return ctx.fail("attorney_full", "That attorney is not taking new clients. Let me look at another one.")
    return None


def _refuse_for(ctx: ToolContext, slot: Row, type_code: str, matter: Row) -> Envelope | None:
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


def _refuse_slot(ctx: ToolContext, slot: Row, moving: int | None) -> Envelope | None:
    """Why a slot cannot be given to the caller, as an envelope; None if it can."""
    if slot["appointment_id"] is not None or slot["blocked"] is not None:
        return ctx.fail("slot_taken", "That time is no longer free. Let me look for another one.")
    if slot["start"] <= ctx.now.isoformat(timespec="minutes"):
        return ctx.fail("slot_past", "That time has already gone by. Let me look for another one.")
    if any(
        own["appointment_id"] != moving and own["start"] < slot["end"] and own["end"] > slot["start"]
        for own in _upcoming(ctx)
    ):
        return ctx.fail("own_clash", "You already have another appointment at that time.")
    return None


# --- guards: accounts -----------------------------------------------------------------------------------------------


def _own_invoice(ctx: ToolContext, number: str) -> Row | None:
    return ctx.row(
        "SELECT i.* FROM invoices AS i JOIN matters AS m ON m.id = i.matter_id"
        " WHERE i.number = ? AND i.status <> 'void' AND m.client_id = ?",
        *(number, ctx.session["client_id"]),
    )


def _no_invoice(ctx: ToolContext) -> Envelope:
    client = _verified(ctx)
    if client is None:
        return _not_verified(ctx)
    own = [i["invoice_number"] for i in ctx.rows(OPEN_INVOICES, client["id"])]
    return ctx.fail("invoice_unknown", "I don't see that on your account. Let me look again.", {"open_invoices": own})


def _own_line(ctx: ToolContext, line_id: str) -> Row | None:
    line = ctx.row("SELECT * FROM invoice_lines WHERE id = ?", line_id)
    return line if line is not None and _own_invoice(ctx, line["invoice_number"]) is not None else None


def _balance(ctx: ToolContext, invoice_number: str) -> int:
    """What is open on an invoice, in cents."""
    row = ctx.row(
        "SELECT (SELECT sum(amount_cents) FROM invoice_lines WHERE invoice_number = ?1)"
        " - coalesce((SELECT sum(amount_cents) FROM payments WHERE invoice_number = ?1), 0) AS open",
        invoice_number,
    )
    return int(row["open"]) if row and row["open"] else 0


def _trust(ctx: ToolContext, matter_id: str) -> int:
    """What is in trust for a matter, in cents."""
    row = ctx.row("SELECT coalesce(sum(amount_cents), 0) AS held FROM trust_ledger WHERE matter_id = ?", matter_id)
    return int(row["held"]) if row else 0


def _no_plan_because(ctx: ToolContext, invoice_number: str) -> str | None:
    """Why an invoice cannot be paid in parts, in words that may be said; None if it can."""
    client = _verified(ctx)
    if client is None or client["standing"] != "good":
        return "The billing team arranges plans for this account."
    if ctx.row("SELECT 1 FROM payment_plans WHERE invoice_number = ?", invoice_number):
        return "There is a plan for that invoice already."
    disputed = "SELECT 1 FROM fee_disputes AS f JOIN invoice_lines AS l ON l.id = f.line_id WHERE l.invoice_number = ?"
    if ctx.row(disputed, invoice_number):
        return "A line of that invoice is under review, so no plan can start yet."
    return None if _balance(ctx, invoice_number) >= PLAN_FROM_CENTS else "Plans start at an invoice of $600.00."
