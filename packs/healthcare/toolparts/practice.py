"""What anybody may ask the practice, and messages."""

from __future__ import annotations

from typing import Annotated

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .guards import known, unknown
from .kinds import FactTopic, Service, Topic

TEAM_OF: dict[str, str] = {
    "billing_question": "billing",
    "medical_question": "nurses",
    "patient_deceased": "manager",
}
"""Topic of a message → who gets it; every other topic goes to the front desk."""


def list_locations(ctx: ToolContext, location_id: str | None = None) -> Envelope:
    """All offices with id, address, hours, services, transit and parking. Public: no identity needed.

    Args:
        location_id: An office to put first, if the caller has named one.
    """
    if location_id is not None and not known(ctx, "locations", location_id):
        return unknown(ctx, "locations", "location_id")
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
    if location_id is not None and not known(ctx, "locations", location_id):
        return unknown(ctx, "locations", "location_id")
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

    For what this desk cannot do itself, and only if the caller wants it. The same topic again in this call replaces the
    text and the number.

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
    else:
        ctx.run(
            "UPDATE messages SET body = ?, callback_e164 = ? WHERE id = ?",
            *(message.strip(), callback_e164, taken["id"]),
        )
    return ctx.ok({"taken": True, "team": team, "topic": topic})
