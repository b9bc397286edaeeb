"""Traits in the caller's lines: `{mobile}` and its forms, rendered once when a brief is loaded."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping

from callm_voice.core.errors import ConfigError

_SLOT = re.compile(r"\{([^{}]*)\}")
_ISO_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")


def spelled(value: str) -> str:
    """`Maria Alvarez` → `M-A-R-I-A, A-L-V-A-R-E-Z`: letters and digits of each word, one by one."""
    words = ("-".join(c.upper() for c in word if c.isalnum()) for word in value.split())
    return ", ".join(word for word in words if word)


def digit_groups(value: str) -> str:
    """`212-555-0133` → `2 1 2, 5 5 5, 0 1 3 3`: the groups that the written form has."""
    return ", ".join(" ".join(group) for group in re.findall(r"\d+", value))


def date_in_words(value: str) -> str:
    """`1972-06-30` → `June 30, 1972`; any other text, and a date that does not exist, stays as it is."""
    if not _ISO_DATE.match(value):
        return value
    try:
        date = dt.date.fromisoformat(value)
    except ValueError:
        return value
    return f"{date:%B} {date.day}, {date.year}"


def _first(value: str) -> str:
    return value.split()[0] if value.split() else value


def _last(value: str) -> str:
    return value.split()[-1] if value.split() else value


FORMS: dict[str, Callable[[str], str]] = {
    "spell": spelled,
    "digits": digit_groups,
    "first": _first,
    "last": _last,
    "date": date_in_words,
}
"""`{trait:FORM}`; a trait without a form is rendered as it is written."""


def render(template: str, traits: Mapping[str, str], *, where: str, source: str = "brief") -> str:
    """A line with its traits filled in.

    Args:
        where: the key that the template stands under, for the message.
        source: the file it came from, for the message.

    Raises:
        ConfigError: an unknown trait or form, a form that leaves nothing of the trait, or a brace without its partner.
    """

    def fill(slot: re.Match[str]) -> str:
        name, colon, form = slot.group(1).partition(":")
        if name not in traits:
            raise ConfigError(source, where, f"unknown trait {name!r}; known: {', '.join(sorted(traits)) or 'none'}")
        if not colon:
            return traits[name]
        if form not in FORMS:
            raise ConfigError(source, where, f"unknown form {form!r} of trait {name!r}; known: {', '.join(FORMS)}")
        value = FORMS[form](traits[name])
        if not value:
            raise ConfigError(source, where, f"nothing is left of trait {name!r} in the form {form!r}")
        return value

    rest = _SLOT.sub("", template)
    if "{" in rest or "}" in rest:
        raise ConfigError(source, where, f"a brace without its partner in {template!r}")
    return _SLOT.sub(fill, template)
