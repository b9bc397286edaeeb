"""Scores are a function of the set of calls: no order of folders, and no call of another model, moves a figure."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.run_builder import PLOTS, MadeCall, make_record
from support.verifier_cases import GOLD_FILE

from callm_voice.report.score import CallRow, score_run
from callm_voice.report.score_rows import make_row

pytestmark = pytest.mark.property

CALLS = st.builds(
    MadeCall,
    task=st.sampled_from(["demo/C1-E1", "demo/C2-M1", "clinic/C1-H1"]),
    model=st.sampled_from(["a", "b"]),
    line=st.sampled_from(["pstn-g711u", "text"]),
    trial=st.integers(1, 6),
    plot=st.sampled_from(sorted(PLOTS)),
    cost_usd=st.sampled_from([None, 0.1, 0.2, 0.7]),
    ttft_ms=st.tuples(*[st.floats(1, 3_000)] * 4),
    lagged=st.booleans(),
)


def row(n: int, made: MadeCall) -> CallRow:
    """Every call is another one: the second at which it started."""
    record, _, _ = make_record(made)
    record = record.model_copy(update={"started_at": f"2026-01-31T09:00:{n:02}Z"})
    return make_row(record, GOLD_FILE, folder=Path(str(n)))


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_the_order_of_calls_never_counts(data: st.DataObject) -> None:
    rows = [row(n, made) for n, made in enumerate(data.draw(st.lists(CALLS, min_size=1, max_size=8)))]
    shuffled = data.draw(st.permutations(rows))
    assert score_run(rows).model_dump_json() == score_run(shuffled).model_dump_json()


@settings(max_examples=15, deadline=None)
@given(st.lists(CALLS, min_size=1, max_size=8))
def test_a_model_is_scored_by_its_own_calls_alone(calls: list[MadeCall]) -> None:
    rows = [row(n, made) for n, made in enumerate(calls)]
    together = {model.model: model for model in score_run(rows).models}
    for name, found in together.items():
        assert score_run([r for r in rows if r.model == name]).models == (found,)


@settings(max_examples=15, deadline=None)
@given(st.lists(CALLS, min_size=1, max_size=8))
def test_invalid_calls_move_no_score_of_tasks_that_have_valid_ones(calls: list[MadeCall]) -> None:
    rows = [row(n, made) for n, made in enumerate(calls)]
    valid = [r for r in rows if r.scored]
    cells = {(r.model, r.task, r.line) for r in valid}
    kept = [r for r in rows if (r.model, r.task, r.line) in cells]
    with_invalid = {m.model: m for m in score_run(kept).models}
    for found in score_run(valid).models:
        same = with_invalid[found.model]
        assert (found.pass_at_1, found.pass5, found.trials) == (same.pass_at_1, same.pass5, same.trials)
        assert (found.ttft_ms, found.v2v_ms, found.cost_usd) == (same.ttft_ms, same.v2v_ms, same.cost_usd)
