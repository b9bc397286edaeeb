"""Names as they sound and as they are written down."""

from __future__ import annotations

import unicodedata

NAME_KEYS = ("first_name", "last_name")
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


def same_text(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def as_written(name: str) -> str:
    """A name as it is written on a card: words that came in one case only get a capital."""
    words = (w.capitalize() if w.islower() or (w.isupper() and len(w) > 1) else w for w in name.split())
    return " ".join(words)


def us_number(e164: str) -> bool:
    return len(e164) == 12 and e164[:2] == "+1" and e164[2] not in "01"
