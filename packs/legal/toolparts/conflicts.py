"""New callers: a card, the check of the other side, and what is recorded when the firm cannot act."""

from __future__ import annotations

from typing import Annotated, Literal

from callm_voice.desk.toolkit import Envelope, Name, Phone, ToolContext

from .guards import who_calls
from .kinds import Area
from .names import as_written, same_text, sound_key, us_number

REFERRAL_SERVICE = "County Lawyer Referral Service"


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
    first, last = as_written(first_name), as_written(last_name)
    if ctx.session["client_id"] is not None:
        return ctx.fail("already_client", "You are a client already, so I have your details.")
    if not (first.isprintable() and last.isprintable()):
        return ctx.fail("name_missing", "Could you give me your first and your last name?")
    if not us_number(mobile_e164):
        return ctx.fail("mobile_invalid", "Could you give me a ten-digit mobile number?")
    clients = ctx.rows("SELECT first_name, last_name FROM clients WHERE mobile_e164 = ?", mobile_e164)
    if any(same_text(c["first_name"], first) and same_text(c["last_name"], last) for c in clients):
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
    subject = who_calls(ctx)
    if subject is None:
        return ctx.fail("register_first", "May I have your own name and mobile number first?")
    if not spelling_confirmed:
        return ctx.fail("confirm_spelling", "Let me make sure that I have that name right. How is it spelled?")
    if not other_party.isprintable():
        return ctx.fail("name_missing", "What is the full name of the other side?")
    column, key, name = subject
    party = as_written(other_party)
    result = "conflict" if we_act_for(ctx, party, key) or we_act_against(ctx, name) else "clear"
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


def we_act_for(ctx: ToolContext, party: str, subject_id: str) -> bool:
    """Whether a client other than the caller, or a company of one, has this name."""
    people = ctx.rows("SELECT first_name || ' ' || last_name AS name FROM clients WHERE id <> ?", subject_id)
    ours = ctx.rows(
        "SELECT p.name FROM parties AS p JOIN matters AS m ON m.id = p.matter_id"
        " WHERE p.side = 'related' AND m.client_id <> ?",
        subject_id,
    )
    return any(same_text(row["name"], party) for row in (*people, *ours))


def we_act_against(ctx: ToolContext, name: str) -> bool:
    """Whether the caller is on the other side of a matter that is not closed."""
    theirs = ctx.rows(
        "SELECT p.name FROM parties AS p JOIN matters AS m ON m.id = p.matter_id"
        " WHERE p.side = 'adverse' AND m.status <> 'closed'"
    )
    return any(same_text(row["name"], name) for row in theirs)
