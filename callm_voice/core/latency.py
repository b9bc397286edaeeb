"""The formats of latency: what `probes` computes and the call record carries. Milliseconds everywhere."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from callm_voice.core.events import Cause

TTFT_BAR_MS = 1000.0
"""A model is in the category if its median time to first token over caller turns is at most this."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Percentiles(_Frozen):
    """Of `n` values. With n = 0 all are None: missing is not zero."""

    n: int
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class InferenceLatency(_Frozen):
    """One LLM request; all from request sent. None where the moment never came."""

    inference_id: int
    turn_id: int
    cause: Cause
    role: str
    stream_opened_ms: float | None = None
    first_chunk_ms: float | None = None
    first_reasoning_ms: float | None = None
    ttft_ms: float | None = None
    first_speakable_ms: float | None = None
    last_token_ms: float | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    interrupted: bool = False
    """Left out of the statistics, and counted."""
    failed: bool = False


class Span(_Frozen):
    """One piece of a turn's voice-to-voice time."""

    name: str
    start_ms: float
    """On the line's clock."""
    duration_ms: float


class TurnLatency(_Frozen):
    """One answered turn: the spans are non-negative, contiguous and sum to `v2v_ms`."""

    turn_id: int
    speech_end_ms: float
    """Line clock: end of the caller's speech on the wire, as the agent hears it."""
    audio_start_ms: float
    """Line clock: first audible sample of the agent on the wire, as the caller hears it."""
    v2v_ms: float
    spans: tuple[Span, ...]


class LatencySummary(_Frozen):
    """Headline: `ttft["caller_turn"].p50` against `bar_ms`."""

    bar_ms: float = TTFT_BAR_MS
    in_category: bool | None = None
    """None: no caller turn has a TTFT."""
    scripted: bool = False
    """Some figure came from a scripted engine."""
    ttft: dict[str, Percentiles]
    """By cause, and `all`."""
    over_bar_share: float | None = None
    """Share of caller turns whose TTFT is over the bar."""
    v2v: Percentiles
    spans: dict[str, Percentiles]
    """Per span name over turns."""
    interrupted_inferences: int = 0
    failed_inferences: int = 0
    unanswered_turns: int = 0
    """Caller turns without a V2V: interrupted before the agent was heard, never answered, or cut by the turn timer."""
    late_ticks: int = 0
    late_p99_ms: float | None = None
    valid: bool = True
    """False: the harness lagged beyond its limit, so the figures are not the model's."""
    invalid_reason: str | None = None
    turns: tuple[TurnLatency, ...] = ()
    inferences: tuple[InferenceLatency, ...] = ()
