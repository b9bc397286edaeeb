"""Kinds of tool arguments: JSON schema for the model, conversion for the tool, type name for the verifier.

Conversion is lenient where JSON types mean the same ("2" for 2, 2.0 for 2, "true", a JSON array as text) and strict
otherwise: no guesses at dates, numbers in words or telephone numbers without a country code.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from callm_voice.desk.toolkit import Name, Phone

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]00:00(?::00)?)?")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
_DATETIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.0+)?)?")
_PHONE_PUNCTUATION = re.compile(r"[\s().-]")
_E164 = re.compile(r"\+[1-9][0-9]{6,14}")  # ITU-T E.164 §6: at most 15 digits, country code first
_INT64 = 2**63


@dataclass(frozen=True)
class Kind:
    """One kind of argument."""

    arg_type: str
    """The verifier's name for it."""
    schema: dict[str, Any]
    expected: str
    """What an error message says was expected."""
    convert: Callable[[Any], Any]
    """JSON value → Python value; ValueError if it does not fit."""
    form: str = ""
    """The written form, put after the description that the model sees. No JSON schema `format` for times: RFC 3339
    demands seconds and an offset there, and servers that decode by grammar enforce them."""
    nullable: bool = False
    """null means: not given."""


def kind_of(annotation: Any) -> Kind:
    """The kind of an annotated parameter.

    Raises:
        TypeError: the annotation is not one that a tool may have; the message lists those.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated and inner[0] is str:
        for marker in inner[1:]:
            if marker in _MARKED:
                return _MARKED[marker]
    if origin in (Union, types.UnionType) and len(inner) == 2 and type(None) in inner:
        kind = kind_of(next(part for part in inner if part is not type(None)))
        return replace(kind, nullable=True)
    if origin is Literal and inner and all(isinstance(value, str) for value in inner):
        return _choice(inner)
    if origin is list and inner == (str,):
        return _LIST
    if isinstance(annotation, type) and annotation in _PLAIN:
        return _PLAIN[annotation]
    raise TypeError(
        f"the type {annotation!r} is not one of str, int, float, bool, date, time, datetime, Literal of strings, "
        "list[str], X | None, Annotated[str, Phone], Annotated[str, Name]"
    )


def shown(value: Any) -> str:
    """A JSON value in an error message, cut to a readable length."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _integer(value: Any) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -_INT64 <= value < _INT64:
        raise ValueError
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    try:
        number = float(value)
    except OverflowError as error:
        raise ValueError from error
    if not math.isfinite(number):
        raise ValueError
    return number


def _boolean(value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise ValueError
    return value


def _matched(pattern: re.Pattern[str], value: Any) -> re.Match[str]:
    match = pattern.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError
    return match


def _date(value: Any) -> dt.date:
    return dt.date.fromisoformat(_matched(_DATE, value)[1])


def _time(value: Any) -> dt.time:
    return dt.time.fromisoformat(_matched(_TIME, value)[0])


def _datetime(value: Any) -> dt.datetime:
    return dt.datetime.fromisoformat(_matched(_DATETIME, value)[0].split(".")[0])


def _phone(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return _matched(_E164, _PHONE_PUNCTUATION.sub("", value))[0]


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return " ".join(value.split())


def _list(value: Any) -> list[str]:
    if isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, list):
        raise ValueError
    return [_text(item) for item in value]


def _choice(values: tuple[str, ...]) -> Kind:
    def convert(value: Any) -> str:
        if _text(value) not in values:
            raise ValueError
        return _text(value)

    listed = ", ".join(json.dumps(v, ensure_ascii=False) for v in values)
    return Kind("string", {"type": "string", "enum": list(values)}, f"one of {listed}", convert)


_TEXT = {"type": "string"}
_LOCAL = "local time as YYYY-MM-DDTHH:MM, without offset"
_E164_WORDS = "a telephone number in E.164 form such as +12125550133"
_PLAIN: dict[type, Kind] = {
    str: Kind("string", _TEXT, "a string", _text),
    int: Kind("integer", {"type": "integer"}, "an integer", _integer),
    float: Kind("number", {"type": "number"}, "a number", _number),
    bool: Kind("boolean", {"type": "boolean"}, "true or false", _boolean),
    dt.date: Kind("date", {"type": "string", "format": "date"}, "a date as YYYY-MM-DD", _date, "YYYY-MM-DD"),
    dt.time: Kind("time", _TEXT, "a time of day as HH:MM", _time, "HH:MM"),
    dt.datetime: Kind("datetime", _TEXT, _LOCAL, _datetime, "YYYY-MM-DDTHH:MM"),
}
_LIST = Kind("array", {"type": "array", "items": _TEXT}, "an array of strings", _list)
_MARKED: dict[Any, Kind] = {
    Phone: Kind("phone", _TEXT, _E164_WORDS, _phone, "E.164, such as +12125550133"),
    Name: Kind("name", _TEXT, "a person's name", _name),
}
