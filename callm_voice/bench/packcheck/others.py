"""Another value of the same kind: what a model could have said or a tool could have written instead."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from verifier.gold import ArgType
from verifier.normalise import canonical, same
from verifier.trace import Row


def other_arguments(value: Any, arg_type: ArgType | None, choices: Sequence[str] = ()) -> list[Any]:
    """Other values of the argument's type, none of which means the same.

    Args:
        choices: the values that the tool's schema allows, if it lists them.
    """
    if choices:
        found: list[Any] = [choice for choice in choices if choice != value]
    else:
        found = list(_others(value, arg_type))
    return [other for other in found if not same(value, other, arg_type)]


def other_cell(value: Any, column: str, rows: Sequence[Row]) -> Any:
    """Another value for a cell: one that the column has elsewhere, or one made from it."""
    for row in rows:
        if row.get(column) is not None and row[column] != value and type(row[column]) is type(value):
            return row[column]
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, int | float):
        return value + 1
    return next((row[column] for row in rows if row.get(column) is not None), "x")


def _others(value: Any, arg_type: ArgType | None) -> Iterator[Any]:
    form = canonical(value, arg_type)
    plain = form[1] if isinstance(form, tuple) and form[0] == arg_type else value
    if arg_type == "date" and isinstance(plain, dt.date):
        yield (plain + dt.timedelta(days=1)).isoformat()
        yield (plain + dt.timedelta(days=7)).isoformat()
        if plain.day <= 12 and plain.day != plain.month:
            yield dt.date(plain.year, plain.day, plain.month).isoformat()
    elif arg_type == "datetime" and isinstance(plain, dt.datetime):
        yield (plain + dt.timedelta(minutes=30)).isoformat(timespec="minutes")
        yield (plain + dt.timedelta(days=1)).isoformat(timespec="minutes")
    elif arg_type == "time" and isinstance(plain, dt.time):
        yield plain.replace(hour=(plain.hour + 1) % 24).isoformat(timespec="minutes")
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
        yield value * 10 if value else -1
    elif isinstance(value, str):
        yield from _other_text(value, arg_type)
    elif isinstance(value, list):
        yield [*value, "another"]
        yield value[:-1]
    elif isinstance(value, dict):
        yield {**value, "another": 1}
    else:
        yield "another"


def _other_text(value: str, arg_type: ArgType | None) -> Iterator[str]:
    """A last digit or letter misheard, two neighbours swapped."""
    if value and value[-1].isdigit():
        yield value[:-1] + str((int(value[-1]) + 1) % 10)
    else:
        yield value + ("s" if arg_type == "name" else "x")
    for i in range(len(value) - 1, 0, -1):
        a, b = value[i - 1], value[i]
        if a.isalnum() and b.isalnum() and a.casefold() != b.casefold():
            yield value[: i - 1] + b + a + value[i + 1 :]
            return
