"""Latency of one call for its page: each turn's pieces, each inference, and where on the line they lie."""

from __future__ import annotations

from dataclasses import dataclass

from callm_voice.core.latency import LatencySummary
from callm_voice.report.latency_view import CAUSES, SPANS
from callm_voice.report.site.collect import Json


@dataclass(frozen=True)
class Bar:
    """One piece of a turn's voice-to-voice time."""

    name: str
    label: str
    start_ms: float
    duration_ms: float
    left: float
    """Percent of the longest turn."""
    width: float


@dataclass(frozen=True)
class TurnBars:
    """One answered turn."""

    turn_id: int
    start_ms: float
    v2v_ms: float
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class InferenceRow:
    """One request to the model."""

    inference_id: int
    turn_id: int
    cause: str
    role: str
    start_ms: float | None
    """On the line; None: the events do not tell."""
    ttft_ms: float | None
    last_token_ms: float | None
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    over_bar: bool
    note: str


def turn_bars(latency: LatencySummary) -> list[TurnBars]:
    """One row a turn, all on the scale of the longest."""
    longest = max((turn.v2v_ms for turn in latency.turns), default=0.0) or 1.0
    return [
        TurnBars(
            turn.turn_id,
            turn.speech_end_ms,
            turn.v2v_ms,
            tuple(
                Bar(
                    span.name, SPANS.get(span.name, span.name), span.start_ms, span.duration_ms,
                    round(100 * (span.start_ms - turn.speech_end_ms) / longest, 3),
                    round(100 * span.duration_ms / longest, 3),
                )
                for span in turn.spans
            ),
        )
        for turn in latency.turns
    ]  # fmt: skip


def inference_rows(latency: LatencySummary, events: tuple[Json, ...]) -> list[InferenceRow]:
    """Every request, with the time at which it was sent."""
    started = {e.get("inference_id"): float(e["t_ms"]) for e in events if e.get("type") == "inference_started"}
    return [
        InferenceRow(
            i.inference_id, i.turn_id, CAUSES.get(i.cause, i.cause), i.role, started.get(i.inference_id), i.ttft_ms,
            i.last_token_ms, i.prompt_tokens, i.cached_tokens, i.completion_tokens,
            over_bar=i.ttft_ms is not None and i.ttft_ms > latency.bar_ms,
            note="failed" if i.failed else "interrupted" if i.interrupted else "",
        )
        for i in latency.inferences
    ]  # fmt: skip


def span_names(latency: LatencySummary) -> list[tuple[str, str]]:
    """Names and labels of the pieces that occur, in the order of a turn."""
    seen = {span.name for turn in latency.turns for span in turn.spans}
    return [(name, label) for name, label in SPANS.items() if name in seen] + [
        (name, name) for name in sorted(seen - SPANS.keys())
    ]
