"""The page of outcomes is the table that the fault tests make calls for, and it is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.bench.fault_hooks import FaultHooks
from callm_voice.bench.faults import KINDS, parse_fault
from callm_voice.bench.faults_table import ENDINGS, LIMITS, unlisted
from callm_voice.bench.outcomes_doc import page
from callm_voice.core.errors import NotFoundError, UsageError
from callm_voice.pipeline.spec import LimitSettings

pytestmark = pytest.mark.meta
PAGE = Path(__file__).parents[2] / "docs" / "outcomes.md"


def test_the_page_is_made_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m callm_voice.bench.outcomes_doc and commit docs/"


def test_every_fault_has_a_row_of_its_own_and_no_row_stands_twice() -> None:
    assert unlisted() == set()
    rows = [row.fault for row in ENDINGS]
    assert set(KINDS) <= set(rows), "each as it is without WHEN"
    assert len(set(rows)) == len(rows)


def test_every_limit_is_a_key_of_the_pipeline() -> None:
    assert {limit.key for limit in LIMITS} <= set(LimitSettings.model_fields)


@pytest.mark.parametrize("row", ENDINGS, ids=lambda row: row.fault)
def test_an_ending_is_whole(row) -> None:
    assert (row.kind is not None) == (row.status == "invalid")
    assert (row.reason is None) == (row.status == "none")
    assert (row.in_run == "counts") == (row.status in ("pass", "fail"))


@pytest.mark.parametrize("name", KINDS)
def test_a_fault_is_what_its_text_says(name: str) -> None:
    default = parse_fault(name)
    assert parse_fault(str(default)) == default
    once, on = parse_fault(f"{name}@3"), parse_fault(f"{name}@3+")
    assert [once.hits(n) for n in (1, 2, 3, 4)] == [False, False, True, False]
    assert [on.hits(n) for n in (1, 2, 3, 4)] == [False, False, True, True]
    assert FaultHooks(on).warnings == [f"fault injected: {name}@3+"]


def test_an_unknown_fault_lists_those_that_are() -> None:
    with pytest.raises(NotFoundError, match=r"no fault named 'llm-402'; known: .*llm-401.*worker-killed"):
        parse_fault("llm-402@1")


@pytest.mark.parametrize("when", ["", "0", "-1", "two", "1-3", "1++", "9999999"])
def test_a_wrong_moment_is_a_usage_error(when: str) -> None:
    with pytest.raises(UsageError, match=r"expected stt-slow@N or stt-slow@N\+") as caught:
        parse_fault(f"stt-slow@{when}")
    assert "turn" in caught.value.hint
