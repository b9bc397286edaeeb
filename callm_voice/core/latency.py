"""The formats of latency: what `probes` computes and the call record carries. Milliseconds everywhere."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

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
    vad_hangover_ms: float | None = None
    """How long the VAD went on listening after the last frame that it took for speech itself. It is a part of the
    `vad` span, never taken off it. None: the VAD did not say."""


class BargeInTiming(_Frozen):
    """One barge-in; line clock. None where the moment never came."""

    turn_id: int
    """The agent turn that was interrupted."""
    detected_ms: float
    """The VAD decided that the caller speaks; the BargeIn event if there was no such decision."""
    onset_ms: float | None
    """Wire: the caller became audible while the agent was. None: not during the agent's turn."""
    silent_ms: float | None
    """Wire: end of the last audible sample of the interrupted turn."""
    onset_to_detection_ms: float | None = None
    """Wire onset → detection: what the VAD needs to be sure."""
    detection_to_stop_ms: float | None
    """Events: detection → the last cut playout. The rule: at most two packets."""
    detection_to_silence_ms: float | None
    """Detection → last audible sample of the agent; 0 if it was in a pause."""
    onset_to_stop_ms: float | None
    """Wire only: the reaction time that the caller sees; 0 if the agent was in a pause."""


class LineDelay(_Frozen):
    """What the line itself adds, and where it stands. A caller waits for V2V plus `outside_v2v_ms`."""

    codec_one_way_ms: float
    """Band filter and codec, each direction."""
    packet_ms: float
    """A packet is sent when it is full, one packet time after its first sample, in each direction."""
    inside_v2v_ms: float
    """Agent → caller, in the `audible` span: the codec once. (The caller's last packet waits until it is full in the
    `vad` span, up to `packet_ms`.)"""
    outside_v2v_ms: float
    """The codec once more (caller → agent, before the speech end on the wire) and one packet (agent → the caller's ear,
    after the first sample on the wire)."""


class HarnessLag(_Frozen):
    """How late the harness itself was. None: not reported (a record of an older version, or a leg that does not)."""

    ticks: int = 0
    late_ticks: int = 0
    """Began later than half a packet after their time."""
    late_share: float | None = None
    tick_p99_ms: float | None = None
    tick_max_ms: float | None = None
    loop_samples: int = 0
    loop_p99_ms: float | None = None
    """How late the event loop ran what was due, looked at every 50 ms."""
    loop_max_ms: float | None = None
    caller_underruns: int | None = None
    """Packets that were owed in the middle of an utterance: holes in the caller's speech."""
    agent_underruns: int | None = None
    """The same of the agent's sentences: its synthesis did not keep up. It is the pipeline's own, so it is reported and
    makes nothing invalid."""


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
    harness: HarnessLag = HarnessLag()
    line: LineDelay | None = None
    """None: a record of an older version, or a line that did not report."""
    vad_hangover: Percentiles = Percentiles(n=0)
    """Of the answered turns; a part of the `vad` span."""
    barge_in: dict[str, Percentiles] = Field(default_factory=dict)
    """`detection` (onset → VAD), `stop` (VAD → playout cut), `silence` (VAD → last audible sample), `reaction` (onset →
    last audible sample, from wire samples alone)."""
    valid: bool = True
    """False: the harness lagged beyond its limit, so the figures are not the model's."""
    invalid_reason: str | None = None
    turns: tuple[TurnLatency, ...] = ()
    inferences: tuple[InferenceLatency, ...] = ()
    barge_ins: tuple[BargeInTiming, ...] = ()
