"""What all parts of the desk share: who is on the phone and may do what, names by their sound, addresses on file."""

from __future__ import annotations

import unicodedata
from typing import Any, Literal

from callm_voice.desk.toolkit import Envelope, ToolContext

Row = dict[str, Any]

Area = Literal["account", "orders", "repairs", "service", "money"]

MAY: dict[str, tuple[str, ...]] = {
    "holder": ("account", "orders", "repairs", "service", "money"),
    "full": ("orders", "repairs", "service", "money"),
    "service": ("repairs", "service"),
}
"""Who is on the phone → what they may see and do."""

_SOUNDS = (
    *(("sch", "s"), ("chr", "kr"), ("ch", "s"), ("sh", "s"), ("ph", "f"), ("gh", ""), ("ck", "k"), ("x", "ks")),
    *(("ce", "se"), ("ci", "si"), ("cy", "sy"), ("ge", "je"), ("gi", "ji"), ("c", "k"), ("q", "k"), ("z", "s")),
    *(("v", "b"), ("w", "b")),
)
"""Spellings that a listener, or a recogniser on a telephone line, cannot tell apart; applied in this order."""


def sound_key(name: str) -> str:
    """How a name sounds, roughly: consonants only, lookalikes merged, so that Brian = Bryan and not Brenda."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    text = "".join(c for c in plain if c.isalpha())
    for spelled, sound in _SOUNDS:
        text = text.replace(spelled, sound)
    key = "a" if text[:1] in "aeiouy" else text[:1]
    for letter in text[1:]:
        if letter not in "aeiouyh" and letter != key[-1:]:
            key += letter
    return key


def sounds_like(one: str, other: str) -> bool:
    """Whether first and last word of two names sound alike."""
    a, b = one.split(), other.split()
    return bool(a and b) and all(sound_key(a[i]) == sound_key(b[i]) for i in (0, -1))


def same_text(one: str, other: str) -> bool:
    """Whether two texts are equal but for case and spaces."""
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def remember(ctx: ToolContext, fact: str, value: str) -> None:
    """Remember in the session that something was read."""
    if value not in ctx.session[fact]:
        ctx.session[fact].append(value)


def refuse(ctx: ToolContext, area: Area) -> Envelope | None:
    """Why the person on the phone may not do this, as an envelope; None if they may."""
    if ctx.session["customer_id"] is None:
        return ctx.fail("identity_not_verified", "I need to confirm who I'm speaking with before I can look at that.")
    if area not in MAY[ctx.session["acting"]]:
        return ctx.fail("not_for_this_caller", "Only the account holder can do that. I can leave a message about it.")
    return None


def other_phone(ctx: ToolContext, phone_e164: str) -> Envelope | None:
    """Refuse a number that is not the one on the account."""
    own = ctx.row("SELECT phone_e164 FROM customers WHERE id = ?", ctx.session["customer_id"])
    if own and own["phone_e164"] == phone_e164:
        return None
    return ctx.fail("phone_not_on_file", "I can only text the number on the account. Which one would that be?")


def own_addresses(ctx: ToolContext) -> list[Row]:
    """The verified customer's addresses, the billing address first."""
    found = ctx.rows(
        "SELECT id AS address_id, label, street, city, zip, is_billing FROM addresses WHERE customer_id = ?"
        " ORDER BY is_billing DESC, id",
        ctx.session["customer_id"],
    )
    return [{**address, "is_billing": bool(address["is_billing"])} for address in found]


def own_address(ctx: ToolContext, address_id: str) -> Row | None:
    """One of the verified customer's addresses, or None."""
    return ctx.row("SELECT * FROM addresses WHERE id = ? AND customer_id = ?", address_id, ctx.session["customer_id"])


def unknown_address(ctx: ToolContext) -> Envelope:
    """Refuse an address that is not on file, and list those that are."""
    known = {a["address_id"]: a["label"] for a in own_addresses(ctx)}
    return ctx.fail("address_unknown", "I don't have that address on file. Let me look again.", {"known": known})
