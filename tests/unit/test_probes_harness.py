"""The harness's own lag in a call's latency: what is reported, and from where on a call is invalid for latency."""

from __future__ import annotations

import pytest
from support.probes_call import AGENT_WIRE, CALLER_WIRE, line_ended, plain_answer

from callm_voice.core.events import LineEnded, from_jsonl
from callm_voice.core.latency import HarnessLag, LatencySummary
from callm_voice.probes.harness import LagLimits, harness_lag, line_delay, why_invalid
from callm_voice.probes.latency import summarise

pytestmark = pytest.mark.unit
OLD_LINE = (
    '{"t_ms": 10000, "type": "line_ended", "ticks": 500, "late_ticks": 1, "late_p99_ms": 1.5, "late_max_ms": 12.0, '
    '"codec_delay_ms": 0.2}\n'
)


def ended(**fields: object) -> LineEnded:
    return line_ended().model_copy(update=fields)


def summary(lag: LineEnded) -> LatencySummary:
    return summarise([*plain_answer(), lag], CALLER_WIRE, AGENT_WIRE, 8000, scripted=False)


def test_the_summary_carries_ticks_loop_and_underruns_of_both_legs() -> None:
    found = summary(
        ended(
            late_ticks=2, late_p99_ms=1.5, late_max_ms=12.0, loop_samples=200, loop_lag_p99_ms=2.5, loop_lag_max_ms=9.0,
            caller_underruns=0, agent_underruns=3,
        )
    ).harness  # fmt: skip
    assert found == HarnessLag(
        ticks=500, late_ticks=2, late_share=0.004, tick_p99_ms=1.5, tick_max_ms=12.0, loop_samples=200, loop_p99_ms=2.5,
        loop_max_ms=9.0, caller_underruns=0, agent_underruns=3,
    )  # fmt: skip


def test_a_loop_that_lags_makes_the_latency_invalid_and_says_so() -> None:
    found = summary(ended(loop_samples=200, loop_lag_p99_ms=10.1))
    assert not found.valid
    assert "event loop was 10.1 ms" in str(found.invalid_reason)


def test_a_hole_in_the_caller_s_speech_makes_the_latency_invalid() -> None:
    found = summary(ended(caller_underruns=2))
    assert not found.valid
    assert "caller's speech had 2 holes" in str(found.invalid_reason)


def test_a_hole_in_the_agent_s_speech_is_the_pipeline_s_and_is_only_reported() -> None:
    found = summary(ended(agent_underruns=7))
    assert (found.valid, found.harness.agent_underruns) == (True, 7)


def test_at_the_limits_a_call_is_still_valid() -> None:
    lag = ended(late_p99_ms=10.0, late_ticks=5, loop_lag_p99_ms=10.0, caller_underruns=0)
    assert why_invalid(lag, LagLimits()) is None


def test_an_event_of_an_older_version_reads_and_does_not_claim_punctuality() -> None:
    (lag,) = from_jsonl(OLD_LINE)
    assert isinstance(lag, LineEnded)
    found = harness_lag(lag)
    assert (found.loop_samples, found.loop_p99_ms, found.caller_underruns) == (0, None, None)
    assert why_invalid(lag, LagLimits()) is None


def test_a_summary_of_an_older_version_reads() -> None:
    new = {"harness", "line", "vad_hangover", "barge_in", "barge_ins"}
    old = summary(line_ended()).model_dump(mode="json", exclude=new)
    read = LatencySummary.model_validate(old)
    assert (read.harness, read.line, read.vad_hangover.n, read.barge_in) == (HarnessLag(), None, 0, {})


def test_a_line_that_did_not_report_has_no_lag_and_no_delay() -> None:
    assert (harness_lag(None), line_delay(None)) == (HarnessLag(), None)


def test_the_codec_stands_once_inside_v2v_and_once_outside_with_a_packet() -> None:
    found = line_delay(ended(codec_delay_ms=1.25))
    assert found is not None
    assert (found.codec_one_way_ms, found.packet_ms) == (1.25, 20.0)
    assert (found.inside_v2v_ms, found.outside_v2v_ms) == (1.25, 21.25)


def test_the_vad_s_hangover_is_named_and_stays_in_its_span() -> None:
    """The hand-made VAD stops at 3,200 and says that speech ended at 3,000, as it does on the wire."""
    found = summary(line_ended())
    (turn,) = found.turns
    assert (turn.vad_hangover_ms, found.vad_hangover.p50) == (200, 200)
    assert next(s.duration_ms for s in turn.spans if s.name == "vad") == 200
