"""Kinds of tool arguments: JSON schema for the model, conversion for the tool, type name for the verifier.

A tool takes exactly the written forms that the verifier counts as the same (`verifier.normalise`): "2" and 2.0 for 2,
06/30/1972 for 1972-06-30, 212-555-0133 for +12125550133. So a call that is scored as right is also one that runs.
Everything else is refused, with words that say what was expected.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import types
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from callm_voice.desk.toolkit import Name, Phone
from verifier.normalise import canonical

ArgTypeName = Literal[
    "string", "name", "integer", "number", "boolean", "date", "time", "datetime", "phone", "array", "object"
]
"""The verifier's names for kinds of arguments."""
_INT64 = 2**63
T = TypeVar("T")
L = TypeVar("L", dt.time, dt.datetime)


@dataclass(frozen=True)
class Kind:
    """One kind of argument."""

    arg_type: ArgTypeName
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


def _form(arg_type: ArgTypeName, value: Any, python_type: type[T]) -> T:
    """The value in the verifier's canonical form of the type; ValueError if it is in none of its written forms."""
    if isinstance(value, list | dict):
        raise ValueError
    form = canonical(value, arg_type)
    found = form[1] if isinstance(form, tuple) and form[0] == arg_type else None
    if not isinstance(found, python_type):
        raise ValueError
    return found


def _text(value: Any) -> str:
    return _form("string", value, str)


def _integer(value: Any) -> int:
    number = _form("integer", value, Decimal)
    if not -_INT64 <= number < _INT64 or number != number.to_integral_value():
        raise ValueError
    return int(number)


def _number(value: Any) -> float:
    number = float(_form("number", value, Decimal))
    if not math.isfinite(number):
        raise ValueError
    return number


def _boolean(value: Any) -> bool:
    return _form("boolean", value, str) == "true"


def _date(value: Any) -> dt.date:
    return _form("date", value, dt.date)


def _time(value: Any) -> dt.time:
    return _local(_form("time", value, dt.time))


def _datetime(value: Any) -> dt.datetime:
    return _local(_form("datetime", value, dt.datetime))


def _local(moment: L) -> L:
    if moment.tzinfo is not None:
        raise ValueError
    return moment


def _phone(value: Any) -> str:
    return _form("phone", value, str)


def _name(value: Any) -> str:
    _form("name", value, str)
    if not value.strip():
        raise ValueError
    return unicodedata.normalize("NFC", " ".join(value.split()))


def _list(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
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
    dt.time: Kind("time", _TEXT, "a local time of day as HH:MM", _time, "HH:MM"),
    dt.datetime: Kind("datetime", _TEXT, _LOCAL, _datetime, "YYYY-MM-DDTHH:MM"),
}
_LIST = Kind("array", {"type": "array", "items": _TEXT}, "an array of strings", _list)
_MARKED: dict[Any, Kind] = {
    Phone: Kind("phone", _TEXT, _E164_WORDS, _phone, "E.164, such as +12125550133"),
    Name: Kind("name", _TEXT, "a person's name", _name),
}
