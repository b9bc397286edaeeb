"""Each argument's origin is named; one from nowhere makes the task ambiguous."""

from __future__ import annotations

import datetime as dt

import pytest
from support.small_pack import TASK, checked, problems_of

from callm_voice.caller.says import says

pytestmark = pytest.mark.unit
NOW = dt.datetime.fromisoformat("2026-08-18T09:30")  # a Tuesday


def origins(report):
    return {o.key: (o.origin, o.from_caller) for o in report.origins}


def test_origins_of_the_small_pack(tmp_path):
    assert origins(checked(tmp_path)) == {
        "calls.0.args.first_name": ("trait full_name", True),
        "calls.0.args.last_name": ("trait full_name", True),
        "calls.0.args.mobile": ("trait mobile", True),
        "calls.3.args.extra_id": ("list_repairs: repairs.extra_work.extra_id", False),
        "calls.3.args.decision": ("choice of decide_extra_work", False),
    }


def test_a_value_that_a_reading_tool_would_show_is_found_although_gold_does_not_read(tmp_path):
    report = checked(tmp_path, (TASK, "    - tool: list_repairs\n", ""), (TASK, "    - call: list_repairs\n", ""))
    found = ("list_repairs (not in gold): repairs.extra_work.extra_id", False)
    assert origins(report)["calls.2.args.extra_id"] == found


def test_a_value_from_nowhere_is_ambiguous(tmp_path):
    report = checked(
        tmp_path,
        ("tools.py", '"declined"]) ->', '"declined"], note: str = "") ->'),
        ("tools.py", "the customer decided.\n", "the customer decided.\n        note: Anything else.\n"),
        (TASK, "decision: approved}", "decision: approved, note: handle with care}"),
    )
    assert report.ambiguous == 1
    assert "gold.calls.3.args.note: 'handle with care' comes from nowhere" in problems_of(report)


@pytest.mark.parametrize(
    ("text", "value", "arg_type"),
    [
        ("on June 30, 1972", "1972-06-30", "date"),
        ("1972-06-30", "1972-06-30", "date"),
        ("the 24th of August", "2026-08-24", "date"),
        ("August twenty-fourth", "2026-08-24", "date"),
        ("tomorrow morning", "2026-08-19", "date"),
        ("next Monday", "2026-08-24", "date"),
        ("in two weeks", "2026-09-01", "date"),
        ("at the end of the month", "2026-08-31", "date"),
        ("Monday at nine thirty", "2026-08-24T09:30", "datetime"),
        ("Monday at 2 PM", "2026-08-24T14:00", "datetime"),
        ("around noon", "12:00", "time"),
        ("half past two", "14:30", "time"),
        ("(212) 555-0133", "+12125550133", "phone"),
        ("Alvarez. And Maria is my first name.", "Maria Alvarez", "name"),
        ("three of them", 3, "integer"),
        ("$480.00", 48000, "integer"),
        ("forty-three dollars", 4300, "integer"),
        ("1,250 dollars", 1250, "integer"),
        ("order T X 4 4 7 1", "TX-4471", "string"),
        ("the office on Park Avenue", "park avenue", "string"),
        ("about billing", "billing", "string"),
        ("a billing question", "billing_question", "string"),
    ],
)
def test_said_in_other_words(text, value, arg_type):
    assert says(text, value, arg_type, NOW)


@pytest.mark.parametrize(
    ("text", "value", "arg_type"),
    [
        ("on June 3, 1972", "1972-06-30", "date"),
        ("next Tuesday", "2026-08-24", "date"),
        ("Monday", "2026-12-14", "date"),
        ("Monday at nine", "2026-08-24T09:30", "datetime"),
        ("at 10:30", "09:30", "time"),
        ("212-555-0134", "+12125550133", "phone"),
        ("Maria Alvarado", "Maria Alvarez", "name"),
        ("13 of them", 3, "integer"),
        ("$4.80", 48000, "integer"),
        ("order TX-4472", "TX-4471", "string"),
        ("unbilled", "bill", "string"),
        ("", "x", "string"),
        ("yes", True, "boolean"),
    ],
)
def test_not_said(text, value, arg_type):
    assert not says(text, value, arg_type, NOW)


def test_a_value_that_only_a_line_says_is_told(tmp_path):
    loaded = one_sided_report(tmp_path, script="your first name", line="Nora")
    assert "a line says 'Nora', but the script does not" in problems_of(loaded)


def test_a_value_that_only_the_script_says_is_told(tmp_path):
    loaded = one_sided_report(tmp_path, script="the name Nora Field", line="all")
    assert "the script says 'Nora', but no line of the scripted caller does" in problems_of(loaded)


def one_sided_report(tmp_path, *, script, line):
    """The small task without its trait of the name."""
    return checked(
        tmp_path,
        (TASK, "    full_name: Nora Field\n", ""),
        (TASK, "Give your name and your", f"Give {script} and your"),
        (TASK, "And what would that cost?", f"It is {line}, and what would that cost?"),
    )
