"""Who lost a call: recogniser, model, caller, or it cannot be told."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from support.run_builder import MadeCall, Plot, make_record
from support.verifier_cases import GOLD_FILE

from callm_voice.core.record import TranscriptTurn
from callm_voice.report.blame import CallBlame, blame_call
from callm_voice.report.blame_values import Hearing, lost_share, told
from verifier.trace import ToolCall

pytestmark = pytest.mark.unit


def blame(plot: Plot, **changes: Any) -> CallBlame:
    record, _, _ = make_record(MadeCall(plot=plot))
    found = blame_call(record.model_copy(update=changes), GOLD_FILE)
    assert found is not None
    return found


def turn(said: str, heard: str | None, n: int = 1) -> TranscriptTurn:
    return TranscriptTurn(party="caller", turn_id=n, start_ms=1_000.0 * n, end_ms=1_000.0 * n, said=said, heard=heard)


@pytest.mark.parametrize(
    ("plot", "expected"),
    [
        ("misheard_name", "recogniser"),
        ("misheard_number", "recogniser"),
        ("wrong_argument", "model"),
        ("missing_call", "model"),
        ("refused", "model"),
        ("not_run", "model"),
        ("wrong_path", "model"),
        ("extra_row", "model"),
        ("caller_wrong", "caller"),
    ],
)
def test_the_blame_of_each_kind_of_failure(plot: Plot, expected: str) -> None:
    assert blame(plot).blame == expected


def test_a_misheard_value_comes_with_its_words_and_turn() -> None:
    (arg,) = blame("misheard_number").missed[0].args
    assert (arg.name, arg.expected, arg.actual) == ("mobile", "+12125550133", "+12125550138")
    assert (arg.said, arg.heard, arg.actual_heard, arg.turn_id) == (True, False, True, 4)
    assert arg.words == (("212-555-0133.", "212-555-0138."),)


def test_calls_that_could_not_be_made_after_a_lost_one_follow_it() -> None:
    missed = blame("misheard_name").missed
    assert [m.tool for m in missed] == ["verify_identity", "transfer_to_scheduling", "find_slots", "move", "send_link"]
    assert [m.follows for m in missed] == [None, 1, 1, 1, 1]
    assert {m.blame for m in missed} == {"recogniser"}


def test_a_turn_that_was_not_heard_takes_the_blame_of_what_was_said_in_it() -> None:
    found = blame("turn_lost")
    assert found.blame == "recogniser"
    assert found.because == "the mobile was said and not heard"


def test_a_call_that_did_not_fail_has_no_blame() -> None:
    for plot in ("pass", "harness"):
        record, _, _ = make_record(MadeCall(plot=plot))
        assert blame_call(record, GOLD_FILE) is None


def test_a_wrong_path_after_a_misheard_turn_is_unclear() -> None:
    record, _, _ = make_record(MadeCall(plot="wrong_path"))
    lost = tuple(t.model_copy(update={"heard": ""}) if t.turn_id == 3 and t.heard else t for t in record.transcript)
    assert blame("wrong_path", transcript=lost).blame == "unclear"


def test_a_value_that_was_heard_right_once_is_the_models_to_use() -> None:
    record, _, _ = make_record(MadeCall(plot="misheard_number"))
    repaired = (*record.transcript, turn("It is 212-555-0133", "It is 212-555-0133", 5))
    assert blame("misheard_number", transcript=repaired).blame == "model"


def test_what_was_said_after_the_call_does_not_count() -> None:
    record, _, _ = make_record(MadeCall(plot="misheard_number"))
    late = turn("212-555-0133", "212-555-0133", 99)
    assert blame("misheard_number", transcript=(*record.transcript, late)).blame == "recogniser"


def test_a_model_that_uses_neither_what_was_said_nor_what_was_heard_is_unclear() -> None:
    record, _, _ = make_record(MadeCall(plot="misheard_number"))
    findings = [
        f.model_copy(update={"args": tuple(a.model_copy(update={"actual": "+12125559999"}) for a in f.args)})
        if f.kind == "missing"
        else f
        for f in record.verdict.tools.findings  # type: ignore[union-attr]
    ]
    tools = record.verdict.tools.model_copy(update={"findings": tuple(findings)})  # type: ignore[union-attr]
    verdict = record.verdict.model_copy(update={"tools": tools})  # type: ignore[union-attr]
    assert blame("misheard_number", verdict=verdict).blame == "unclear"


@pytest.mark.parametrize(
    ("text", "value", "arg_type", "found"),
    [
        ("born July 8, 1979", "1979-07-08", "date", True),
        ("born July 8, 1989", "1979-07-08", "date", False),
        ("born July 8", "1979-07-08", "date", True),
        ("call two one two, five five five, oh one three three", "+12125550133", "phone", True),
        ("call 212 555 0133", "+12125550133", "phone", True),
        ("it's A-N-A F-I-E-L-D", "Ana Field", "name", True),
        ("it's Ana, F-I-E-L-D", "Ana Field", "name", True),
        ("I have a question", 1, "integer", True),
        ("loc a and loc b", ["loc_a", "loc_b"], "array", True),
        ("loc a", ["loc_a", "loc_b"], "array", False),
    ],
)
def test_whether_a_value_was_said(text: str, value: Any, arg_type: Any, found: bool) -> None:
    assert Hearing([turn(text, "")], now=None).said("x", value, arg_type) is found


def test_a_small_id_is_nothing_that_a_caller_says() -> None:
    assert not Hearing([turn("I have a question", "")], now=None).said("appointment_id", 1, "integer")


def test_a_weekday_says_a_date_only_where_the_packs_date_is_known() -> None:
    turns = [turn("Tuesday is fine", "Thursday is fine")]
    now = dt.datetime.fromisoformat("2026-08-20T09:00")
    assert Hearing(turns, now=now).said("day", "2026-08-25", "date")
    assert Hearing(turns, now=now).heard("day", "2026-08-27", "date")
    assert not Hearing(turns, now=None).said("day", "2026-08-25", "date")


def test_what_a_tool_told_is_known_by_its_value_and_a_number_by_its_key_too() -> None:
    call = ToolCall(
        call_id="a", role="r", name="look", args={}, ok=True,
        output={"ok": True, "data": {"appointments": [{"id": 7, "count": 30, "status": "booked"}]}},
    )  # fmt: skip
    assert told([call], "appointment_id", 7, "integer")
    assert not told([call], "minutes", 30, "integer")
    assert told([call], "state", "booked", "string")


def test_the_share_of_words_that_were_lost() -> None:
    assert lost_share(turn("one two three four", "one two")) == 0.5
    assert lost_share(turn("one two", None)) == 1.0
    assert lost_share(turn("One, two.", "one two")) == 0.0
    assert lost_share(turn("", "")) == 0.0
