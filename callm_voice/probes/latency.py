"""The latency summary of one call: TTFT by cause against the bar, voice to voice and its spans, harness lag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from callm_voice.core.events import (
    Cause,
    Event,
    InferenceEnded,
    InferenceMark,
    InferenceStarted,
    LineEnded,
    LineLag,
    Mark,
)
from callm_voice.core.latency import TTFT_BAR_MS, InferenceLatency, LatencySummary, Percentiles, TurnLatency
from callm_voice.probes.percentiles import percentiles
from callm_voice.probes.spans import SPAN_NAMES, turn_latencies
from callm_voice.probes.wire import DEFAULT_GATE, Gate, Pcm, Wire

_FIELD_OF_MARK: dict[Mark, str] = {
    "stream_opened": "stream_opened_ms",
    "first_chunk": "first_chunk_ms",
    "first_reasoning": "first_reasoning_ms",
    "first_token": "ttft_ms",
    "first_speakable": "first_speakable_ms",
    "last_token": "last_token_ms",
}


@dataclass(frozen=True)
class LagLimits:
    """How late the line's ticks may begin before the figures stop being the model's."""

    p99_ms: float = 10.0
    """P99 of all ticks."""
    late_share: float = 0.01
    """Share of ticks that began later than half a packet (10 ms)."""


DEFAULT_LIMITS = LagLimits()


def inference_latencies(events: Iterable[Event]) -> list[InferenceLatency]:
    """Each inference of a call with its moments, counted from the request, in the order of their start.

    The first mark of a kind counts. An inference that never ended (the call did) was interrupted.
    """
    ordered = sorted(events, key=lambda e: e.t_ms)
    started = {e.inference_id: e for e in ordered if isinstance(e, InferenceStarted)}
    ended = {e.inference_id: e for e in ordered if isinstance(e, InferenceEnded)}
    marks: dict[int, dict[str, float]] = defaultdict(dict)
    for event in ordered:
        if isinstance(event, InferenceMark) and event.inference_id in started:
            since_ms = round(event.t_ms - started[event.inference_id].t_ms, 3)
            marks[event.inference_id].setdefault(_FIELD_OF_MARK[event.mark], since_ms)
    return [_inference(start, marks[i], ended.get(i)) for i, start in started.items()]


def _inference(start: InferenceStarted, marks: dict[str, float], end: InferenceEnded | None) -> InferenceLatency:
    return InferenceLatency(
        inference_id=start.inference_id,
        turn_id=start.turn_id,
        cause=start.cause,
        role=start.role,
        prompt_tokens=end.prompt_tokens if end else None,
        cached_tokens=end.cached_tokens if end else None,
        completion_tokens=end.completion_tokens if end else None,
        interrupted=end is None or end.interrupted,
        failed=end is not None and end.error is not None,
        **marks,
    )


def summarise(
    events: Sequence[Event],
    left: Pcm,
    right: Pcm,
    rate_hz: int,
    *,
    scripted: bool,
    limits: LagLimits = DEFAULT_LIMITS,
    gate: Gate = DEFAULT_GATE,
) -> LatencySummary:
    """All latency figures of one call that went over audio.

    Interrupted and failed inferences are counted and left out of the statistics; one without a first token (an empty
    answer) has no TTFT to count.

    Args:
        events: of the call, in any order.
        left, right: the two channels of the recording, shape (samples,), dtype int16; sample 0 is line tick 0.
        scripted: some figure came from a scripted engine.

    Raises:
        HarnessError: a channel has another form.
    """
    inferences = inference_latencies(events)
    counted = [i for i in inferences if not (i.interrupted or i.failed)]
    of_caller = [i.ttft_ms for i in counted if i.ttft_ms is not None and i.cause == "caller_turn"]
    ttft = {
        cause: percentiles(i.ttft_ms for i in counted if i.ttft_ms is not None and cause in (i.cause, "all"))
        for cause in (*get_args(Cause), "all")
    }
    median_ms = ttft["caller_turn"].p50
    times = turn_latencies(events, Wire(left, rate_hz, gate), Wire(right, rate_hz, gate))
    lag = next((e for e in reversed(events) if isinstance(e, LineEnded)), None)
    invalid_reason = _why_invalid(lag, limits)
    return LatencySummary(
        in_category=None if median_ms is None else median_ms <= TTFT_BAR_MS,
        scripted=scripted,
        ttft=ttft,
        over_bar_share=sum(t > TTFT_BAR_MS for t in of_caller) / len(of_caller) if of_caller else None,
        v2v=percentiles(t.v2v_ms for t in times.turns),
        spans=_span_percentiles(times.turns),
        interrupted_inferences=sum(i.interrupted for i in inferences),
        failed_inferences=sum(i.failed for i in inferences),
        unanswered_turns=times.unanswered,
        late_ticks=lag.late_ticks if lag else sum(isinstance(e, LineLag) for e in events),
        late_p99_ms=lag.late_p99_ms if lag else None,
        valid=invalid_reason is None,
        invalid_reason=invalid_reason,
        turns=times.turns,
        inferences=tuple(inferences),
    )


def _span_percentiles(turns: Sequence[TurnLatency]) -> dict[str, Percentiles]:
    durations: dict[str, list[float]] = {name: [] for name in SPAN_NAMES}
    for turn in turns:
        for span in turn.spans:
            durations[span.name].append(span.duration_ms)
    return {name: percentiles(values) for name, values in durations.items()}


def _why_invalid(lag: LineEnded | None, limits: LagLimits) -> str | None:
    """Why the figures are not the model's, or None. A line that did not report its lag is not taken for punctual."""
    if lag is None:
        return "the line did not report its lag"
    if lag.late_p99_ms > limits.p99_ms:
        return f"harness lag: P99 of the line's ticks was {lag.late_p99_ms:.1f} ms late, limit {limits.p99_ms:g} ms"
    if lag.late_ticks > limits.late_share * lag.ticks:
        share = f"{lag.late_ticks} of {lag.ticks} ticks were late by more than half a packet"
        return f"harness lag: {share}, limit {limits.late_share:.1%}"
    return None
