"""The latency summary of one call: TTFT by cause against the bar, voice to voice and its spans, harness lag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
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
from callm_voice.core.latency import (
    TTFT_BAR_MS,
    InferenceLatency,
    LatencySummary,
    Percentiles,
    TurnLatency,
)
from callm_voice.probes.barge_in import barge_in_percentiles, barge_in_timings
from callm_voice.probes.harness import DEFAULT_LIMITS, LagLimits, harness_lag, line_delay, why_invalid
from callm_voice.probes.outside import SPAN_NAME, heard_only, outside_barge_ins, outside_turn_latencies
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
    caller, agent = Wire(left, rate_hz, gate), Wire(right, rate_hz, gate)
    elsewhere = heard_only(events)
    times = (outside_turn_latencies if elsewhere else turn_latencies)(events, caller, agent)
    barge_ins = (outside_barge_ins if elsewhere else barge_in_timings)(events, caller, agent)
    lag = next((e for e in reversed(events) if isinstance(e, LineEnded)), None)
    invalid_reason = why_invalid(lag, limits)
    return LatencySummary(
        in_category=None if median_ms is None else median_ms <= TTFT_BAR_MS,
        scripted=scripted,
        ttft=ttft,
        over_bar_share=sum(t > TTFT_BAR_MS for t in of_caller) / len(of_caller) if of_caller else None,
        v2v=percentiles(t.v2v_ms for t in times.turns),
        spans=_span_percentiles(times.turns, (SPAN_NAME,) if elsewhere else SPAN_NAMES),
        interrupted_inferences=sum(i.interrupted for i in inferences),
        failed_inferences=sum(i.failed for i in inferences),
        unanswered_turns=times.unanswered,
        late_ticks=lag.late_ticks if lag else sum(isinstance(e, LineLag) for e in events),
        late_p99_ms=lag.late_p99_ms if lag else None,
        harness=harness_lag(lag),
        line=line_delay(lag),
        vad_hangover=percentiles(t.vad_hangover_ms for t in times.turns if t.vad_hangover_ms is not None),
        barge_in=barge_in_percentiles(barge_ins),
        valid=invalid_reason is None,
        invalid_reason=invalid_reason,
        turns=times.turns,
        inferences=tuple(inferences),
        barge_ins=tuple(barge_ins),
    )


def _span_percentiles(turns: Sequence[TurnLatency], names: Sequence[str]) -> dict[str, Percentiles]:
    durations: dict[str, list[float]] = {name: [] for name in names}
    for turn in turns:
        for span in turn.spans:
            durations[span.name].append(span.duration_ms)
    return {name: percentiles(values) for name, values in durations.items()}
