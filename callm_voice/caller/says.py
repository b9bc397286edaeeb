"""Whether a text says a value: the value as a tool takes it against words as people write and say them."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Literal

from num2words import num2words

from verifier.normalise import canonical

ValueType = Literal[
    "string", "name", "integer", "number", "boolean", "date", "time", "datetime", "phone", "array", "object"
]
"""The verifier's types of arguments. Its own list stands with gold, which this room does not see."""

MIN_COMPACT = 4
"""Letters and digits that a value needs before it may stand anywhere in a text without its spaces and marks."""
WEEKS_AHEAD = 3
"""A weekday alone names a day so far ahead at most."""
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_NEAR = {-1: r"\byesterday\b", 0: r"\b(today|tonight|this (morning|afternoon|evening))\b", 1: r"\btomorrow\b"}
"""Days from the frozen date → the words for it."""


def says(text: str, value: Any, arg_type: ValueType | None, now: dt.datetime | None) -> bool:
    """Whether the value can be taken from the text.

    Args:
        now: the pack's frozen date, for "tomorrow" and "next Tuesday"; None: such words say nothing.
    """
    form = canonical(value, arg_type)
    plain = form[1] if isinstance(form, tuple) and len(form) == 2 and form[0] == arg_type else value
    if isinstance(value, bool | list | dict) or value is None:
        return False
    if isinstance(plain, dt.datetime):
        return says_date(text, plain.date(), now) and says_time(text, plain.time())
    if isinstance(plain, dt.date):
        return says_date(text, plain, now)
    if isinstance(plain, dt.time):
        return says_time(text, plain)
    if arg_type == "phone":
        return digits(str(plain))[-10:] in digits(text)
    if isinstance(value, int | float):
        return says_number(text, value)
    return says_text(text, str(value), by_word=arg_type == "name")


def says_date(text: str, day: dt.date, now: dt.datetime | None) -> bool:
    """2026-08-24, 8/24, August 24, the 24th of August, tomorrow, Monday (if it is near)."""
    lower, month = text.lower(), _MONTHS[day.month - 1]
    number = rf"(the )?({day.day}(st|nd|rd|th)?|{num2words(day.day, to='ordinal').replace('-', '[- ]')})"
    name = rf"{month[:3]}({month[3:]})?\.?" if month != "may" else "may"
    forms = [
        rf"\b{day.isoformat()}\b", rf"\b0?{day.month}/0?{day.day}\b", rf"\b{name},? {number}\b",
        rf"\b{number}( of)? {name}\b",
    ]  # fmt: skip
    if now is not None:
        forms += _relative(day, now, number)
    if day.day == 1:
        forms.append(rf"\b(first|beginning|start) of ({name}|next month|the month)\b|\b(from|in|until) {name}\b")
    if (day + dt.timedelta(days=1)).day == 1:
        forms.append(rf"\bend of ({name}|the month|this month|next month)\b")
    return any(re.search(form, lower) for form in forms)


def _relative(day: dt.date, now: dt.datetime, number: str) -> list[str]:
    """Patterns of words that mean the day as seen from the frozen date."""
    forms = []
    away = (day - now.date()).days
    if away in _NEAR:
        forms.append(_NEAR[away])
    if 0 <= away <= 7 * WEEKS_AHEAD:
        forms.append(rf"\b{_WEEKDAYS[day.weekday()]}s?('s)?\b")
        forms.append(rf"\bthe {number}\b")
    if away > 0 and away % 7 == 0:
        weeks = num2words(away // 7)
        forms.append(rf"\b(in )?({weeks}|{away // 7}|a) weeks?\b")
    if away > 0:
        forms.append(rf"\bin ({num2words(away)}|{away}) days?\b")
    if day.weekday() == 0 and 0 < away <= 7:
        forms.append(r"\bnext week\b")
    return forms


def says_time(text: str, moment: dt.time) -> bool:
    """14:30, 2:30, 2:30 PM, half past two, noon."""
    lower, hour = text.lower(), moment.hour % 12 or 12
    words, minute = num2words(hour), f":{moment.minute:02}"
    forms = [rf"\b0?{moment.hour}{minute}\b", rf"\b0?{hour}{minute}\b"]
    if moment.minute == 0:
        forms += [rf"\b({hour}|{words}) ?(a\.?m|p\.?m|o'?clock)\b", rf"\b(at|by|until|after|before) ({hour}|{words})\b"]
    else:
        spoken = num2words(moment.minute).replace("-", "[- ]")
        forms.append(rf"\b{words}[ -]{spoken}\b")
    if moment.minute == 30:
        forms.append(rf"\bhalf past {words}\b")
    if moment in (dt.time(12), dt.time(0)):
        forms.append(r"\bnoon\b" if moment.hour else r"\bmidnight\b")
    return any(re.search(form, lower) for form in forms)


def says_number(text: str, value: float) -> bool:
    """The number in digits or words; a number of cents also as dollars."""
    lower = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower())
    return any(_number(lower, amount) for amount in (value, value / 100 if value >= 100 else value))


def _number(lower: str, value: float) -> bool:
    whole = float(value).is_integer()
    written = f"{int(value)}(\\.0+)?" if whole else re.escape(f"{value:.2f}".rstrip("0")) + "0?"
    forms = [rf"(?<![\d.]){written}(?![\d]|\.\d)"]
    if whole and 0 <= value < 1_000_000:
        spoken = num2words(int(value)).replace("-", "[- ]").replace(" and ", " (and )?").replace(",", ",?")
        forms.append(rf"\b{spoken}\b")
        forms += [r"\ba single\b|\bjust one\b|\ban?\b"] if value == 1 else []
        forms += [r"\bboth\b|\ba couple\b|\btwice\b"] if value == 2 else []
        tens = int(value) // 100
        if value == 100 * tens and tens < 100:
            forms.append(rf"\b{num2words(tens).replace('-', '[- ]')} hundred\b")
    return any(re.search(form, lower) for form in forms)


def says_text(text: str, value: str, *, by_word: bool = False) -> bool:
    """The words of the value, or its letters and digits with other spaces and marks between them.

    Args:
        by_word: the words may stand apart from each other (a name of which the parts were asked one by one).
    """
    wanted = " ".join(value.casefold().replace("_", " ").split())
    if not wanted:
        return False
    folded = " ".join(text.casefold().split())
    if re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", folded):
        return True
    if by_word:
        return all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", folded) for word in wanted.split())
    key = compact(value)
    return len(key) >= MIN_COMPACT and any(c.isdigit() for c in key) and key in compact(text)


def compact(text: str) -> str:
    """Letters and digits alone."""
    return "".join(c for c in text.casefold() if c.isalnum())


def digits(text: str) -> str:
    """Digits alone."""
    return "".join(c for c in text if c in "0123456789")
