"""What anybody may ask the firm, and messages."""

from __future__ import annotations

from typing import Annotated

from callm_voice.desk.toolkit import Envelope, Phone, ToolContext

from .guards import has_id, no_matter, not_verified, own_matter, unknown_id
from .kinds import Area, FactTopic, Topic

TEAM_OF: dict[str, str] = {
    "legal_question": "attorney",
    "case_update": "attorney",
    "billing_question": "billing",
    "complaint": "managing_partner",
}
"""Topic of a message → who reads it; every other topic goes to the front desk."""

TOPICS_OF_A_MATTER = ("legal_question", "case_update")


def list_offices(ctx: ToolContext, office_id: str | None = None) -> Envelope:
    """All offices with id, address, hours, parking and transit. Public: no identity needed.

    Args:
        office_id: An office to put first, if the caller has named one.
    """
    if office_id is not None and not has_id(ctx, "offices", office_id):
        return unknown_id(ctx, "offices", "office_id")
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
            return not_verified(ctx)
        matter = own_matter(ctx, matter_number or "")
        if matter is None:
            return no_matter(ctx)
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
