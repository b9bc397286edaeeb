"""Which written forms of an argument mean the same, type by type, and which never do."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from verifier.gold import ArgType
from verifier.normalise import MAX_DEPTH, canonical, same

pytestmark = pytest.mark.unit

SAME: list[tuple[ArgType | None, Any, Any]] = [
    ("string", " loc_a ", "loc_a"),
    ("string", "Jose\u0301", "Jos\u00e9"),
    ("string", "10016", 10016),
    ("name", "ana  FIELD", " Ana Field"),
    ("name", "STRASSE", "straße"),
    ("integer", 25, 25.0),
    ("integer", 25, "25"),
    ("number", "25.50", 25.5),
    ("number", -0.0, 0),
    ("number", 1e3, "1000"),
    ("boolean", True, "true"),
    ("boolean", False, "False"),
    ("date", "1980-02-03", "02/03/1980"),
    ("date", "1980-02-03", "2/3/1980"),
    ("date", "1980-02-03", "1980/02/03"),
    ("date", "1980-02-03", "February 3, 1980"),
    ("date", "1980-02-03", "Feb. 3rd 1980"),
    ("date", "1980-02-03", "3 February 1980"),
    ("date", "1980-02-03", "3rd of February, 1980"),
    ("date", "1980-09-03", "Sept 3, 1980"),
    ("date", "1980-02-03", "1980-02-03T00:00:00"),
    ("time", "09:00", "9:00"),
    ("time", "09:00", "09:00:00.000"),
    ("time", "09:00", "9 AM"),
    ("time", "14:30", "2:30 p.m."),
    ("time", "00:15", "12:15am"),
    ("datetime", "2026-08-24T09:00", "2026-08-24T09:00:00"),
    ("datetime", "2026-08-24T09:00", "2026-08-24 09:00"),
    ("datetime", "2026-08-24T09:00", "August 24, 2026 at 9:00 AM"),
    ("datetime", "2026-08-24T09:00", "08/24/2026, 9am"),
    ("datetime", "2026-08-24T13:00Z", "2026-08-24T09:00-04:00"),
    ("phone", "+12125550133", "212-555-0133"),
    ("phone", "+12125550133", "(212) 555 0133"),
    ("phone", "+12125550133", "1.212.555.0133"),
    ("phone", "+12125550133", 2125550133),
    ("phone", "+12125550133", "212\u2011555\u20110133"),
    ("phone", "+442079460018", "+44 20 7946 0018"),
    ("array", ["a", "b"], ["b", "a"]),
    ("array", [1, {"x": 2}], [{"x": 2.0}, 1.0]),
    ("object", {"a": 1, "b": " x"}, {"b": "x", "a": 1.0}),
    (None, 25, 25.0),
    (None, None, None),
]

DIFFERENT: list[tuple[ArgType | None, Any, Any]] = [
    ("string", "Ana", "ana"),
    ("string", "a b", "a  b"),
    ("string", "02134", 2134),
    ("string", "true", True),
    ("string", "", None),
    ("name", "Ana Field", "Anna Field"),
    ("name", "Ana Field", "AnaField"),
    ("integer", 25, 25.5),
    ("integer", 1, True),
    ("integer", 1200, "1,200"),
    ("integer", 25, "twenty-five"),
    ("boolean", True, 1),
    ("boolean", True, "yes"),
    ("date", "1980-02-03", "03/02/1980"),
    ("date", "1980-02-03", "02/03/80"),
    ("date", "1980-02-03", "1980-02-03T09:00"),
    ("date", "2026-02-28", "2026-02-30"),
    ("date", "2026-02-28", "next Friday"),
    ("time", "09:00", "9"),
    ("time", "09:00", "9:00 PM"),
    ("time", "13:00", "13:00 PM"),
    ("datetime", "2026-08-24T09:00", "2026-08-24"),
    ("datetime", "2026-08-24T09:00", "2026-08-24T09:00Z"),
    ("phone", "+12125550133", "555-0133"),
    ("phone", "+12125550133", "+442125550133"),
    ("phone", "+12125550133", "212-555-0133 ext. 4"),
    ("array", ["a"], ["a", "a"]),
    ("array", ["a"], "a"),
    ("array", ["a", "b"], '["a", "b"]'),
    ("object", {"a": 1}, {"a": 1, "b": 2}),
    (None, 25, "25"),
    (None, 1, True),
    (None, 0, None),
]


@pytest.mark.parametrize(("arg_type", "left", "right"), SAME)
def test_forms_that_mean_the_same_are_equal_both_ways(arg_type: ArgType | None, left: Any, right: Any) -> None:
    assert same(left, right, arg_type)
    assert same(right, left, arg_type)


@pytest.mark.parametrize(("arg_type", "left", "right"), DIFFERENT)
def test_forms_that_do_not_mean_the_same_differ_both_ways(arg_type: ArgType | None, left: Any, right: Any) -> None:
    assert not same(left, right, arg_type)
    assert not same(right, left, arg_type)


def test_garbage_equals_the_same_garbage_only() -> None:
    assert same("soonish", "soonish ", "date")
    assert not same("soonish", "later", "date")


def test_a_value_that_is_nested_too_deeply_equals_nothing() -> None:
    deep: Any = 1
    for _ in range(MAX_DEPTH + 2):
        deep = [deep]
    assert not same(deep, deep)


@pytest.mark.parametrize(
    ("arg_type", "value", "form"),
    [
        ("date", "June 30, 1972", dt.date(1972, 6, 30)),
        ("datetime", "2026-08-24 09:00", dt.datetime(2026, 8, 24, 9, 0)),  # noqa: DTZ001 - local by meaning
        ("time", "9 am", dt.time(9)),
        ("integer", "25", Decimal(25)),
        ("boolean", True, "true"),
        ("phone", "212-555-0133", "+12125550133"),
        ("name", "Ana  Field", "ana field"),
    ],
)
def test_a_written_form_of_its_type_becomes_the_value_that_the_desk_works_with(
    arg_type: ArgType, value: Any, form: Any
) -> None:
    assert canonical(value, arg_type) == (arg_type, form)


def test_what_is_in_no_form_of_its_type_is_tagged_with_its_json_type() -> None:
    assert canonical("soonish", "date") == ("string", "soonish")
    assert canonical(True, "integer") == ("boolean", True)


def test_numbers_of_absurd_size_are_compared_not_computed() -> None:
    assert not same(1, "1e999999999", "number")
    assert not same(1, 10**5000, "number")
    assert same(10**5000, 10**5000, "number")
