"""The spans that OpenTelemetry's GenAI conventions name - inferences and tool calls - and the form of all spans.

Names under `gen_ai.*` are those of the conventions (status: development; `gen_ai.provider.name` took the place of
`gen_ai.system`); their times are in seconds. Ours stand under `callm.*` with their unit. No words of the caller, the
agent or a tool are in any span: the conventions make content opt-in, and the call folder has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from callm_voice.core.events import (
    Event,
    InferenceEnded,
    InferenceMark,
    InferenceStarted,
    ToolFinished,
    ToolStarted,
)
from callm_voice.core.latency import InferenceLatency
from callm_voice.core.record import CallRecord, EngineInfo
from callm_voice.probes.latency import inference_latencies

Value = str | bool | int | float | tuple[str, ...]
Attributes = Mapping[str, Value | None]
"""None: not known, not sent."""
PROVIDERS = {"openai": "openai", "embedded": "llama.cpp", "oracle": "callm.oracle"}
"""Kind of a model's spec → `gen_ai.provider.name`. `openai` is what the conventions ask for where only the protocol is
known."""


@dataclass(frozen=True)
class Moment:
    """Something that happened within a span."""

    name: str
    t_ms: float
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class SpanData:
    """One span; milliseconds on the line's clock."""

    name: str
    start_ms: float
    end_ms: float
    attributes: Attributes
    kind: Literal["internal", "client"] = "internal"
    error: tuple[str, str] | None = None
    """Type and message."""
    moments: tuple[Moment, ...] = ()
    children: tuple[SpanData, ...] = ()


def inference_spans(
    own: Iterable[Event], ordered: Sequence[Event], record: CallRecord, call_end_ms: float
) -> Iterable[SpanData]:
    """One client span for each inference of `own`, the events of one turn."""
    figures = {i.inference_id: i for i in inference_latencies(ordered)}
    ends = {e.inference_id: e for e in ordered if isinstance(e, InferenceEnded)}
    marks: dict[int, list[Moment]] = defaultdict(list)
    for e in ordered:
        if isinstance(e, InferenceMark):
            marks[e.inference_id].append(Moment(e.mark, e.t_ms))
    for e in own:
        if isinstance(e, InferenceStarted):
            end = ends.get(e.inference_id)
            request = _request(e, record.engines.get("model"))
            yield SpanData(
                name=f"chat {request['gen_ai.request.model']}",
                kind="client",
                start_ms=e.t_ms,
                end_ms=end.t_ms if end else call_end_ms,
                attributes={**request, **_answer(end), **_inference_figures(e, figures[e.inference_id])},
                error=_typed(end.error) if end and end.error else None,
                moments=tuple(marks[e.inference_id]),
            )


def _request(started: InferenceStarted, model: EngineInfo | None) -> Attributes:
    settings = model.settings if model else {}
    url = urlsplit(settings.get("base_url", ""))
    default_port = {"http": 80, "https": 443}.get(url.scheme)
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDERS.get(model.engine, model.engine) if model else None,
        "gen_ai.request.model": settings.get("model") or settings.get("weight") or started.model.partition("?")[0],
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": settings.get("temperature"),
        "gen_ai.request.top_p": settings.get("top_p"),
        "gen_ai.request.max_tokens": settings.get("max_tokens"),
        "gen_ai.request.seed": settings.get("seed"),
        "gen_ai.agent.name": started.role,
        "server.address": url.hostname,
        "server.port": (url.port or default_port) if url.hostname else None,
    }


def _answer(ended: InferenceEnded | None) -> Attributes:
    if ended is None:
        return {}
    return {
        "gen_ai.response.finish_reasons": (ended.finish_reason,) if ended.finish_reason else None,
        "gen_ai.usage.input_tokens": ended.prompt_tokens,
        "gen_ai.usage.output_tokens": ended.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": ended.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": ended.reasoning_tokens,
        "callm.tool_calls": ended.tool_calls,
        "callm.recovered_tool_calls": ended.recovered_tool_calls,
    }


def _inference_figures(started: InferenceStarted, figures: InferenceLatency) -> Attributes:
    chunk_ms = figures.first_chunk_ms
    return {
        "gen_ai.response.time_to_first_chunk": None if chunk_ms is None else chunk_ms / 1000,
        "callm.turn_id": started.turn_id,
        "callm.inference_id": started.inference_id,
        "callm.cause": started.cause,
        "callm.role": started.role,
        "callm.messages": started.messages,
        "callm.tools": started.tools,
        "callm.ttft_ms": figures.ttft_ms,
        "callm.first_speakable_ms": figures.first_speakable_ms,
        "callm.last_token_ms": figures.last_token_ms,
        "callm.interrupted": figures.interrupted,
    }


def tool_spans(own: Iterable[Event], ordered: Iterable[Event], call_end_ms: float) -> Iterable[SpanData]:
    """One span for each tool call of `own`, the events of one turn. An `ok: false` answer is a result, not an error."""
    finished = {e.call_id: e for e in ordered if isinstance(e, ToolFinished)}
    for e in own:
        if isinstance(e, ToolStarted):
            end = finished.get(e.call_id)
            yield SpanData(
                name=f"execute_tool {e.name}",
                start_ms=e.t_ms,
                end_ms=end.t_ms if end else call_end_ms,
                attributes={
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": e.name,
                    "gen_ai.tool.type": "function",
                    "gen_ai.tool.call.id": e.call_id,
                    "gen_ai.agent.name": e.role,
                    "callm.turn_id": e.turn_id,
                    "callm.inference_id": e.inference_id,
                    "callm.role": e.role,
                    "callm.ok": end.ok if end else None,
                    "callm.duration_ms": end.duration_ms if end else None,
                },
                error=(end.error, "") if end and end.error else None,
            )


def _typed(error: str) -> tuple[str, str]:
    """`ModelTimeoutError: nothing came` → type and message."""
    kind, _, message = error.partition(": ")
    return kind, message
