"""The context that a pack's tools are given."""

# ruff: noqa: DTZ001 - a pack's clock has no offset

from __future__ import annotations

import datetime as dt
import sqlite3

import pytest

from callm_voice.desk.cleaning import clean_json
from callm_voice.desk.toolkit import ToolContext, iso, sql_value

pytestmark = pytest.mark.unit
NOW = dt.datetime(2026, 8, 18, 9, 30)


@pytest.fixture
def ctx():
    """A context on an empty table."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, at TEXT, flag INTEGER)")
    yield ToolContext(connection, NOW, {}, "front", "client_safe_message")
    connection.close()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (dt.date(2026, 8, 24), "2026-08-24"),
        (dt.time(9), "09:00"),
        (dt.time(9, 0, 5), "09:00:05"),
        (dt.datetime(2026, 8, 24, 9), "2026-08-24T09:00"),
        (dt.datetime(2026, 8, 24, 9, 0, 1, 999), "2026-08-24T09:00:01"),
    ],
)
def test_dates_are_written_as_iso_text_to_the_minute_or_second(value, text):
    assert iso(value) == text
    assert sql_value(value) == text


def test_run_returns_the_rowid_and_row_finds_it(ctx):
    assert ctx.run("INSERT INTO t (at, flag) VALUES (?, ?)", NOW, True) == 1
    assert ctx.row("SELECT * FROM t WHERE id = ?", 1) == {"id": 1, "at": "2026-08-18T09:30", "flag": 1}


def test_row_is_none_where_nothing_matches(ctx):
    assert ctx.row("SELECT * FROM t") is None
    assert ctx.rows("SELECT * FROM t") == []


def test_the_envelope_has_always_the_same_keys_in_the_same_order(ctx):
    keys = ["data", "error_code", "ok", "client_safe_message"]
    assert list(ctx.ok({"a": 1})) == list(ctx.fail("no")) == keys


def test_a_success_has_no_error_and_no_message(ctx):
    assert ctx.ok({"a": 1}) == {"data": {"a": 1}, "error_code": None, "ok": True, "client_safe_message": None}


def test_a_refusal_carries_its_code_and_words(ctx):
    told = ctx.fail("not_found", "I cannot see it.", {"tries": 2})
    assert told == {
        "data": {"tries": 2},
        "error_code": "not_found",
        "ok": False,
        "client_safe_message": "I cannot see it.",
    }


def test_half_surrogates_and_nan_are_made_storable():
    cleaned = clean_json({"a\ud800": ["ok", "\udc00x", float("nan")], "b": 1.5, "c": "fine 😀"})
    assert cleaned == {"a\ufffd": ["ok", "\ufffdx", "nan"], "b": 1.5, "c": "fine 😀"}
