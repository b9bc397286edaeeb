"""Identity and account: who is calling, and the account's own data."""

from __future__ import annotations

from typing import Annotated, Literal

from callm_voice.desk.toolkit import Envelope, Name, Phone, ToolContext

from .common import MAY, own_address, own_addresses, refuse, remember, same_text, sounds_like, unknown_address
from .lines import own_subscription

MAX_FAILED_CHECKS = 3


def find_account(ctx: ToolContext, full_name: Annotated[str, Name], phone_e164: Annotated[str, Phone]) -> Envelope:
    """Look for an account by the telephone number on it and the holder's name. Proves nothing yet.

    The number must be exact; the name may sound like the one on the account. Read the name back; with spell_it_back
    true, spell it to the caller. Then verify_customer.

    Args:
        full_name: First and last name of the account holder, as the caller gave or spelled it.
        phone_e164: Telephone number on the account.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return _locked(ctx)
    there = ctx.rows("SELECT first_name || ' ' || last_name AS name FROM customers WHERE phone_e164 = ?", phone_e164)
    alike = [row["name"] for row in there if sounds_like(row["name"], full_name)]
    exact = [name for name in alike if same_text(name, full_name)]
    if not alike:
        return ctx.fail(
            "no_match",
            "I can't find an account under that. Could you spell the last name, and give me the number once more?",
        )
    if not exact and len(alike) > 1:
        return ctx.fail("several_match", "There is more than one name close to that. Could you spell the first name?")
    remember(ctx, "found_phones", phone_e164)
    return ctx.ok(
        {
            "match": "exact" if exact else "sounds_alike",
            "read_back": (exact or alike)[0],
            "spell_it_back": not exact or len(alike) > 1,
        }
    )


def verify_customer(
    ctx: ToolContext,
    full_name: Annotated[str, Name],
    phone_e164: Annotated[str, Phone],
    zip_code: str,
    caller_name: Annotated[str, Name] | None = None,
) -> Envelope:
    """Verify the caller. Only after find_account has found the account and the caller has agreed to the name.

    From then on the tools work for this account, within what the person on the phone may do ("acting"). Three failed
    checks close the check for this call.

    Args:
        full_name: First and last name of the account holder, spelled as on the account.
        phone_e164: Telephone number on the account.
        zip_code: Five-digit ZIP code of the billing address, as the caller said it.
        caller_name: Only if the caller is not the account holder: their own full name.
    """
    if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
        return _locked(ctx)
    if phone_e164 not in ctx.session["found_phones"]:
        return ctx.fail("look_up_first", "Let me find the account first.")
    there = ctx.rows("SELECT id, first_name, last_name, zip FROM customers WHERE phone_e164 = ?", phone_e164)
    named = [c for c in there if same_text(f"{c['first_name']} {c['last_name']}", full_name)]
    if not named or named[0]["zip"] != zip_code:
        ctx.session["failed_checks"] += 1
        if ctx.session["failed_checks"] >= MAX_FAILED_CHECKS:
            return _locked(ctx)
        code = "zip_mismatch" if named else "name_mismatch"
        return ctx.fail(code, "That doesn't match what we have. Could you give me that once more?")
    acting = "holder"
    if caller_name is not None and not same_text(caller_name, full_name):
        people = ctx.rows("SELECT full_name, scope FROM authorized_people WHERE customer_id = ?", named[0]["id"])
        scopes = [person["scope"] for person in people if sounds_like(person["full_name"], caller_name)]
        if not scopes:
            return ctx.fail("not_authorized", "I can't open this account for you. The account holder can add you.")
        acting = scopes[0]
    ctx.session["customer_id"], ctx.session["acting"] = named[0]["id"], acting
    return ctx.ok({"verified": True, "customer_id": named[0]["id"], "acting": acting, "may": list(MAY[acting])})


def get_account(ctx: ToolContext) -> Envelope:
    """The verified holder's account: addresses with their ids, authorized people, whether there is internet service."""
    if refusal := refuse(ctx, "account"):
        return refusal
    customer_id = ctx.session["customer_id"]
    return ctx.ok(
        {
            "customer_id": customer_id,
            "addresses": own_addresses(ctx),
            "authorized_people": ctx.rows(
                "SELECT full_name, scope FROM authorized_people WHERE customer_id = ? ORDER BY id", customer_id
            ),
            "has_internet": own_subscription(ctx) is not None,
        }
    )


def add_authorized_person(
    ctx: ToolContext, full_name: Annotated[str, Name], scope: Literal["full", "service"]
) -> Envelope:
    """Let another person use the account by phone. Only for the holder, and only after the spelling was read back.

    Args:
        full_name: First and last name of that person, as spelled by the caller.
        scope: full: everything but changes of the account itself. service: internet service and repairs only.
    """
    if refusal := refuse(ctx, "account"):
        return refusal
    name = full_name.title() if full_name.islower() or full_name.isupper() else full_name
    if len(name.split()) < 2 or not name.isprintable():
        return ctx.fail("name_incomplete", "Could you give me their first and last name?")
    customer_id = ctx.session["customer_id"]
    people = ctx.rows("SELECT * FROM authorized_people WHERE customer_id = ?", customer_id)
    known = next((p for p in people if same_text(p["full_name"], name)), None)
    if known is None:
        ctx.run(
            "INSERT INTO authorized_people (customer_id, full_name, scope) VALUES (?, ?, ?)", customer_id, name, scope
        )
    elif known["scope"] != scope:
        ctx.run("UPDATE authorized_people SET scope = ? WHERE id = ?", scope, known["id"])
    return ctx.ok({"authorized": known["full_name"] if known else name, "scope": scope})


def remove_authorized_person(ctx: ToolContext, full_name: Annotated[str, Name]) -> Envelope:
    """Take somebody off the account. Only for the holder, and only after a yes to that name.

    Args:
        full_name: Name of the authorized person, as get_account has it.
    """
    if refusal := refuse(ctx, "account"):
        return refusal
    people = ctx.rows("SELECT * FROM authorized_people WHERE customer_id = ?", ctx.session["customer_id"])
    found = next((p for p in people if same_text(p["full_name"], full_name)), None)
    if found is None and full_name.casefold() not in ctx.session["removed"]:
        return ctx.fail(
            "person_unknown", "I don't see that name on the account.", {"known": [p["full_name"] for p in people]}
        )
    if found is not None:
        ctx.run("DELETE FROM authorized_people WHERE id = ?", found["id"])
        remember(ctx, "removed", full_name.casefold())
    return ctx.ok({"removed": full_name})


def update_phone(ctx: ToolContext, new_phone_e164: Annotated[str, Phone]) -> Envelope:
    """Put a new telephone number on the account. Only for the holder, and only after the number was read back.

    Args:
        new_phone_e164: The new number.
    """
    if refusal := refuse(ctx, "account"):
        return refusal
    if len(new_phone_e164) != 12 or new_phone_e164[:2] != "+1" or new_phone_e164[2] in "01":
        return ctx.fail("phone_invalid", "Could you give me a ten-digit number?")
    ctx.run("UPDATE customers SET phone_e164 = ? WHERE id = ?", new_phone_e164, ctx.session["customer_id"])
    return ctx.ok({"phone_e164": new_phone_e164})


def set_billing_address(ctx: ToolContext, address_id: str) -> Envelope:
    """Make another address on file the billing address. Moves no order. Only for the holder.

    Args:
        address_id: Id of the address, from get_account.
    """
    if refusal := refuse(ctx, "account"):
        return refusal
    address = own_address(ctx, address_id)
    if address is None:
        return unknown_address(ctx)
    customer_id = ctx.session["customer_id"]
    ctx.run("UPDATE addresses SET is_billing = 0 WHERE customer_id = ?", customer_id)
    ctx.run("UPDATE addresses SET is_billing = 1 WHERE id = ?", address_id)
    ctx.run("UPDATE customers SET zip = ? WHERE id = ?", address["zip"], customer_id)
    return ctx.ok({"billing_address": address["label"], "zip": address["zip"]})


def _locked(ctx: ToolContext) -> Envelope:
    return ctx.fail("identity_locked", "I can't confirm your identity on this call. I can take a message.")
