"""One value of an argument in canonical form, so that two can be compared. Never fuzzy, never raises.

Each type of argument has a short list of written forms that mean the same. A value that is in none of them stays what
it is and equals only itself. Two values are the same if their canonical forms are equal.

    string    Unicode NFC, outer space trimmed; case and inner space count. A JSON integer is its digits
    name      as string, and case-folded, runs of space are one space
    integer   25 = 25.0 = "25"; no thousands separators, no words
    number    as integer
    boolean   true = "true"
    date      1972-06-30 = 1972/06/30 = 06/30/1972 (month first) = June 30, 1972 = 30 June 1972
    time      09:00 = 9:00 = 09:00:00 = 9:00 AM
    datetime  a date, then `T`, space, comma or `at`, then a time; with an offset it is an instant
    phone     E.164; ten digits, or eleven from 1, are a US number: 212-555-0133 = +12125550133
    array     a multiset: the order of the elements does not count, how often each stands does
    object    key by key
    (none)    by JSON type: string, number (25 = 25.0, but not "25"), boolean, array, object, null
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Any

from verifier.gold import ArgType

MAX_DEPTH = 40
"""Values that are nested deeper equal nothing."""

_NUMBER = re.compile(r"[+-]?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?", re.ASCII)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DATES = (
    re.compile(r"(?P<y>\d{4})([-/])(?P<m>\d{1,2})\2(?P<d>\d{1,2})", re.ASCII),
    re.compile(r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})", re.ASCII),
    re.compile(r"(?P<name>[A-Za-z]+)\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})", re.ASCII),
    re.compile(r"(?P<d>\d{1,2})(?:st|nd|rd|th)? (?:of )?(?P<name>[A-Za-z]+)\.?,? (?P<y>\d{4})", re.ASCII),
)
_TIME_FORM = (
    r"(?P<h>\d{1,2})(?::(?P<m>\d{2})(?::(?P<s>\d{2})(?:\.0+)?)?)? ?(?P<half>[AaPp]\.?[Mm]\.?)"
    r"|(?P<h24>\d{1,2}):(?P<m24>\d{2})(?::(?P<s24>\d{2})(?:\.0+)?)?(?P<zone>[Zz]|[+-]\d{2}:\d{2})?"
)
_TIME = re.compile(_TIME_FORM, re.ASCII)
_DATETIME = re.compile(rf"(?P<date>.+?)(?:[Tt]|,? (?:at )?)(?P<time>{_TIME_FORM})", re.ASCII)
_PHONE_SEPARATORS = re.compile(r"[\s().\-\u2010-\u2015]+")


class _TooDeep(ValueError):
    pass


def same(expected: Any, actual: Any, arg_type: ArgType | None = None) -> bool:
    """Whether two values of an argument mean the same. A value nested deeper than `MAX_DEPTH` equals nothing."""
    try:
        return canonical(expected, arg_type) == canonical(actual, arg_type)
    except _TooDeep:
        return False


def canonical(value: Any, arg_type: ArgType | None = None) -> Hashable:
    """The canonical form of one value; hashable.

    It is `(arg_type, form)` if the value is in one of the written forms of its type, where `form` is a str (string,
    name, phone in E.164, boolean as `true` or `false`), a Decimal (integer, number), or a date, time or datetime of
    `datetime`. Else it begins with the name of the value's JSON type. The desk reads arguments by it, so that a call
    that is scored as right is one that ran.

    Raises:
        ValueError: the value is nested deeper than `MAX_DEPTH` (`same` takes that for unequal).
    """
    if arg_type is not None and arg_type in _RULES:
        found = _RULES[arg_type](value)
        if found is not None:
            return (arg_type, found)
    return _by_json_type(value, 0)


def _by_json_type(value: Any, depth: int) -> Hashable:
    if depth > MAX_DEPTH:
        raise _TooDeep
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, str):
        return ("string", _string(value))
    if isinstance(value, int | float):
        return ("number", number_key(value))
    if isinstance(value, list | tuple):
        return ("array", frozenset(Counter(_by_json_type(v, depth + 1) for v in value).items()))
    if isinstance(value, dict):
        return ("object", frozenset((str(k), _by_json_type(v, depth + 1)) for k, v in value.items()))
    return ("other", type(value).__name__, str(value))


def number_key(value: int | float) -> Hashable:
    """A number as an exact decimal, so that 1 and 1.0 are one key; what is not finite is its name."""
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return repr(value)
        return Decimal(repr(value))
    return Decimal(value)


def _string(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        value = format(Decimal(value), "f")
    return unicodedata.normalize("NFC", value).strip() if isinstance(value, str) else None


def _name(value: Any) -> str | None:
    text = _text(value)
    return None if text is None else unicodedata.normalize("NFC", text.casefold())


def _number(value: Any) -> Hashable | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return number_key(value)
    text = _text(value)
    return Decimal(text) if text is not None and _NUMBER.fullmatch(text) else None


def _boolean(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = _text(value)
    return text.lower() if text is not None and text.lower() in ("true", "false") else None


def _date(value: Any) -> dt.date | None:
    text = _text(value)
    plain = _plain_date(text)
    if plain is not None:
        return plain
    both = _datetime(text)  # a date that was given as its midnight
    return both.date() if both is not None and both.timetz() == dt.time(0) else None


def _plain_date(text: str | None) -> dt.date | None:
    for form in _DATES if text is not None else ():
        match = form.fullmatch(text or "")
        if match is not None:
            parts = match.groupdict()
            month = _month(parts["name"]) if "name" in parts else int(parts["m"])
            try:
                return dt.date(int(parts["y"]), month, int(parts["d"]))
            except ValueError:
                return None
    return None


def _month(name: str) -> int:
    """1 to 12 for a month's full name, its first three letters or `Sept`; 0 for anything else."""
    text = name.lower().replace("sept", "sep") if len(name) == 4 else name.lower()
    return next((i for i, month in enumerate(_MONTHS, start=1) if text in (month, month[:3])), 0)


def _time(value: Any) -> dt.time | None:
    text = _text(value)
    match = _TIME.fullmatch(text) if text is not None else None
    if match is None:
        return None
    half = match["half"]
    hour, minute, second = (int(match[p] or 0) for p in (("h", "m", "s") if half else ("h24", "m24", "s24")))
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] in "Pp" else 0)
    try:
        return dt.time.fromisoformat(f"{hour:02}:{minute:02}:{second:02}{(match['zone'] or '').upper()}")
    except ValueError:
        return None


def _datetime(value: Any) -> dt.datetime | None:
    text = _text(value)
    match = _DATETIME.fullmatch(text) if text is not None else None
    if match is None:
        return None
    date, time = _plain_date(match["date"]), _time(match["time"])
    return None if date is None or time is None else dt.datetime.combine(date, time)


def _phone(value: Any) -> str | None:
    """E.164 (ITU-T E.164 §6: at most fifteen digits after the plus sign)."""
    text = _string(value)
    if text is None:
        return None
    digits = _PHONE_SEPARATORS.sub("", text)
    if re.fullmatch(r"\+[1-9]\d{6,14}", digits, re.ASCII):
        return digits
    if re.fullmatch(r"1?\d{10}", digits, re.ASCII):
        return "+1" + digits[-10:]
    return None


def _text(value: Any) -> str | None:
    """Text with every run of white space as one space and none outside; None for what is no text."""
    return " ".join(value.split()) if isinstance(value, str) else None


_RULES: dict[ArgType, Callable[[Any], Hashable | None]] = {
    "string": _string,
    "name": _name,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
    "time": _time,
    "datetime": _datetime,
    "phone": _phone,
}
"""Each rule gives None for a value that is in none of its forms. Arrays and objects go by their JSON type."""
