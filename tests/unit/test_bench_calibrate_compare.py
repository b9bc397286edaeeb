"""Calibration: the arithmetic of the comparison, on figures made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.probes_call import AGENT_WIRE, CALLER_WIRE, inference, line_ended, plain_answer

from callm_voice.bench.calibrate import Plan, call_spec, report, summary_line
from callm_voice.bench.calibrate_compare import (
    compare_barge_ins,
    compare_ttft,
    compare_v2v,
    errors,
    interrupted_in_statistics,
    missed_bars,
    pair_requests,
    spans_sum_error_ms,
)
from callm_voice.bench.calibrate_format import Case, Comparison, Errors
from callm_voice.bench.calibrate_sounds import Found, TooShort
from callm_voice.bench.calibrate_truth import (
    BargeInTruth,
    Located,
    TurnTruth,
    barge_in_truths,
    turn_truths,
)
from callm_voice.core.events import BargeIn, Event, InferenceMark, TurnEnded
from callm_voice.core.latency import BargeInTiming, LatencySummary
from callm_voice.line.profile import load_profile
from callm_voice.probes.latency import summarise

pytestmark = pytest.mark.unit


def summary(events: list[Event]) -> LatencySummary:
    return summarise([*events, line_ended()], CALLER_WIRE, AGENT_WIRE, 8000, scripted=True)


def entry(
    first_s: float | None = 0.25, last_s: float | None = 0.5, *, messages: int = 2, tools: int = 1
) -> dict[str, Any]:
    at_s = 5000.0
    return {
        "messages": 2, "tools": 1, "received_s": at_s,
        "first_token_s": None if first_s is None else at_s + first_s,
        "last_token_s": None if last_s is None else at_s + last_s,
    }  # fmt: skip


def comparison(error_ms: float) -> Comparison:
    return Comparison(what="x", probe_ms=100 + error_ms, truth_ms=100)


def case(**fields: Any) -> Case:
    plain: dict[str, Any] = {
        "pipeline": "scripted", "ttft_ms": 50, "folder": "f", "outcome": "pass", "inferences": 1, "interrupted": 0,
        "interrupted_in_statistics": 0, "turns": 1, "barge_ins": 0, "ttft": (comparison(1),), "last_token": (),
        "v2v": (comparison(2),), "barge_in": (), "spans_sum_error_ms": 0.0, "latency_valid": True,
    }  # fmt: skip
    return Case.model_validate({**plain, **fields})


def test_errors_are_magnitudes_and_the_bias_keeps_its_sign() -> None:
    found = errors([comparison(e) for e in (-4, -3, 1)])
    assert (found.n, found.p50, found.max, found.bias) == (3, 3, 4, -3)


def test_nothing_compared_is_not_an_error_of_zero() -> None:
    assert errors([]) == Errors(n=0)


def test_ttft_is_compared_with_the_server_s_duration_not_its_clock() -> None:
    latency = summary(inference(1, 3910, 4163))
    first, _, missing = compare_ttft(latency, {1: entry(0.25)})
    assert ([round(c.error_ms, 3) for c in first], missing) == ([3.0], [])


def test_the_last_token_is_compared_too() -> None:
    events = [*inference(1, 1000, 1252), InferenceMark(t_ms=1504, inference_id=1, mark="last_token")]
    _, last, _ = compare_ttft(summary(events), {1: entry(0.25, 0.5)})
    assert [round(c.error_ms, 3) for c in last] == [4.0]


def test_an_interrupted_inference_without_a_token_has_nothing_to_compare() -> None:
    latency = summary(inference(1, 1000, None, interrupted=True))
    assert compare_ttft(latency, {1: entry(None, None)}) == ([], [], [])


def test_an_interrupted_inference_with_a_token_is_compared_but_not_its_end() -> None:
    events = [
        *inference(1, 1000, 1252, interrupted=True), InferenceMark(t_ms=1300, inference_id=1, mark="last_token"),
    ]  # fmt: skip
    first, last, missing = compare_ttft(summary(events), {1: entry()})
    assert (len(first), last, missing) == (1, [], [])


def test_an_inference_that_the_server_did_not_log_is_named() -> None:
    _, _, missing = compare_ttft(summary(inference(1, 1000, 1252)), {})
    assert missing == ["inference 1 (caller_turn): not in the server's log"]


def test_requests_are_paired_in_order_and_a_cancelled_one_is_passed_over() -> None:
    first, cancelled, third = inference(1, 0, 100)[0], inference(2, 1000, None)[0], inference(3, 2000, 2100)[0]
    log = [entry(0.1), entry(0.2)]
    pairs = pair_requests([first, cancelled.model_copy(update={"messages": 4}), third], log)
    assert pairs == {1: log[0], 3: log[1]}


def test_neither_kind_of_interrupted_inference_enters_a_statistic() -> None:
    """One cut before its first token, one after it, one whole."""
    latency = summary(
        inference(1, 0, None, interrupted=True) + inference(2, 1000, 9000, interrupted=True) + inference(3, 2000, 2100)
    )
    assert (latency.ttft["all"].n, latency.ttft["all"].max) == (1, 100)
    assert (latency.interrupted_inferences, interrupted_in_statistics(latency)) == (2, 0)


def test_an_interrupted_inference_in_a_statistic_would_show() -> None:
    latency = summary(inference(1, 0, 100))
    marked = latency.inferences[0].model_copy(update={"interrupted": True})
    assert interrupted_in_statistics(latency.model_copy(update={"inferences": (marked,)})) == 1


def test_v2v_is_compared_turn_by_turn_and_what_lacks_a_partner_is_named() -> None:
    latency = summary(plain_answer())
    pairs, missing = compare_v2v(latency, [TurnTruth(1, 1335.0), TurnTruth(2, 900.0)])
    assert [(c.what, c.error_ms) for c in pairs] == [("turn 1", 5.0)]
    assert missing == ["turn 2: without a figure of the probes"]
    assert compare_v2v(latency, [])[1] == ["turn 1: not found in the recording"]


def test_reactions_to_barge_ins_are_compared_by_the_turn_that_was_cut() -> None:
    timing = BargeInTiming(
        turn_id=3, detected_ms=3120, onset_ms=3000, silent_ms=3160, detection_to_stop_ms=20, detection_to_silence_ms=40,
        onset_to_stop_ms=160,
    )  # fmt: skip
    latency = summary([]).model_copy(update={"barge_ins": (timing,)})
    pairs, missing = compare_barge_ins(latency, [BargeInTruth(3, 158)])
    assert ([c.error_ms for c in pairs], missing) == ([2], [])
    assert compare_barge_ins(latency, [])[1] == ["barge-in over turn 3: not found in the recording"]


def test_spans_that_sum_to_v2v_are_off_by_nothing_and_a_lost_one_shows() -> None:
    latency = summary(plain_answer())
    assert spans_sum_error_ms(latency) == 0
    turn = latency.turns[0].model_copy(update={"spans": latency.turns[0].spans[:-1]})
    assert spans_sum_error_ms(latency.model_copy(update={"turns": (turn,)})) == latency.turns[0].spans[-1].duration_ms


GOOD = Errors(n=9, p50=1, p95=4, max=6, bias=1)


def test_all_bars_held_is_nothing_missed() -> None:
    assert missed_bars([case()], GOOD, GOOD) == []


@pytest.mark.parametrize(
    ("ttft", "v2v", "expected"),
    [
        (Errors(n=9, p95=5.1), GOOD, "TTFT: P95 of the probe's error is 5.1 ms, bar 5 ms"),
        (GOOD, Errors(n=9, p95=21), "V2V: P95 of the probe's error is 21.0 ms, bar 20 ms"),
        (Errors(n=0), GOOD, "TTFT: nothing was compared"),
    ],
)
def test_a_bar_that_is_missed_is_named(ttft: Errors, v2v: Errors, expected: str) -> None:
    assert missed_bars([case()], ttft, v2v) == [expected]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"outcome": "fail"}, "scripted, 50 ms: the oracle's call is fail"),
        ({"spans_sum_error_ms": 0.02}, "scripted, 50 ms: spans are 0.02 ms off their sum"),
        ({"interrupted_in_statistics": 1}, "scripted, 50 ms: interrupted inferences stand in the TTFT statistics"),
        ({"missing": ("turn 4: not found in the recording",)}, "scripted, 50 ms: turn 4: not found in the recording"),
    ],
)
def test_a_case_that_proves_nothing_does_not_pass(fields: dict[str, Any], expected: str) -> None:
    assert missed_bars([case(**fields)], GOOD, GOOD) == [expected]


def test_the_report_is_over_all_cases() -> None:
    found = report(Plan(Path("r")), load_profile("pstn-g711u"), [case(), case(v2v=(comparison(-30),))])
    assert (found.ttft_error_ms.n, found.v2v_error_ms.max, found.passed) == (2, 30, False)
    assert "V2V off by 30.0 ms at most" in summary_line(found.cases[1])
    assert "reaction nothing compared" in summary_line(found.cases[1])


def test_each_case_has_a_folder_of_its_own() -> None:
    plan = Plan(Path("r"))
    folders = {call_spec(plan, p, t).folder() for p in plan.pipelines for t in plan.ttfts_ms}
    assert len(folders) == len(plan.pipelines) * len(plan.ttfts_ms)


# -- the truth out of located sounds -----------------------------------------------------------------------------------


def at(began_ms: float, onset_ms: float, end_ms: float, *, turn: int = 0) -> Located:
    return Located(turn, began_ms, Found(onset_ms, end_ms, 1.0))


TURN = TurnEnded(t_ms=3500, turn_id=1, why="silence", audio_ms=2000)


def test_v2v_is_from_the_end_of_the_last_utterance_to_the_onset_of_the_first_sentence() -> None:
    said = [at(500, 510, 900), at(1000, 1010, 3000), at(3600, 3610, 5000)]
    answers = [at(0, 10, 400, turn=0), at(4300, 4340, 5000, turn=1), at(5000, 5010, 6000, turn=1)]
    assert turn_truths([TURN], said, answers) == [TurnTruth(1, 1340)]


def test_a_turn_whose_sounds_were_not_found_has_no_truth() -> None:
    said, answer = at(1000, 1010, 3000), at(4300, 4340, 5000, turn=1)
    assert turn_truths([TURN], [said], []) == []
    assert turn_truths([TURN], [said], [Located(1, 4300, None)]) == []
    assert turn_truths([TURN], [Located(0, 1000, None)], [answer]) == []


def test_the_reaction_is_from_the_caller_s_onset_to_the_agent_s_end() -> None:
    event = BargeIn(t_ms=3100, turn_id=1)
    said, cut, later = at(3000, 3004, 4000), at(1000, 1010, 3160, turn=1), at(4300, 4310, 5000, turn=2)
    assert barge_in_truths([event], [said], [cut, later]) == [BargeInTruth(1, 156)]


def test_an_agent_in_a_pause_reacts_at_once() -> None:
    event = BargeIn(t_ms=3100, turn_id=1)
    assert barge_in_truths([event], [at(3000, 3004, 4000)], [at(1000, 1010, 2800, turn=1)]) == [BargeInTruth(1, 0)]


BARGE_IN = BargeIn(t_ms=3100, turn_id=1)
SHORT = Located(1, 3000, TooShort())


def test_a_barge_in_over_silence_or_over_a_moment_of_sound_has_no_reaction() -> None:
    said = [at(3000, 3004, 4000)]
    assert barge_in_truths([BARGE_IN], said, []) == [BargeInTruth(1, None)]
    assert barge_in_truths([BARGE_IN], said, [at(1000, 1010, 2800, turn=1), SHORT]) == [BargeInTruth(1, None)]


def test_a_barge_in_whose_sounds_are_not_in_the_recording_has_no_truth() -> None:
    heard = at(1000, 1010, 3160, turn=1)
    assert barge_in_truths([BARGE_IN], [Located(0, 3000, None)], [heard]) == []
    assert barge_in_truths([BARGE_IN], [at(3000, 3004, 4000)], [heard, Located(1, 2000, None)]) == []


def test_an_answer_of_which_too_little_was_played_has_no_v2v_to_compare() -> None:
    truths = turn_truths([TURN], [at(1000, 1010, 3000)], [SHORT])
    assert truths == [TurnTruth(1, None)]
    assert compare_v2v(summary(plain_answer()), truths) == ([], [])


def test_a_reaction_that_cannot_be_found_is_left_out_and_one_that_the_probe_lacks_is_named() -> None:
    timing = BargeInTiming(
        turn_id=1, detected_ms=1, onset_ms=None, silent_ms=None, detection_to_stop_ms=None,
        detection_to_silence_ms=None, onset_to_stop_ms=None,
    )  # fmt: skip
    latency = summary([]).model_copy(update={"barge_ins": (timing,)})
    assert compare_barge_ins(latency, [BargeInTruth(1, None)]) == ([], [])
    assert compare_barge_ins(latency, [BargeInTruth(1, 80)]) == (
        [], ["barge-in over turn 1: without a figure of the probes"],
    )  # fmt: skip
