"""A whole scoreboard, as a document and on the terminal, compared with the committed ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cli import callm
from support.report_record import shown
from support.run_builder import sample_calls, write_run

from callm_voice.report.score import load_calls, score_run
from callm_voice.report.score_view import score_view

pytestmark = pytest.mark.golden
GOLDEN = Path(__file__).parent / "score"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"), sample_calls())


def test_the_document_that_the_command_prints_is_the_committed_one(run: Path) -> None:
    document = json.loads((GOLDEN / "sample.json").read_text(encoding="utf-8"))
    printed = callm("score", str(run), "--json")
    assert (printed.code, printed.err) == (0, "")
    assert {**printed.json, "product_version": ""} == {**document, "product_version": ""}


def test_the_view_is_the_committed_text(run: Path) -> None:
    found = score_run(load_calls([run]))
    assert shown(score_view(found)) == (GOLDEN / "sample_80.txt").read_text(encoding="utf-8")


def test_a_filter_is_applied_and_one_that_fits_nothing_is_a_clear_error(run: Path) -> None:
    printed = callm("score", str(run), "--json", "--pack", "clinic", "--line", "text")
    assert [(m["model"], m["trials"]) for m in printed.json["models"]] == [("alpha", 5), ("beta?temperature=0", 5)]
    wrong = callm("score", str(run), "--difficulty", "harder")
    assert wrong.code == 2
    assert wrong.error_lines == ["callm-voice: no difficulty named 'harder'; known: easy, hard, medium"]


def test_a_folder_without_calls_is_a_clear_error(tmp_path: Path) -> None:
    empty = callm("score", str(tmp_path))
    assert (empty.code, len(empty.error_lines)) == (2, 1)


def test_export_writes_all_files_and_names_them(run: Path, tmp_path: Path) -> None:
    done = callm("export", str(run), "--out", str(tmp_path / "out"), "--json")
    assert (done.code, done.json["calls"]) == (0, len(sample_calls()))
    assert [Path(f).name for f in done.json["files"][:4]] == [
        "calls.parquet", "turns.parquet", "inferences.parquet", "tool_calls.parquet",
    ]  # fmt: skip
    assert all(Path(f).is_file() for f in done.json["files"])
    wrong = callm("export", str(run), "--out", str(tmp_path / "out"), "--format", "csv")
    assert (wrong.code, len(wrong.error_lines)) == (2, 1)
