"""Calls of a pack's tools as a model might make them: arguments from the database, from outputs, or made up."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

from callm_voice.desk.pack import Pack
from callm_voice.desk.tools import Argument, Tool
from verifier.trace import Row

Call = tuple[str, dict[str, Any]]

ODD = (
    "", " ", "0", "-1", "unknown", "'; DROP TABLE patients; --", "\x00", "\N{SNOWMAN}", "x" * 400, "NULL", "%", "*",
    "a", "é", "O'Brien", "2026-08-18", "+12125550199", "true",
)  # fmt: skip
"""Text that a careless tool trips over."""
NUMBERS = (0, 1, -1, 2, 7, 100, 10_000, 2**62, -(2**62))


def _day(rng: Random) -> dt.date:
    near = dt.date(2026, 9, 1) + dt.timedelta(days=rng.randint(-60, 60))
    return rng.choice([near, near, dt.date.fromordinal(rng.randint(1, dt.date.max.toordinal()))])


def _clock(rng: Random) -> str:
    return f"{rng.randint(0, 23):02}:{rng.choice(['00', '30', '17'])}"


MADE_UP: dict[str, Callable[[Random], Any]] = {
    "string": lambda rng: rng.choice(ODD),
    "name": lambda rng: rng.choice(["A", "O'Brien", "de la Cruz", "Ünal Öz", "-", "x" * 200, "\N{SNOWMAN}"]),
    "integer": lambda rng: rng.choice(NUMBERS),
    "number": lambda rng: rng.choice([*NUMBERS, 0.5, 1e300, -0.0]),
    "boolean": lambda rng: rng.random() < 0.5,
    "date": lambda rng: _day(rng).isoformat(),
    "time": _clock,
    "datetime": lambda rng: f"{_day(rng).isoformat()}T{_clock(rng)}",
    "phone": lambda rng: f"+1{rng.randint(2_000_000_000, 9_999_999_999)}",
    "array": lambda rng: rng.sample(ODD, rng.randint(0, 3)),
}
"""A value of each kind, out of nothing."""


class Arguments:
    """Draws calls for one pack.

    Most arguments of a call come from one row of the database or of an output, as they would in a conversation; the
    rest from other rows or out of nothing.
    """

    def __init__(self, pack: Pack) -> None:
        self._seed = pack.seed_state()
        self._tools = list(pack.tools.values())
        self._every = [row for rows in self._seed.values() for row in rows[:40]]
        self._far = cache(lambda tool, name: _fitting(_argument(pack.tools[tool], name), self._every))

    def thread(self, known: Sequence[Any]) -> list[Row]:
        """What a call is about: the mappings in its session and outputs, and the rows of the seed that share an id."""
        told = list(_rows(list(known)))
        ids = {v for row in told for k, v in row.items() if k.endswith("id") and isinstance(v, str)}
        return [*told, *(row for rows in self._seed.values() for row in rows if ids & set(row.values()))]

    def draw(self, rng: Random, thread: Sequence[Row]) -> Call:
        """One call."""
        tool, row = rng.choice(self._tools), rng.choice(thread or self._every)
        named = [a for a in tool.arguments if a.required or rng.random() < 0.5]
        return tool.name, {a.name: self._value(rng, tool.name, a, row, thread) for a in named}

    def _value(self, rng: Random, tool: str, argument: Argument, row: Row, thread: Sequence[Row]) -> Any:
        luck = rng.random()
        if "enum" in argument.kind.schema and luck < 0.97:
            return rng.choice(argument.kind.schema["enum"])
        if luck < 0.55 and (found := _fitting(argument, [row])):
            return rng.choice(found)
        if luck < 0.8 and (found := _fitting(argument, rng.sample(thread, min(30, len(thread))))):
            return rng.choice(found)
        if luck < 0.9 and (found := self._far(tool, argument.name)):
            return rng.choice(found)
        return MADE_UP[argument.kind.arg_type](rng)


def _argument(tool: Tool, name: str) -> Argument:
    return next(a for a in tool.arguments if a.name == name)


def _rows(value: Any) -> Iterator[Row]:
    """Every mapping in plain data."""
    if isinstance(value, dict):
        yield {k: v for k, v in value.items() if isinstance(v, str | int | float)}
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _rows(inner)


def _fitting(argument: Argument, rows: Sequence[Row]) -> list[Any]:
    """Values of columns that are called like the argument, in its kind; whole names made of their parts."""
    words = {w.rstrip("s") for w in argument.name.split("_")}
    found: list[Any] = []
    for row in rows:
        if argument.name == "full_name" and {"first_name", "last_name"} <= row.keys():
            found.append(f"{row['first_name']} {row['last_name']}")
        for column, value in row.items():
            if value is not None and words & {w.rstrip("s") for w in column.split("_")}:
                value = [value] if argument.kind.arg_type == "array" and not isinstance(value, list) else value
                if value not in found and _converts(argument, value):
                    found.append(value)
    return found[:60]


def _converts(argument: Argument, value: Any) -> bool:
    try:
        argument.kind.convert(value)
    except ValueError:
        return False
    return True
