"""The spans of one call as plain data, from its events and its record: no OpenTelemetry, no clock, no I/O.

call TASK                     the whole call
├── utterance                 the caller speaks (not bound to a turn: a turn may hold several, or none)
└── turn                      all that is done because of the caller's n-th turn; turn 0 is the greeting
    ├── stt                   the recogniser works, also for nothing; as long as the record's `decode_ms`
    ├── chat MODEL            one inference, from the request to its end; its marks are moments of the span
    ├── execute_tool NAME     one tool call; a handoff is a moment of the turn
    ├── tts                   a sentence from complete text to first audio, waiting for the voice included
    └── playout               the sentence on the line
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from callm_voice.bench.telemetry_genai import Attributes, Moment, SpanData, inference_spans, tool_spans
from callm_voice.core.events import (
    BargeIn,
    Event,
    Failed,
    HandedOff,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    SpeculationDropped,
    TranscriptReady,
    TtsFirstAudio,
    TurnJudged,
    UtteranceEnded,
    UtteranceStarted,
)
from callm_voice.core.latency import TurnLatency
from callm_voice.core.record import CallRecord, EngineInfo


def call_span(events: Iterable[Event], record: CallRecord) -> SpanData:
    """The root of a finished call's spans; it holds every event of the call."""
    ordered = sorted(events, key=lambda e: e.t_ms)
    start_ms, end_ms = (ordered[0].t_ms, ordered[-1].t_ms) if ordered else (0.0, 0.0)
    turn_ids = sorted({t for e in ordered if (t := getattr(e, "turn_id", None)) is not None})
    latencies = {turn.turn_id: turn for turn in record.latency.turns} if record.latency else {}
    turns = [_turn(turn_id, ordered, record, latencies.get(turn_id), end_ms) for turn_id in turn_ids]
    failures = [e for e in ordered if isinstance(e, Failed)]
    return SpanData(
        name=f"call {record.config.task}",
        start_ms=start_ms,
        end_ms=end_ms,
        attributes=_call_attributes(record),
        error=_call_error(record),
        moments=tuple(
            Moment("failed", e.t_ms, {"callm.stage": e.stage, "callm.fault": e.fault, "callm.message": e.message})
            for e in failures
        ),
        children=(*_utterances(ordered, end_ms), *turns),
    )


def _call_attributes(record: CallRecord) -> Attributes:
    config, latency, verdict = record.config, record.latency, record.verdict
    of_caller = latency.ttft.get("caller_turn") if latency else None
    return {
        "callm.task": config.task,
        "callm.model": config.model,
        "callm.pipeline": config.pipeline,
        "callm.line": config.line,
        "callm.caller": config.caller,
        "callm.pace": config.pace,
        "callm.seed": config.seed,
        "callm.trial": config.trial,
        "callm.product_version": record.product_version,
        "callm.outcome": record.outcome.status,
        "callm.end_reason": record.outcome.end_reason,
        "callm.passed": verdict.passed if verdict else None,
        "callm.scripted": latency.scripted if latency else any(e.scripted for e in record.engines.values()),
        "callm.ttft_p50_ms": of_caller.p50 if of_caller else None,
        "callm.ttft_p95_ms": of_caller.p95 if of_caller else None,
        "callm.v2v_p50_ms": latency.v2v.p50 if latency else None,
        "callm.in_category": latency.in_category if latency else None,
        "callm.latency_valid": latency.valid if latency else None,
        "callm.cost_usd": record.cost_usd,
    }


def _call_error(record: CallRecord) -> tuple[str, str] | None:
    """A call that failed its gates is a result; only an invalid one is an error."""
    if record.outcome.status != "invalid":
        return None
    return record.outcome.end_reason, record.outcome.detail


def _utterances(ordered: Sequence[Event], call_end_ms: float) -> list[SpanData]:
    ends = {e.utterance_id: e for e in ordered if isinstance(e, UtteranceEnded)}
    spans = []
    for e in ordered:
        if isinstance(e, UtteranceStarted):
            end = ends.get(e.utterance_id)
            attributes: Attributes = {
                "callm.utterance_id": e.utterance_id,
                "callm.beat": e.beat or None,
                "callm.cut": end.cut if end else True,
            }
            spans.append(SpanData("utterance", e.t_ms, end.t_ms if end else call_end_ms, attributes))
    return spans


def _turn(
    turn_id: int, ordered: Sequence[Event], record: CallRecord, latency: TurnLatency | None, call_end_ms: float
) -> SpanData:
    own = [e for e in ordered if getattr(e, "turn_id", None) == turn_id]
    children = [
        *_transcriptions(own, record),
        *inference_spans(own, ordered, record, call_end_ms),
        *tool_spans(own, ordered, call_end_ms),
        *_sentences(own, record, call_end_ms),
    ]
    return SpanData(
        name="turn",
        start_ms=min([own[0].t_ms, *(c.start_ms for c in children)]),
        end_ms=max([own[-1].t_ms, *(c.end_ms for c in children)]),
        attributes={"callm.turn_id": turn_id, **_turn_figures(latency)},
        moments=tuple(_turn_moments(own)),
        children=tuple(sorted(children, key=lambda c: c.start_ms)),
    )


def _turn_figures(latency: TurnLatency | None) -> Attributes:
    """V2V and its spans, as the record has them: they are not intervals of the tree, moments are clamped there."""
    if latency is None:
        return {}
    spans = {f"callm.v2v.{span.name}_ms": span.duration_ms for span in latency.spans}
    return {"callm.v2v_ms": latency.v2v_ms, **spans}


def _turn_moments(own: Iterable[Event]) -> Iterable[Moment]:
    for e in own:
        if isinstance(e, HandedOff):
            yield Moment("handoff", e.t_ms, {"callm.from_role": e.from_role, "callm.to_role": e.to_role})
        elif isinstance(e, BargeIn):
            yield Moment("barge_in", e.t_ms, {"callm.dropped_ms": e.dropped_ms})
        elif isinstance(e, TurnJudged):
            yield Moment("turn_judged", e.t_ms, {"callm.complete": e.complete, "callm.probability": e.probability})


def _transcriptions(own: Iterable[Event], record: CallRecord) -> Iterable[SpanData]:
    for e in own:
        if isinstance(e, TranscriptReady):
            start_ms = e.t_ms - e.decode_ms if e.started_ms is None else e.started_ms
            attributes: Attributes = {
                "callm.turn_id": e.turn_id,
                "callm.audio_ms": e.audio_ms,
                "callm.decode_ms": e.decode_ms,
                "callm.rejected": e.rejected,
                "callm.speculative": e.speculative,
                **_engine("stt", record.engines),
            }
            yield SpanData("stt", start_ms, start_ms + e.decode_ms, attributes)
        elif isinstance(e, SpeculationDropped) and e.started_ms is not None:
            attributes = {
                "callm.turn_id": e.turn_id,
                "callm.decode_ms": e.wasted_ms,
                "callm.speculative": True,
                "callm.dropped": True,
                **_engine("stt", record.engines),
            }
            yield SpanData("stt", e.started_ms, e.started_ms + e.wasted_ms, attributes)


def _sentences(own: Sequence[Event], record: CallRecord, call_end_ms: float) -> Iterable[SpanData]:
    audio = {e.sentence_id: e for e in own if isinstance(e, TtsFirstAudio)}
    ended = {e.sentence_id: e for e in own if isinstance(e, PlayoutEnded)}
    for e in own:
        if isinstance(e, SentenceReady) and e.sentence_id in audio:
            first = audio[e.sentence_id]
            attributes: Attributes = {
                "callm.turn_id": e.turn_id,
                "callm.inference_id": e.inference_id,
                "callm.sentence_id": e.sentence_id,
                "callm.leading_silence_ms": first.leading_silence_ms,
                **_engine("tts", record.engines),
            }
            yield SpanData("tts", e.t_ms, first.t_ms, attributes)
        elif isinstance(e, PlayoutStarted):
            end = ended.get(e.sentence_id)
            attributes = {
                "callm.turn_id": e.turn_id,
                "callm.sentence_id": e.sentence_id,
                "callm.cut": end.cut if end else True,
            }
            yield SpanData("playout", e.t_ms, end.t_ms if end else call_end_ms, attributes)


def _engine(part: str, engines: Mapping[str, EngineInfo]) -> Attributes:
    info = engines.get(part)
    if info is None:
        return {}
    return {"callm.engine": info.engine, "callm.engine_model": info.model or None, "callm.scripted": info.scripted}
