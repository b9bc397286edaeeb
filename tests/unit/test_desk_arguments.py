"""What a tool accepts for each kind of argument, and what it refuses."""

# ruff: noqa: DTZ001 - a pack's clock has no offset

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal, Optional

import pytest

from callm_voice.desk.arguments import kind_of, shown
from callm_voice.desk.toolkit import Name, Phone

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("annotation", "given", "taken"),
    [
        (str, "a", "a"),
        (str, 10016, "10016"),
        (int, 2, 2),
        (int, "2", 2),
        (int, 2.0, 2),
        (float, 2, 2.0),
        (float, "2.5", 2.5),
        (bool, True, True),
        (bool, "false", False),
        (dt.date, "1972-06-30", dt.date(1972, 6, 30)),
        (dt.date, "1972-06-30T00:00:00", dt.date(1972, 6, 30)),
        (dt.time, "09:00", dt.time(9)),
        (dt.datetime, "2026-08-24T09:00", dt.datetime(2026, 8, 24, 9)),
        (dt.datetime, "2026-08-24 09:00:30", dt.datetime(2026, 8, 24, 9, 0, 30)),
        (Annotated[str, Phone], "+1 (212) 555-0133", "+12125550133"),
        (Annotated[str, Phone], "212-555-0133", "+12125550133"),
        (Annotated[str, Name], "  Maria   Alvarez ", "Maria Alvarez"),
        (Literal["a", "b"], "b", "b"),
        (list[str], ["x", "y"], ["x", "y"]),
        (list[str], [], []),
    ],
)
def test_a_value_that_means_the_same_is_taken(annotation, given, taken):
    assert kind_of(annotation).convert(given) == taken


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        (str, True),
        (str, ["a"]),
        (int, True),
        (int, "two"),
        (int, 2.5),
        (int, 2**63),
        (int, "9" * 40),
        (float, "nan"),
        (float, float("inf")),
        (bool, 1),
        (bool, "yes"),
        (dt.date, "Friday"),
        (dt.date, "2026-02-30"),
        (dt.date, 20260230),
        (dt.date, "2026-08-24T09:00"),
        (dt.time, "25:00"),
        (dt.datetime, "2026-08-24"),
        (dt.datetime, "2026-08-24T09:00Z"),
        (Annotated[str, Phone], "555-0133"),
        (Annotated[str, Phone], 2125550133.5),
        (Annotated[str, Name], "  "),
        (Annotated[str, Name], 5),
        (Literal["a", "b"], "A"),
        (list[str], "x"),
        (list[str], [["x"]]),
        (list[str], [5]),
        (list[str], {"x": 1}),
    ],
)
def test_a_value_of_another_meaning_is_refused(annotation, given):
    with pytest.raises(ValueError):  # noqa: PT011 - convert's contract is ValueError without words
        kind_of(annotation).convert(given)


@pytest.mark.parametrize(
    ("annotation", "arg_type"),
    [
        (str, "string"), (int, "integer"), (float, "number"), (bool, "boolean"), (dt.date, "date"), (dt.time, "time"),
        (dt.datetime, "datetime"), (Annotated[str, Phone], "phone"), (Annotated[str, Name], "name"),
        (list[str], "array"), (Literal["a"], "string"), (int | None, "integer"), (Optional[dt.date], "date"),  # noqa: UP045
    ],
)  # fmt: skip
def test_every_kind_has_the_verifiers_type_name(annotation, arg_type):
    assert kind_of(annotation).arg_type == arg_type


def test_times_carry_no_json_schema_format_because_rfc3339_wants_an_offset():
    assert "format" not in kind_of(dt.datetime).schema
    assert "format" not in kind_of(dt.time).schema
    assert kind_of(dt.date).schema["format"] == "date"


def test_optional_keeps_the_kind_and_adds_null():
    assert kind_of(int | None).nullable
    assert not kind_of(int).nullable
    assert kind_of(Annotated[str, Phone] | None).arg_type == "phone"


@pytest.mark.parametrize("annotation", [dict, Any, list, list[int], Literal[1, 2], int | str, bytes, "int"])
def test_other_types_are_named_as_not_allowed(annotation):
    with pytest.raises(TypeError, match="is not one of str, int"):
        kind_of(annotation)


def test_a_long_value_is_cut_in_messages():
    assert len(shown("x" * 500)) == 60
    assert shown("ä") == '"ä"'
