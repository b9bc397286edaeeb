"""Who the caller is, proved against the file."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from callm_voice.desk.toolkit import Envelope, Name, Phone, ToolContext

from .accounts import OPEN_INVOICES
from .calendar import coming_up
from .guards import locked, not_verified, verified
from .names import NAME_KEYS, same_text, sound_key, us_number

MAX_FAILED_CHECKS = 3


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
        return locked(ctx)
    born = ctx.rows("SELECT first_name, last_name, dob FROM clients WHERE dob = ? ORDER BY id", dob)
    asked = (first_name, last_name)
    alike = [c for c in born if all(sound_key(c[k]) == sound_key(v) for k, v in zip(NAME_KEYS, asked, strict=True))]
    exact = [c for c in alike if all(same_text(c[k], v) for k, v in zip(NAME_KEYS, asked, strict=True))]
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
        return locked(ctx)
    born = ctx.rows("SELECT id, first_name, last_name FROM clients WHERE dob = ?", dob)
    found = [c for c in born if same_text(f"{c['first_name']} {c['last_name']}", full_name)]
    if not found:
        ctx.session["failed_checks"] += 1
        if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
            return locked(ctx)
        return ctx.fail("identity_mismatch", "That doesn't match what we have. Could you spell your full name for me?")
    ctx.session["client_id"], ctx.session["prospect_id"] = found[0]["id"], None
    return ctx.ok({"verified": True, "client_id": found[0]["id"]})


def get_client_overview(ctx: ToolContext) -> Envelope:
    """The verified client's matters with their numbers, how many appointments are coming up, and what is owed in total.

    Read it once after verify_identity; the next roles find it in the conversation. Amounts are in cents.
    """
    client = verified(ctx)
    if client is None:
        return not_verified(ctx)
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
            "upcoming_appointments": len(coming_up(ctx)),
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
    client = verified(ctx)
    if client is None:
        return not_verified(ctx)
    if not us_number(new_mobile_e164):
        return ctx.fail("mobile_invalid", "Could you give me the ten digits of the new number again?")
    if client["mobile_e164"] == new_mobile_e164:
        return ctx.ok({"updated": True, "mobile_e164": new_mobile_e164})
    if client["mobile_e164"] != old_mobile_e164:
        return ctx.fail("old_mobile_mismatch", "The old number doesn't match what we have. Which one was it?")
    ctx.run("UPDATE clients SET mobile_e164 = ? WHERE id = ?", new_mobile_e164, client["id"])
    return ctx.ok({"updated": True, "mobile_e164": new_mobile_e164})
