"""The state gate and the expected state that it compares with."""

from __future__ import annotations

from typing import Any

import pytest
from support.verifier_cases import GOLD_FILE, SEED, perfect_state, perfect_trace

from verifier.gates import state_gate
from verifier.gold import ChangedRow, GoldError, TableChange
from verifier.trace import Row, State
from verifier.verify import expected_state, verify

pytestmark = pytest.mark.unit


def changed(where: Row, values: Row) -> TableChange:
    return TableChange(changed=(ChangedRow(where=where, set=values),))


def test_gold_is_the_seed_with_rows_written_changed_and_cleared() -> None:
    assert state_gate(expected_state(SEED, GOLD_FILE.gold.state), perfect_state(), {}).passed


def test_the_seed_is_not_touched() -> None:
    before = repr(SEED)
    expected_state(SEED, GOLD_FILE.gold.state)
    assert repr(SEED) == before


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"apointments": TableChange()}, "state.apointments", "no such table"),
        ({"appointments": changed({"id": 7}, {"start": "x"})}, "state.appointments.changed.0.where", "picks 0 rows"),
        ({"appointments": changed({}, {"start": "x"})}, "state.appointments.changed.0.where", "picks 2 rows"),
        ({"appointments": changed({"nr": 1}, {"start": "x"})}, "state.appointments.changed.0.where", "no column 'nr'"),
        ({"appointments": changed({"id": 1}, {"begin": "x"})}, "state.appointments.changed.0.set", "no column 'begin'"),
        ({"appointments": changed({"id": 1}, {"id": 1.0})}, "state.appointments.changed.0.set", "already"),
        ({"slots": TableChange(cleared=({"open": 1},))}, "state.slots.cleared.0", "picks 2 rows"),
        ({"slots": TableChange(cleared=({"slot_id": "s1"},) * 2)}, "state.slots.cleared.1", "already names"),
        ({"slots": TableChange(written=({"slot": "s3"},))}, "state.slots.written.0", "no column 'slot'"),
    ],
)
def test_gold_that_does_not_fit_its_seed_is_refused_with_its_place(
    changes: dict[str, TableChange], key: str, problem: str
) -> None:
    with pytest.raises(GoldError) as caught:
        expected_state(SEED, changes)
    assert caught.value.key == key
    assert problem in caught.value.problem


def test_a_wrong_value_shows_as_one_missing_and_one_extra_row_that_name_each_other() -> None:
    state = perfect_state()
    state["appointments"][1]["status"] = "cancelled"
    gate = verify(perfect_trace(), state, GOLD_FILE).state
    missing, extra = gate.findings
    assert not gate.passed
    assert (missing.kind, extra.kind, missing.table) == ("missing", "extra", "appointments")
    assert (missing.row["status"], extra.row["status"]) == ("booked", "cancelled")
    assert (missing.differs_from, extra.differs_from) == (extra.row, missing.row)


def test_one_extra_row_fails_and_is_shown_alone() -> None:
    state = perfect_state()
    state["links"].append({"id": 2, "mobile": "+12125550199", "amount_cents": 100})
    gate = verify(perfect_trace(), state, GOLD_FILE).state
    assert [(f.kind, f.table, f.row["id"], f.differs_from) for f in gate.findings] == [("extra", "links", 2, None)]


def test_a_row_that_stands_twice_is_one_extra_row() -> None:
    state = perfect_state()
    state["slots"].append(dict(state["slots"][0]))
    assert [f.kind for f in verify(perfect_trace(), state, GOLD_FILE).state.findings] == ["extra"]


def test_a_row_in_a_table_that_nobody_expected_fails() -> None:
    assert not verify(perfect_trace(), perfect_state() | {"notes": [{"id": 1}]}, GOLD_FILE).state.passed


def test_a_table_that_is_gone_shows_its_rows_as_missing() -> None:
    state = perfect_state()
    del state["patients"]
    assert [f.kind for f in verify(perfect_trace(), state, GOLD_FILE).state.findings] == ["missing", "missing"]


def test_ignored_columns_are_neither_compared_nor_shown() -> None:
    state = perfect_state()
    state["appointments"][0] |= {"created_at": "2031-01-01", "status": "gone"}
    gate = verify(perfect_trace(), state, GOLD_FILE).state
    assert len(gate.findings) == 2
    assert all("created_at" not in finding.row for finding in gate.findings)


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        (1, 1.0, True),
        (True, 1, True),  # SQLite stores true as 1
        ("1", 1, False),
        ("Ana", "ana", False),
        ("a", "a ", False),
        (None, None, True),
        (None, 0, False),
        (None, "", False),
        (2**53 + 1, float(2**53), False),
    ],
)
def test_values_of_rows_are_compared_exactly(expected: Any, actual: Any, equal: bool) -> None:
    left: State = {"t": [{"id": 1, "v": expected}]}
    assert state_gate(left, {"t": [{"id": 1, "v": actual}]}, {}).passed is equal


def test_a_column_that_gold_leaves_out_is_null() -> None:
    assert state_gate({"t": [{"id": 1}]}, {"t": [{"id": 1, "note": None}]}, {}).passed
    assert not state_gate({"t": [{"id": 1}]}, {"t": [{"id": 1, "note": "x"}]}, {}).passed


def test_which_of_two_equal_rows_is_shown_as_extra_does_not_depend_on_their_order() -> None:
    rows: list[Row] = [{"id": 1, "note": None}, {"id": 1}]
    assert state_gate({"t": [{"id": 1}]}, {"t": rows}, {}) == state_gate({"t": [{"id": 1}]}, {"t": rows[::-1]}, {})


def test_rows_without_an_id_are_paired_with_the_closest_row() -> None:
    expected: State = {"t": [{"a": 1, "b": 2, "c": 3}, {"a": 7, "b": 8, "c": 9}]}
    actual: State = {"t": [{"a": 7, "b": 8, "c": 0}, {"a": 1, "b": 2, "c": 0}]}
    pairs = [(f.row["a"], f.differs_from and f.differs_from["a"]) for f in state_gate(expected, actual, {}).findings]
    assert pairs == [(1, 1), (1, 1), (7, 7), (7, 7)]
