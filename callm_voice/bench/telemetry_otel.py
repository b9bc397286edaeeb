"""The only module that imports OpenTelemetry: plain spans become its spans and go out through its exporters."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context

from callm_voice import __version__
from callm_voice.bench.telemetry_genai import Attributes, SpanData, Value

SCOPE = "callm_voice"
SERVICE_NAME = "callm-voice"
_NS_PER_S = 1_000_000_000
_NS_PER_MS = 1_000_000


def to_otel(root: SpanData, zero_unix_s: float, environ: Mapping[str, str] = os.environ) -> Sequence[ReadableSpan]:
    """The tree as ended spans, children before their parent; empty if the sampler of the environment says so.

    Args:
        zero_unix_s: seconds since the epoch at line tick 0.
    """
    named = "OTEL_SERVICE_NAME" in environ or "service.name=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    resource = Resource.create({} if named else {"service.name": SERVICE_NAME})
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    _add(provider.get_tracer(SCOPE, __version__), root, Context(), round(zero_unix_s * _NS_PER_S))
    spans = kept.get_finished_spans()
    provider.shutdown()
    return spans


def _add(tracer: Tracer, data: SpanData, context: Context, zero_ns: int) -> None:
    span = tracer.start_span(
        data.name,
        context=context,
        kind=SpanKind.CLIENT if data.kind == "client" else SpanKind.INTERNAL,
        attributes=_known(data.attributes),
        start_time=_ns(zero_ns, data.start_ms),
    )
    for moment in data.moments:
        span.add_event(moment.name, _known(moment.attributes), timestamp=_ns(zero_ns, moment.t_ms))
    if data.error is not None:
        kind, message = data.error
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR, message or kind))
    for child in data.children:
        _add(tracer, child, set_span_in_context(span, context), zero_ns)
    span.end(end_time=_ns(zero_ns, data.end_ms))


def _ns(zero_ns: int, t_ms: float) -> int:
    return zero_ns + round(t_ms * _NS_PER_MS)


def _known(attributes: Attributes) -> dict[str, Value]:
    return {key: value for key, value in attributes.items() if value is not None}


def make_exporter(name: str, timeout_s: float) -> SpanExporter:
    """`otlp` (HTTP with protobuf; endpoint, headers, TLS and compression from the environment) or `console`."""
    if name == "console":
        return ConsoleSpanExporter(out=sys.stderr)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(timeout=timeout_s)


def export(exporter: SpanExporter, spans: Sequence[ReadableSpan]) -> bool:
    """Send once and close; whether they were taken."""
    try:
        return not spans or exporter.export(spans) is SpanExportResult.SUCCESS
    finally:
        exporter.shutdown()
