"""The summary: TTFT by cause, the bar, what is left out, harness lag."""

from __future__ import annotations

import pytest
from support.probes_call import AGENT_WIRE, CALLER_WIRE, inference, line_ended, plain_answer

from callm_voice.core.events import Event, InferenceMark, InferenceStarted, LineLag
from callm_voice.core.latency import LatencySummary
from callm_voice.probes.latency import LagLimits, inference_latencies, summarise

pytestmark = pytest.mark.unit


def summary(events: list[Event], **options: object) -> LatencySummary:
    if not any(e.type == "line_ended" for e in events):
        events = [*events, line_ended()]
    return summarise(events, CALLER_WIRE, AGENT_WIRE, 8000, **{"scripted": False, **options})


def test_ttft_counts_from_the_request_to_the_first_token() -> None:
    (found,) = inference_latencies(inference(1, 3910, 4110.25))
    assert found.ttft_ms == 200.25


def test_every_mark_has_its_field() -> None:
    marks = ["stream_opened", "first_chunk", "first_reasoning", "first_token", "first_speakable", "last_token"]
    events = inference(1, 1000, None) + [
        InferenceMark(t_ms=1001 + i, inference_id=1, mark=mark) for i, mark in enumerate(marks)
    ]
    (found,) = inference_latencies(events)
    assert [
        found.stream_opened_ms, found.first_chunk_ms, found.first_reasoning_ms, found.ttft_ms, found.first_speakable_ms,
        found.last_token_ms,
    ] == [1, 2, 3, 4, 5, 6]  # fmt: skip


def test_a_moment_that_never_came_is_none() -> None:
    (found,) = inference_latencies(inference(1, 1000, None))
    assert (found.ttft_ms, found.stream_opened_ms) == (None, None)


def test_the_tokens_of_the_answer_are_kept() -> None:
    (found,) = inference_latencies(inference(1, 0, 9, prompt_tokens=3125, cached_tokens=3000, completion_tokens=12))
    assert (found.prompt_tokens, found.cached_tokens, found.completion_tokens) == (3125, 3000, 12)


def test_an_inference_that_never_ended_was_interrupted() -> None:
    (found,) = inference_latencies([e for e in inference(1, 0, 9) if e.type != "inference_ended"])
    assert found.interrupted


def test_ttft_is_split_by_cause_and_all_holds_every_one() -> None:
    events = (
        inference(1, 0, 100, cause="greeting")
        + inference(2, 1000, 1300)
        + inference(3, 2000, 2200, cause="tool_result")
        + inference(4, 3000, 3400, cause="handoff")
    )
    found = summary(events).ttft
    assert {cause: figures.n for cause, figures in found.items()} == {
        "greeting": 1, "caller_turn": 1, "tool_result": 1, "handoff": 1, "all": 4,
    }  # fmt: skip
    assert found["all"].p50 == 250


@pytest.mark.parametrize(("ttft_ms", "expected"), [(1000, True), (1000.001, False), (250, True)])
def test_the_category_is_a_median_of_at_most_the_bar(ttft_ms: float, expected: bool) -> None:
    assert summary(inference(1, 0, ttft_ms)).in_category is expected


def test_other_causes_do_not_move_the_category() -> None:
    assert summary(inference(1, 0, 250) + inference(2, 2000, 9000, cause="handoff")).in_category is True


def test_no_caller_turn_gives_no_category() -> None:
    found = summary(inference(1, 0, 100, cause="greeting"))
    assert (found.in_category, found.over_bar_share) == (None, None)


def test_the_share_over_the_bar_is_of_caller_turns() -> None:
    events = inference(1, 0, 500) + inference(2, 2000, 3500) + inference(3, 5000, 5100) + inference(4, 7000, 8001)
    assert summary(events).over_bar_share == 0.5


def test_interrupted_and_failed_inferences_are_counted_and_left_out() -> None:
    events = inference(1, 0, 100) + inference(2, 1000, 9000, interrupted=True) + inference(3, 2000, 9000, error="stall")
    found = summary(events)
    assert (found.ttft["all"].n, found.interrupted_inferences, found.failed_inferences) == (1, 1, 1)


def test_spans_are_summed_up_by_name_over_turns() -> None:
    found = summary(plain_answer())
    assert (found.v2v.p50, found.spans["endpointing"].p50, found.spans["tools_and_handoffs"].n) == (1340, 300, 0)


def test_unanswered_turns_are_counted() -> None:
    events = [e for e in plain_answer() if e.type != "playout_started"]
    assert summary(events).unanswered_turns == 1


def test_a_punctual_line_is_valid() -> None:
    found = summary([line_ended(late_ticks=5, late_p99_ms=10.0, ticks=500)])
    assert (found.valid, found.invalid_reason, found.late_ticks) == (True, None, 5)


def test_a_p99_beyond_the_limit_is_invalid() -> None:
    found = summary([line_ended(late_p99_ms=10.1)])
    assert not found.valid
    assert "P99 of the line's ticks was 10.1 ms late" in str(found.invalid_reason)


def test_more_than_one_percent_of_late_ticks_is_invalid() -> None:
    found = summary([line_ended(late_ticks=6, ticks=500)])
    assert not found.valid
    assert "6 of 500 ticks" in str(found.invalid_reason)


def test_the_limits_can_be_set() -> None:
    assert summary([line_ended(late_p99_ms=40)], limits=LagLimits(p99_ms=50)).valid


def test_a_line_that_did_not_report_its_lag_is_not_taken_for_punctual() -> None:
    lag = LineLag(t_ms=100, tick=5, late_ms=12)
    found = summarise([lag], CALLER_WIRE, AGENT_WIRE, 8000, scripted=False)
    assert (found.valid, found.late_ticks, found.late_p99_ms) == (False, 1, None)


def test_scripted_figures_say_so() -> None:
    assert summary([], scripted=True).scripted


def test_the_summary_survives_json() -> None:
    found = summary(plain_answer())
    assert LatencySummary.model_validate_json(found.model_dump_json()) == found


def test_a_second_first_token_does_not_move_the_first() -> None:
    events = [*inference(1, 0, 100), InferenceMark(t_ms=400, inference_id=1, mark="first_token")]
    assert [i.ttft_ms for i in inference_latencies(events)] == [100]


def test_inferences_come_in_the_order_of_their_start() -> None:
    events: list[Event] = inference(2, 900, 1000) + inference(1, 100, 200)
    assert [i.inference_id for i in inference_latencies(events)] == [1, 2]
    assert sum(isinstance(e, InferenceStarted) for e in events) == 2
