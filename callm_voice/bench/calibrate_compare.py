"""The probes' figures beside the truth: arithmetic only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callm_voice.bench.calibrate_format import (
    SPANS_BAR_MS,
    TTFT_BAR_MS,
    V2V_BAR_MS,
    Case,
    Comparison,
    Errors,
)
from callm_voice.bench.calibrate_truth import BargeInTruth, TurnTruth
from callm_voice.core.events import Event, InferenceStarted
from callm_voice.core.latency import LatencySummary
from callm_voice.probes.percentiles import percentiles, quantile

LogEntry = Mapping[str, Any]


def errors(comparisons: Iterable[Comparison]) -> Errors:
    """Percentiles of how far the probe was off."""
    signed = sorted(c.error_ms for c in comparisons)
    if not signed:
        return Errors(n=0)
    size = percentiles(abs(e) for e in signed)
    return Errors(n=size.n, p50=size.p50, p95=size.p95, max=size.max, bias=round(quantile(signed, 0.5), 3))


def pair_requests(events: Sequence[Event], log: Sequence[LogEntry]) -> dict[int, LogEntry]:
    """Inference id → the server's entry for it.

    Both are in the order of the requests. A request that was cancelled before the server read it has no entry, so an
    entry is only taken by an inference that asked with as many messages and tools.
    """
    pairs: dict[int, LogEntry] = {}
    at = 0
    for event in (e for e in events if isinstance(e, InferenceStarted)):
        if at < len(log) and (log[at]["messages"], log[at]["tools"]) == (event.messages, event.tools):
            pairs[event.inference_id] = log[at]
            at += 1
    return pairs


def compare_ttft(
    latency: LatencySummary, pairs: Mapping[int, LogEntry]
) -> tuple[list[Comparison], list[Comparison], list[str]]:
    """First token and last token of each inference against the server's log, and what could not be compared.

    Only durations are compared: the two clocks run alike, but the call's may have skipped idle time before.
    """
    first: list[Comparison] = []
    last: list[Comparison] = []
    missing: list[str] = []
    for inference in latency.inferences:
        name = f"inference {inference.inference_id} ({inference.cause})"
        entry = pairs.get(inference.inference_id)
        sent_ms = _since(entry, "first_token_s")
        if inference.ttft_ms is None:
            if not inference.interrupted:
                missing.append(f"{name}: no first token")
        elif sent_ms is None:
            missing.append(f"{name}: not in the server's log")
        else:
            first.append(Comparison(what=name, probe_ms=inference.ttft_ms, truth_ms=sent_ms))
        done_ms = _since(entry, "last_token_s")
        if inference.last_token_ms is not None and done_ms is not None and not inference.interrupted:
            last.append(Comparison(what=name, probe_ms=inference.last_token_ms, truth_ms=done_ms))
    return first, last, missing


def compare_v2v(latency: LatencySummary, truths: Sequence[TurnTruth]) -> tuple[list[Comparison], list[str]]:
    """Voice to voice of each answered turn against the recording. A truth that says None is left out."""
    by_turn = {t.turn_id: t.v2v_ms for t in truths}
    pairs: list[Comparison] = []
    missing: list[str] = []
    for turn in latency.turns:
        if turn.turn_id not in by_turn:
            missing.append(f"turn {turn.turn_id}: not found in the recording")
        elif (truth_ms := by_turn.pop(turn.turn_id)) is not None:
            pairs.append(Comparison(what=f"turn {turn.turn_id}", probe_ms=turn.v2v_ms, truth_ms=truth_ms))
    missing += [f"turn {t}: without a figure of the probes" for t, truth_ms in by_turn.items() if truth_ms is not None]
    return pairs, missing


def compare_barge_ins(latency: LatencySummary, truths: Sequence[BargeInTruth]) -> tuple[list[Comparison], list[str]]:
    """The reaction to each barge-in against the recording. An agent turn is interrupted at most once. A truth that says
    None (nothing of the agent was played) is left out."""
    by_turn = {t.turn_id: t.reaction_ms for t in truths}
    pairs: list[Comparison] = []
    missing: list[str] = []
    for timing in latency.barge_ins:
        name = f"barge-in over turn {timing.turn_id}"
        if timing.turn_id not in by_turn:
            missing.append(f"{name}: not found in the recording")
            continue
        truth_ms = by_turn[timing.turn_id]
        if truth_ms is not None and timing.onset_to_stop_ms is None:
            missing.append(f"{name}: without a figure of the probes")
        elif truth_ms is not None and timing.onset_to_stop_ms is not None:
            pairs.append(Comparison(what=name, probe_ms=timing.onset_to_stop_ms, truth_ms=truth_ms))
    return pairs, missing


def spans_sum_error_ms(latency: LatencySummary) -> float:
    """The greatest difference between a turn's V2V and the sum of its spans."""
    return round(max((abs(sum(s.duration_ms for s in t.spans) - t.v2v_ms) for t in latency.turns), default=0.0), 6)


def interrupted_in_statistics(latency: LatencySummary) -> int:
    """How many more inferences the TTFT statistics count than there are whole ones with a first token."""
    whole = [i for i in latency.inferences if not (i.interrupted or i.failed) and i.ttft_ms is not None]
    return latency.ttft["all"].n - len(whole)


def missed_bars(cases: Sequence[Case], ttft: Errors, v2v: Errors) -> list[str]:
    """Every reason for which the calibration does not pass."""
    missed: list[str] = []
    for name, found, bar_ms in (("TTFT", ttft, TTFT_BAR_MS), ("V2V", v2v, V2V_BAR_MS)):
        if found.p95 is None:
            missed.append(f"{name}: nothing was compared")
        elif found.p95 > bar_ms:
            missed.append(f"{name}: P95 of the probe's error is {found.p95:.1f} ms, bar {bar_ms:g} ms")
    for case in cases:
        where = f"{case.pipeline}, {case.ttft_ms:g} ms"
        if case.outcome != "pass":
            missed.append(f"{where}: the oracle's call is {case.outcome}")
        if case.spans_sum_error_ms > SPANS_BAR_MS:
            missed.append(f"{where}: spans are {case.spans_sum_error_ms:g} ms off their sum")
        if case.interrupted_in_statistics:
            missed.append(f"{where}: interrupted inferences stand in the TTFT statistics")
        missed += [f"{where}: {what}" for what in case.missing]
    return missed


def _since(entry: LogEntry | None, moment: str) -> float | None:
    if entry is None or entry.get(moment) is None:
        return None
    return round((float(entry[moment]) - float(entry["received_s"])) * 1000, 3)
