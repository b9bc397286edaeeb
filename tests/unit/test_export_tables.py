"""The Parquet tables: every column is there with its type, the figures are the record's, what is unknown is null."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from support.run_builder import MadeCall, sample_calls, write_run

from callm_voice.report.export_schema import TABLES
from callm_voice.report.export_tables import write_tables
from callm_voice.report.score import CallRow, load_calls

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[CallRow], dict[str, list[dict[str, Any]]]]:
    """The whole sample run."""
    return export(tmp_path_factory.mktemp("sample"), *sample_calls())


def export(tmp_path: Path, *calls: MadeCall) -> tuple[list[CallRow], dict[str, list[dict[str, Any]]]]:
    """The rows of some calls, and table → its rows as they are read back."""
    rows = load_calls([write_run(tmp_path / "run", calls)])
    paths = write_tables(rows, tmp_path / "out")
    return rows, {path.stem: parquet.read_table(path).to_pylist() for path in paths}


def test_each_table_has_the_documented_columns_types_and_meanings(tmp_path: Path) -> None:
    export(tmp_path, MadeCall())
    types = {"float64": "double", "timestamp": "timestamp[ms, tz=UTC]"}
    for name, columns in TABLES.items():
        schema = parquet.read_schema(tmp_path / "out" / f"{name}.parquet")
        expected = [(c.name, types.get(c.type, c.type)) for c in columns]
        assert [(field.name, str(field.type)) for field in schema] == expected
        assert [field.metadata[b"meaning"].decode() for field in schema] == [c.meaning for c in columns]


def test_a_call_is_one_row_that_joins_with_its_turns_inferences_and_tool_calls(sample: tuple[Any, Any]) -> None:
    rows, tables = sample
    calls = {call["call_id"]: call for call in tables["calls"]}
    assert len(calls) == len(tables["calls"]) == len(rows)
    for name in ("turns", "inferences", "tool_calls"):
        for row in tables[name]:
            call = calls[row["call_id"]]
            assert all(row[key] == call[key] for key in ("task", "model", "line", "trial"))


def test_the_share_that_passed_can_be_counted_from_the_table(sample: tuple[Any, Any]) -> None:
    rows, tables = sample
    scored = [call for call in tables["calls"] if call["scored"]]
    assert len(scored) == sum(row.scored for row in rows)
    assert sum(call["status"] == "pass" for call in scored) == sum(row.status == "pass" for row in rows)


def test_what_is_unknown_is_null_and_not_zero(tmp_path: Path) -> None:
    _, tables = export(tmp_path, MadeCall(cost_usd=None, line="text"), MadeCall(plot="harness", trial=2))
    invalid, by_text = sorted(tables["calls"], key=lambda call: call["line"])
    assert (by_text["cost_usd"], by_text["ttft_p50_ms"], by_text["v2v_p50_ms"]) == (None, None, None)
    assert (invalid["tools_passed"], invalid["blame"], invalid["invalid_kind"]) == (None, None, "harness")


def test_turns_hold_what_was_said_heard_and_played(tmp_path: Path) -> None:
    _, tables = export(tmp_path, MadeCall(plot="misheard_name"))
    first = next(turn for turn in tables["turns"] if turn["party"] == "caller")
    assert (first["said"][:26], first["heard"][:27]) == ("Hello, this is Ana Field. ", "Hello, this is Anna Feel. I")
    assert (first["played"], first["v2v_ms"]) == (None, 1_300.0)


def test_a_lagged_calls_inferences_are_there_and_do_not_count(tmp_path: Path) -> None:
    _, tables = export(tmp_path, MadeCall(lagged=True), MadeCall(trial=2))
    assert [row["counts"] for row in tables["inferences"] if row["trial"] == 1] == [False] * 9
    assert [row["counts"] for row in tables["inferences"] if row["trial"] == 2] == [True] * 9


def test_a_missed_call_is_a_row_with_what_was_expected_and_who_lost_it(tmp_path: Path) -> None:
    _, tables = export(tmp_path, MadeCall(plot="misheard_number"))
    *made, missed = tables["tool_calls"]
    assert [row["finding"] for row in made] == ["hit"] * 5 + ["extra"]
    assert (missed["finding"], missed["name"], missed["number"], missed["expected_number"]) == (
        "missing",
        "send_link",
        None,
        6,
    )
    assert json.loads(missed["args"]) == {"mobile": "+12125550133"}
    assert (missed["blame"], json.loads(missed["misheard"])[0]["actual"]) == ("recogniser", "+12125550138")


def test_the_same_calls_give_the_same_tables(tmp_path: Path) -> None:
    calls = [MadeCall(plot=plot, trial=n) for n, plot in enumerate(("pass", "misheard_name", "caller"), start=1)]
    _, first = export(tmp_path / "a", *calls)
    _, second = export(tmp_path / "b", *calls[::-1])
    assert first == second
