"""The scoreboard's figures against counts made by hand, and what must never move them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.run_builder import MadeCall, Plot, make_record, write_call, write_run
from support.verifier_cases import GOLD_FILE

from callm_voice.core.errors import ConfigError, NotFoundError
from callm_voice.core.score_format import ModelScore
from callm_voice.report.score import CallRow, filter_rows, load_calls, score_run, unfinished
from callm_voice.report.score_figures import median_interval
from callm_voice.report.score_rows import failure_kinds, make_row

pytestmark = pytest.mark.unit


def row(made: MadeCall) -> CallRow:
    record, _, _ = make_record(made)
    return make_row(record, GOLD_FILE, folder=Path("calls") / str(made.folder))


def rows(*plots: Plot, **fields: object) -> list[CallRow]:
    """One trial a plot of one task."""
    return [row(MadeCall(plot=plot, trial=n, **fields)) for n, plot in enumerate(plots, start=1)]  # type: ignore[arg-type]


def only(found: list[CallRow]) -> ModelScore:
    (model,) = score_run(found).models
    return model


def test_pass_at_1_is_the_mean_over_tasks_and_lines_of_the_share_that_passed() -> None:
    found = only(
        rows("pass", "pass", "wrong_path", "pass") + rows("wrong_path", line="mobile") + rows("pass", task="demo/C2-M1")
    )
    assert found.pass_at_1 == ((3 / 4 + 0) / 2 + 1) / 2
    assert (found.tasks, found.trials, found.passed) == (2, 6, 4)


def test_pass5_of_five_passes_is_one_and_with_fewer_trials_it_has_bounds() -> None:
    full = only(rows(*["pass"] * 5))
    assert (full.pass5, full.pass5_low, full.pass5_high) == (1.0, 1.0, 1.0)
    part = only(rows(*["pass"] * 4))
    assert (part.pass5, part.pass5_low, part.pass5_high) == (None, 0.0, 1.0)


@pytest.mark.parametrize("kind", ["harness", "infrastructure", "caller"])
def test_an_invalid_call_is_counted_by_its_kind_and_never_scored(kind: Plot) -> None:
    found = only([*rows("pass", "extra_row"), row(MadeCall(plot=kind, trial=3))])
    assert (found.pass_at_1, found.trials, found.invalid) == (0.5, 2, 1)
    assert found.invalid_by_kind == {"harness": 0, "infrastructure": 0, "caller": 0} | {kind: 1}
    assert found.tasks_detail[0].results == ("pass", "fail")


def test_a_task_with_invalid_calls_alone_has_no_score_and_no_zero() -> None:
    found = only(rows("pass") + rows("harness", task="demo/C2-M1"))
    assert (found.pass_at_1, found.pass_at_1_low, found.pass_at_1_high) == (None, 0.5, 1.0)


def test_a_superseded_call_is_counted_and_never_scored(tmp_path: Path) -> None:
    write_call(tmp_path, MadeCall(plot="pass"))
    write_call(tmp_path, MadeCall(plot="wrong_path", trial=2))
    (tmp_path / "superseded").mkdir()
    shutil.move(tmp_path / MadeCall(trial=2).folder, tmp_path / "superseded" / "t2")
    found = score_run(load_calls([tmp_path]))
    assert (found.calls.superseded, found.models[0].superseded, found.models[0].pass_at_1) == (1, 1, 1.0)


def test_the_same_call_by_two_ways_is_one(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [MadeCall()])
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert len(load_calls([tmp_path / "a", tmp_path, tmp_path / "b"])) == 1


def test_the_headline_is_over_voice_and_text_stands_beside_it() -> None:
    found = only(rows("wrong_path") + rows("pass", line="text"))
    assert (found.basis, found.pass_at_1, found.lines) == ("voice", 0.0, ("pstn-g711u",))
    assert {g.key: g.pass_at_1 for g in found.by_line} == {"pstn-g711u": 0.0, "text": 1.0}


def test_a_model_that_was_called_by_text_alone_is_scored_by_text_without_latency() -> None:
    found = only(rows("pass", line="text"))
    assert (found.basis, found.pass_at_1, found.in_category, found.ttft_ms.p50) == ("text", 1.0, None, None)


def test_what_voice_costs_is_paired_by_task() -> None:
    voice = rows("wrong_path", "pass") + rows("pass", task="demo/C3-E1")
    text = rows("pass", "pass", line="text") + rows("pass", task="demo/C9-E1", line="text")
    (cost,) = score_run(voice + text).voice_cost
    assert (cost.line, cost.tasks, cost.pass_at_1_text, cost.pass_at_1_voice) == ("pstn-g711u", 1, 1.0, 0.5)
    assert cost.mean_difference == -0.5


def test_models_are_compared_in_pairs_with_adjusted_p_values() -> None:
    tasks = [f"demo/C{n}-E1" for n in range(1, 9)]
    found = score_run(
        [r for t in tasks for r in rows("pass", task=t, model="a")]
        + [r for t in tasks for r in rows("wrong_path", task=t, model="b")]
        + [r for t in tasks for r in rows("pass", task=t, model="c")]
    )
    pairs = {(c.first, c.second): c for c in found.comparisons}
    assert pairs["a", "b"].mean_difference == 1.0
    assert (pairs["a", "b"].p_value, pairs["a", "b"].better) == (2 / 2**8, "a")
    assert pairs["a", "b"].p_holm == 3 * 2 / 2**8
    assert (pairs["a", "c"].p_value, pairs["a", "c"].better) == (1.0, None)
    assert [m.model for m in found.models] == ["a", "c", "b"]


def test_the_category_needs_a_median_of_at_most_the_bar() -> None:
    assert only(rows("pass", ttft_ms=(1_000.0, 900.0, 1_000.0, 2_000.0))).in_category is True
    assert only(rows("pass", ttft_ms=(1_001.0, 1_001.0, 900.0, 1_001.0))).in_category is False


def test_a_lagged_call_is_scored_and_its_latency_is_left_out() -> None:
    found = only([row(MadeCall()), row(MadeCall(trial=2, lagged=True, ttft_ms=(9_000.0,) * 4))])
    assert (found.trials, found.latency_left_out, found.ttft_ms.n, found.v2v_ms.n) == (2, 1, 4, 4)


def test_an_unknown_cost_is_none_and_not_zero() -> None:
    known = only([row(MadeCall(cost_usd=0.02)), row(MadeCall(trial=2, cost_usd=0.04))])
    assert known.cost_usd == 0.03
    mixed = only([row(MadeCall(cost_usd=0.02)), row(MadeCall(trial=2, cost_usd=None))])
    assert (mixed.cost_usd, mixed.cost.known_calls, mixed.cost.unknown_calls, mixed.cost.total_usd) == (
        None,
        1,
        1,
        0.02,
    )
    assert only([row(MadeCall(cost_usd=None))]).cost.total_usd is None


def test_the_callers_cost_is_kept_apart() -> None:
    found = only([row(MadeCall(cost_usd=None, caller_cost_usd=0.5))])
    assert (found.cost_usd, found.cost.total_usd, found.cost.caller_per_call_usd) == (None, None, 0.5)


def test_gates_tools_and_kinds_of_failed_calls_are_counted() -> None:
    found = only(rows("pass", "missing_call", "extra_row", "wrong_path", "not_run"))
    assert found.gates_failed == {"tools": 2, "path": 1, "state": 2}
    assert [(t.tool, t.missed, t.expected) for t in found.most_missed_tools] == [
        ("find_slots", 1, 5),
        ("send_link", 1, 5),
    ]
    assert found.failure_kinds == {
        "path_other": 1, "row_extra": 1, "row_missing": 1, "tool_not_called": 1, "tool_not_run": 1,
    }  # fmt: skip


def test_a_call_that_nobody_hung_up_says_how_it_ended() -> None:
    record, _, _ = make_record(MadeCall(plot="wrong_path"))
    assert failure_kinds(record.verdict, "max_turns") == ("ended_max_turns", "path_other")


def test_blame_is_for_failed_voice_calls_alone() -> None:
    found = score_run(rows("misheard_name", "wrong_argument", "pass") + rows("wrong_argument", line="text"))
    (blame,) = found.blame
    assert (blame.failed, blame.calls) == (2, {"recogniser": 1, "model": 1, "caller": 0, "unclear": 0})
    assert [(w.said, w.heard) for w in blame.words] == [("Ana Field.", "Anna Feel.")]


def test_groups_by_pack_category_and_difficulty() -> None:
    found = only(rows("pass") + rows("wrong_path", task="clinic/C2-H3") + rows("pass", task="clinic/odd"))
    assert {g.key: g.pass_at_1 for g in found.by_pack} == {"clinic": 0.5, "demo": 1.0}
    assert {g.key: g.pass_at_1 for g in found.by_category} == {"clinic/C2": 0.0, "demo/C1": 1.0}
    assert {g.key: g.pass_at_1 for g in found.by_difficulty} == {"easy": 1.0, "hard": 0.0}


def test_filters_let_through_what_fits_and_name_what_is_known() -> None:
    every = rows("pass") + rows("pass", task="clinic/C2-H3", line="text", model="b")
    assert len(filter_rows(every, packs=["demo"])) == 1
    assert len(filter_rows(every, categories=["C2"])) == len(filter_rows(every, categories=["clinic/C2"])) == 1
    assert filter_rows(every, difficulties=["easy"], models=["b"]) == []
    with pytest.raises(NotFoundError, match="known: clinic, demo"):
        filter_rows(every, packs=["nix"])


def test_what_keeps_scores_from_being_comparable_is_noted() -> None:
    other = make_record(MadeCall(trial=2))[0]
    config = other.config.model_copy(update={"pack_hash": "cd" * 32, "pipeline": "gpu"})
    changed = make_row(other.model_copy(update={"config": config}), GOLD_FILE, folder=Path("x"))
    lacking = rows("pass", model="b", task="demo/C7-E1")
    notes = "\n".join(score_run([*rows("pass"), changed, *lacking]).notes)
    assert "pack demo: calls of 2 different states" in notes
    assert "different pipelines: cpu, gpu" in notes
    assert "model b: no valid call of 1 of 2 task and line pairs" in notes
    assert score_run(rows("pass")).notes == ()


def test_a_verdict_of_another_verifier_is_computed_anew(tmp_path: Path) -> None:
    folder = write_call(tmp_path, MadeCall(plot="pass"))
    record = json.loads((folder / "call.json").read_text())
    record["verdict"]["verifier_version"] = "0.0.1"
    record["verdict"]["passed"], record["outcome"]["status"] = False, "fail"
    (folder / "call.json").write_text(json.dumps(record))
    found = score_run(load_calls([tmp_path]))
    assert found.models[0].pass_at_1 == 1.0
    assert "1 verdicts of another version" in found.notes[0]


def test_a_failed_call_without_gold_is_scored_and_blames_nobody(tmp_path: Path) -> None:
    folder = write_call(tmp_path, MadeCall(plot="wrong_path"))
    (folder / "gold.json").unlink()
    found = score_run(load_calls([tmp_path]))
    assert (found.models[0].pass_at_1, found.blame[0].failed) == (0.0, 0)
    assert "no gold.json" in found.notes[0]


def test_a_folder_without_calls_and_a_broken_record_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no finished call"):
        load_calls([tmp_path])
    folder = write_call(tmp_path, MadeCall())
    (folder / "call.json").write_text("{}")
    with pytest.raises(ConfigError, match="not a call record"):
        load_calls([tmp_path])


def test_the_interval_of_the_median_resamples_tasks() -> None:
    assert median_interval([[1.0, 2.0]]) == (None, None)
    low, high = median_interval([[100.0] * 9, [200.0] * 9, [300.0] * 9])
    assert (low, high) == (100.0, 300.0)
    assert median_interval([[5.0], [5.0]]) == (5.0, 5.0)


def test_a_trial_of_two_runs_counts_twice_and_is_no_error() -> None:
    first = MadeCall(plot="pass")
    again = replace(first, plot="wrong_path", changes={"started_at": "2026-02-01T09:30:00Z"})
    assert only([row(first), row(again)]).pass_at_1 == 0.5


def test_a_planned_run_that_is_not_done_says_so(tmp_path: Path) -> None:
    write_run(tmp_path, [MadeCall(), MadeCall(plot="harness", trial=2)])
    (tmp_path / "plan.json").write_text(json.dumps({"calls": [{}, {}]}))
    rows = load_calls([tmp_path])
    (remark,) = unfinished([tmp_path], rows)
    assert remark == f"run {tmp_path.name}: 1 of 2 planned calls are scored"
    assert score_run(rows, remarks=[remark]).notes == (remark,)
    (tmp_path / "plan.json").write_text(json.dumps({"calls": [{}]}))
    assert unfinished([tmp_path], rows) == ()
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(ConfigError, match="not a plan"):
        unfinished([tmp_path], rows)
