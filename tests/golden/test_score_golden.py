"""A whole scoreboard, as a document and on the terminal, compared with the committed ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.report_record import shown
from support.run_builder import sample_calls, write_run

from callm_voice.report.score import RunScore, load_calls, score_run
from callm_voice.report.score_view import score_view

pytestmark = pytest.mark.golden
GOLDEN = Path(__file__).parent / "score"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> RunScore:
    return score_run(load_calls([write_run(tmp_path_factory.mktemp("run"), sample_calls())]))


def test_the_document_is_the_committed_one(found: RunScore) -> None:
    document = json.loads((GOLDEN / "sample.json").read_text(encoding="utf-8"))
    ours = found.model_dump(mode="json")
    assert {**ours, "product_version": ""} == {**document, "product_version": ""}


def test_the_view_is_the_committed_text(found: RunScore) -> None:
    assert shown(score_view(found)) == (GOLDEN / "sample_80.txt").read_text(encoding="utf-8")
