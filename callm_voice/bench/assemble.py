"""From what a call left behind to its record and verdict."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from callm_voice import __version__
from callm_voice.bench.agent_url import parse_agent
from callm_voice.bench.resolve import ResolvedCall
from callm_voice.caller.audit import audit_caller
from callm_voice.core.clock import Pace, utc_stamp
from callm_voice.core.events import EndReason, Event, Failed, InferenceEnded
from callm_voice.core.latency import LatencySummary
from callm_voice.core.record import PERSON, CallConfig, CallRecord, EngineInfo, Outcome, TranscriptTurn, Usage, WallTime
from callm_voice.line.leg import PTIME_MS
from callm_voice.line.recorder import Recorder
from callm_voice.llm.prices import cost_usd, price_source, total_cost_usd
from callm_voice.probes.harness import why_broken
from callm_voice.probes.latency import summarise
from verifier.trace import State, Trace
from verifier.verdict import Verdict
from verifier.verify import verify


@dataclass
class CallResult:
    """What a finished call left behind, by voice or by text."""

    started_unix_s: float
    reason: EndReason
    detail: str
    fault: str | None
    """Of the error that ended the call, if one did."""
    trace: Trace
    state: State
    usage: Usage
    events: Sequence[Event]
    transcript: tuple[TranscriptTurn, ...]
    engines: dict[str, EngineInfo]
    ticks: int = 0
    rate_hz: int = 0
    recorder: Recorder | None = None
    caller_usage: Usage | None = None
    wall: WallTime | None = None
    pace: Pace | None = None
    """The pace that was really kept; None: the one that was asked for."""
    awake_cores: int = 0
    """Cores that were kept from sleeping between turns (`core.awake`)."""
    warnings: list[str] = field(default_factory=list)
    extra_files: dict[str, str] = field(default_factory=dict)
    """Name → text of what else goes into the call's folder."""


def assemble(resolved: ResolvedCall, result: CallResult) -> CallRecord:
    """The record, verdict and latency included."""
    outcome, verdict = judge(resolved, result)
    spec = resolved.spec
    started_at = dt.datetime.fromtimestamp(result.started_unix_s, dt.UTC)
    return CallRecord(
        product_version=__version__,
        started_at=utc_stamp(result.started_unix_s),
        duration_ms=float(result.ticks * PTIME_MS),
        ticks=result.ticks,
        rate_hz=result.rate_hz,
        config=CallConfig(
            task=resolved.task_name,
            pack_version=resolved.pack.file.version,
            pack_hash=resolved.pack.content_hash,
            model=resolved.model.name,
            pipeline=resolved.pipeline.id,
            line=resolved.profile.id if resolved.profile else spec.line,
            agent=parse_agent(spec.agent).shown if spec.agent is not None else None,
            leg=spec.leg,
            caller=spec.caller,
            pace=result.pace or spec.pace,
            seed=spec.seed,
            trial=spec.trial,
        ),
        engines=_with_price_source(resolved, result.engines, started_at),
        transcript=result.transcript,
        trace=result.trace,
        usage=result.usage,
        caller_usage=result.caller_usage,
        cost_usd=total_cost_usd(resolved.model.spec, counted(result.events), at=started_at),
        caller_cost_usd=(
            cost_usd(resolved.caller_model.spec, result.caller_usage, at=started_at)
            if resolved.caller_model and result.caller_usage
            else None
        ),
        outcome=outcome,
        verdict=verdict,
        latency=_latency(result),
        wall=result.wall,
        warnings=tuple(result.warnings),
        host=host() | {"awake_cores": result.awake_cores},
    )


def counted(events: Sequence[Event]) -> list[InferenceEnded]:
    """The inferences that have a cost: all but those that were cut off or failed before the server sent its counts."""
    ended = [event for event in events if isinstance(event, InferenceEnded)]
    return [e for e in ended if e.prompt_tokens is not None or not (e.interrupted or e.error)]


def _with_price_source(
    resolved: ResolvedCall, engines: dict[str, EngineInfo], at: dt.datetime
) -> dict[str, EngineInfo]:
    """The engines, where the model's entry says whose price was taken."""
    source = price_source(resolved.model.spec, at=at)
    model = engines.get("model")
    if source is None or model is None:
        return engines
    return {**engines, "model": model.model_copy(update={"settings": {**model.settings, "price_source": source}})}


def judge(resolved: ResolvedCall, result: CallResult) -> tuple[Outcome, Verdict | None]:
    """A call that something of ours or around us broke, or that we were too slow for, is neither pass nor fail, nor is
    one that nothing was expected of; every other call has a verdict."""
    if result.fault is not None:
        kind: Literal["harness", "infrastructure"] = "infrastructure" if result.fault == "infrastructure" else "harness"
        asked_s = next((e.retry_after_s for e in result.events if isinstance(e, Failed) and e.retry_after_s), None)
        outcome = Outcome(
            status="invalid", invalid_kind=kind, end_reason=result.reason, detail=result.detail, retry_after_s=asked_s
        )
        return outcome, None
    if broken := why_broken(result.events):
        return Outcome(status="invalid", invalid_kind="harness", end_reason=result.reason, detail=broken), None
    if resolved.goal is None:
        return Outcome(status="unscored", end_reason=result.reason, detail=result.detail), None
    if said := _caller_faults(resolved, result):
        return Outcome(status="invalid", invalid_kind="caller", end_reason=result.reason, detail=said), None
    verdict = verify(result.trace, result.state, resolved.goal.gold_file)
    status: Literal["pass", "fail"] = "pass" if verdict.passed else "fail"
    return Outcome(status=status, end_reason=result.reason, detail=result.detail), verdict


def _caller_faults(resolved: ResolvedCall, result: CallResult) -> str:
    """Where the simulated caller broke its brief; empty: nowhere. Of a person the brief is no duty, and nobody knows
    the words."""
    if resolved.spec.caller == PERSON:
        return ""
    faults = audit_caller(
        resolved.task.brief, result.transcript, caller=resolved.spec.caller, end_reason=result.reason,
        detail=result.detail,
    )  # fmt: skip
    return "; ".join(f"{fault.kind}: {fault.reason}" for fault in faults)


def _latency(result: CallResult) -> LatencySummary | None:
    if result.recorder is None:
        return None
    left, right = result.recorder.channels()
    scripted = any(engine.scripted for engine in result.engines.values())
    return summarise(result.events, left, right, result.rate_hz, scripted=scripted)


def host() -> dict[str, object]:
    """What the figures were taken on; no name of the machine or its user."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": cores,
    }
