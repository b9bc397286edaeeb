"""The call record, `call.json`: everything about one finished call except audio, events and state."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from callm_voice.core.events import EndReason
from callm_voice.core.latency import LatencySummary
from verifier.trace import Trace
from verifier.verdict import Verdict

RECORD_VERSION = 1
PERSON = "person"
"""`CallConfig.caller` of a call that a person made. Such calls are shown and never scored."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EngineInfo(_Frozen):
    """Which engine really ran."""

    engine: str
    model: str = ""
    """Voice, weight or model name that was loaded, not only the one asked for."""
    sha256: str = ""
    scripted: bool = False
    settings: dict[str, Any] = Field(default_factory=dict)
    counted: bool = True
    """False: its work cannot be counted at its source, so the fast pace is no good for it."""
    work: dict[str, float] = Field(default_factory=dict)
    """What it did in this call beside its plain duty: counts and milliseconds, by name."""


class CallConfig(_Frozen):
    """What was asked for."""

    task: str
    """`PACK/TASK`; `PACK/no-task`: a person called without one."""
    pack_version: str
    pack_hash: str = ""
    """SHA-256 over the pack's files."""
    model: str
    """Its name; of an agent that runs elsewhere, the name that it was given."""
    pipeline: str
    line: str
    agent: str | None = None
    """Where an agent was reached that runs elsewhere, without what may be secret in it; null: our own."""
    leg: Literal["process", "packets"] = "process"
    """How our own agent was reached: in the process, or over a real WebRTC connection."""
    caller: str
    """`scripted`, `llm:SPEC` or `person`."""
    pace: Literal["real", "fast"]
    seed: int
    trial: int = 1


class TranscriptTurn(_Frozen):
    """One stretch of one party. Said, heard and played are three fields."""

    party: Literal["caller", "agent"]
    turn_id: int
    role: str | None = None
    """The desk's role that spoke; None for the caller."""
    start_ms: float
    end_ms: float
    said: str
    """Caller: its words; empty for a person, whose words nobody wrote down. Agent: the model's text."""
    heard: str | None = None
    """Caller: what the recogniser made of it; None: not yet or never transcribed. Agent: None, or what a recogniser
    made of it if the pipeline says `caller.ears: stt`."""
    played: str | None = None
    """Agent: the words that were played before any barge-in. Caller: None."""
    cut: bool = False


class Usage(_Frozen):
    """Sums over the call's inferences; None where a server did not say."""

    inferences: int = 0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    recovered_tool_calls: int = 0


class Outcome(_Frozen):
    """How the call counts."""

    status: Literal["pass", "fail", "invalid", "unscored"]
    """`unscored`: a sound call that nothing was expected of, so nobody can say whether it passed."""
    invalid_kind: Literal["harness", "infrastructure", "caller"] | None = None
    end_reason: EndReason
    detail: str = ""
    retry_after_s: float | None = None
    """How long the model's server asked to be left alone, if that ended the call."""


class WallTime(_Frozen):
    """What the call took on the wall's clock, from the opening of the line to its end; start-up is not in it."""

    line_s: float
    models_s: float
    """Of it, while at least one model (recogniser, voice, language model) was at work."""


class CallRecord(_Frozen):
    """`call.json`."""

    record_version: int = RECORD_VERSION
    product_version: str
    started_at: str
    """UTC, `2026-01-31T09:30:00Z`."""
    duration_ms: float
    """Ticks of the line times its packet time."""
    ticks: int
    rate_hz: int
    """Of the line and of `call.flac`; 0 in text mode."""
    config: CallConfig
    engines: dict[str, EngineInfo]
    """stt, vad, endpointing, tts, caller_tts (or `caller`, a person), model, codec; `leg` if packets were sent; `agent`
    instead of the first four and the model for one that runs elsewhere, and stt then is the caller's ears."""
    transcript: tuple[TranscriptTurn, ...]
    trace: Trace
    usage: Usage
    caller_usage: Usage | None = None
    """Of the model that played the caller, kept apart; None: scripted."""
    cost_usd: float | None = None
    """None: the price is unknown, which is not zero."""
    caller_cost_usd: float | None = None
    outcome: Outcome
    verdict: Verdict | None = None
    """None for a call that is invalid or unscored."""
    latency: LatencySummary | None = None
    """None in text mode."""
    wall: WallTime | None = None
    """None in text mode."""
    warnings: tuple[str, ...] = ()
    host: dict[str, Any] = Field(default_factory=dict)
