"""The spans of a call: their tree, their times against the record, their names, and when there are any at all."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from support import probes_call
from support.records import full_record

from callm_voice.bench import telemetry
from callm_voice.bench.telemetry_otel import to_otel
from callm_voice.bench.telemetry_spans import call_span
from callm_voice.core.errors import MissingDependencyError, UsageError
from callm_voice.core.events import (
    BargeIn,
    CallEnded,
    CallStarted,
    Event,
    Failed,
    HandedOff,
    InferenceMark,
    InferenceStarted,
    SpeculationDropped,
    ToolFinished,
    ToolStarted,
    TranscriptReady,
)
from callm_voice.core.record import CallRecord, EngineInfo, Outcome
from callm_voice.probes.latency import summarise

pytestmark = pytest.mark.unit
ZERO_UNIX_S = 1_700_000_000.25
SERVER = EngineInfo(
    engine="openai", model="mine", settings={"base_url": "https://models.example/v1", "model": "m-7b", "temperature": 0}
)


def events_of_a_call() -> list[Event]:
    """One turn with a tool, a handoff and a spoken answer by the second inference."""
    return [
        CallStarted(t_ms=-5, task="demo/C1-E1", model="mine", line="pstn-g711u", pipeline="cpu", pace="real", seed=1),
        *probes_call.caller_turn(),
        *probes_call.inference(
            1, 3910, 4110, finish_reason="tool_calls", prompt_tokens=900, cached_tokens=512, completion_tokens=12
        ),
        InferenceMark(t_ms=4010, inference_id=1, mark="first_chunk"),
        ToolStarted(
            t_ms=4410, call_id="c1", turn_id=1, inference_id=1, role="router", name="transfer_to_billing", args={}
        ),
        ToolFinished(t_ms=4415, call_id="c1", name="transfer_to_billing", ok=True, output={}, duration_ms=5.0),
        HandedOff(t_ms=4416, turn_id=1, from_role="router", to_role="billing"),
        *probes_call.inference(2, 4420, 4620, cause="handoff"),
        *probes_call.sentence(1, 2, 4700, 4780, 4800, 6500),
        CallEnded(t_ms=9000, reason="caller_hangup"),
        probes_call.line_ended(),
    ]


def record_of(events: list[Event], **changes: Any) -> CallRecord:
    latency = summarise(
        events, probes_call.CALLER_WIRE, probes_call.channel((4840, 6480)), probes_call.RATE_HZ, scripted=False
    )
    return full_record(latency=latency, engines={"model": SERVER}, **changes)


def spans_of(events: list[Event], **changes: Any) -> dict[str, ReadableSpan]:
    """By name; names that stand twice keep the first by time."""
    spans = to_otel(call_span(events, record_of(events, **changes)), ZERO_UNIX_S, environ={})
    return {s.name: s for s in sorted(spans, key=lambda s: (s.start_time, -s.end_time), reverse=True)}


def span_ms(span: ReadableSpan) -> tuple[float, float]:
    """Start on the line's clock and duration."""
    zero_ns = round(ZERO_UNIX_S * 1e9)
    return round((span.start_time - zero_ns) / 1e6, 3), round((span.end_time - span.start_time) / 1e6, 3)


def test_the_tree_is_call_then_turn_then_what_was_done_in_it() -> None:
    spans = to_otel(call_span(events_of_a_call(), record_of(events_of_a_call())), ZERO_UNIX_S, environ={})
    by_id = {s.context.span_id: s for s in spans}
    edges = sorted((by_id[s.parent.span_id].name if s.parent else "", s.name) for s in spans)
    assert edges == sorted(
        [
            ("", "call demo/C1-E1"),
            ("call demo/C1-E1", "turn"),
            ("call demo/C1-E1", "utterance"),
            ("turn", "chat m-7b"),
            ("turn", "chat m-7b"),
            ("turn", "execute_tool transfer_to_billing"),
            ("turn", "playout"),
            ("turn", "stt"),
            ("turn", "tts"),
        ]
    )
    assert len({s.context.trace_id for s in spans}) == 1


def test_every_span_lies_within_its_parent() -> None:
    spans = to_otel(call_span(events_of_a_call(), record_of(events_of_a_call())), ZERO_UNIX_S, environ={})
    by_id = {s.context.span_id: s for s in spans}
    for span in spans:
        if span.parent is not None:
            parent = by_id[span.parent.span_id]
            assert parent.start_time <= span.start_time <= span.end_time <= parent.end_time


def test_times_are_the_unix_time_of_tick_0_plus_the_time_on_the_line() -> None:
    spans = spans_of(events_of_a_call())
    assert span_ms(spans["call demo/C1-E1"]) == (-5.0, 10_005.0)
    assert span_ms(spans["chat m-7b"]) == (3910.0, 500.0)
    assert span_ms(spans["execute_tool transfer_to_billing"]) == (4410.0, 5.0)
    assert span_ms(spans["tts"]) == (4700.0, 80.0)
    assert span_ms(spans["playout"]) == (4800.0, 1700.0)
    assert span_ms(spans["utterance"]) == (1000.0, 2040.0)


def test_a_transcription_is_as_long_as_its_decoding_in_the_record() -> None:
    events = [e for e in events_of_a_call() if not isinstance(e, TranscriptReady)]
    events.append(TranscriptReady(t_ms=3900, turn_id=1, heard="hello", decode_ms=321.5))
    assert span_ms(spans_of(events)["stt"]) == (3578.5, 321.5)


def test_a_transcription_ahead_of_the_endpoint_stands_where_it_ran_and_so_does_one_that_was_dropped() -> None:
    events = [e for e in events_of_a_call() if not isinstance(e, TranscriptReady)]
    events.append(SpeculationDropped(t_ms=2500, turn_id=1, started_ms=2000, wasted_ms=300))
    events.append(
        TranscriptReady(t_ms=3900, turn_id=1, heard="hello", decode_ms=200, started_ms=3300, speculative=True)
    )
    spans = to_otel(call_span(events, record_of(events)), ZERO_UNIX_S, environ={})
    transcriptions = [(span_ms(s), s.attributes.get("callm.dropped", False)) for s in spans if s.name == "stt"]
    assert transcriptions == [((2000.0, 300.0), True), ((3300.0, 200.0), False)]


def test_an_inference_carries_the_names_of_the_genai_conventions() -> None:
    span = spans_of(events_of_a_call())["chat m-7b"]
    assert span.kind.name == "CLIENT"
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m-7b",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 0,
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.response.time_to_first_chunk": 0.1,
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.output_tokens": 12,
        "gen_ai.usage.cache_read.input_tokens": 512,
        "server.address": "models.example",
        "server.port": 443,
    }
    assert {key: span.attributes[key] for key in expected} == expected


def test_our_own_figures_equal_the_record() -> None:
    events = events_of_a_call()
    record, spans = record_of(events), spans_of(events)
    assert record.latency is not None
    first = record.latency.inferences[0]
    assert spans["chat m-7b"].attributes["callm.ttft_ms"] == first.ttft_ms == 200.0
    assert spans["chat m-7b"].attributes["callm.cause"] == "caller_turn"
    turn = record.latency.turns[0]
    assert spans["turn"].attributes["callm.v2v_ms"] == turn.v2v_ms == 1840.0
    for span in turn.spans:
        assert spans["turn"].attributes[f"callm.v2v.{span.name}_ms"] == span.duration_ms
    assert spans["call demo/C1-E1"].attributes["callm.ttft_p50_ms"] == record.latency.ttft["caller_turn"].p50


def test_a_tool_call_carries_the_names_of_the_genai_conventions() -> None:
    attributes = spans_of(events_of_a_call())["execute_tool transfer_to_billing"].attributes
    assert attributes["gen_ai.operation.name"] == "execute_tool"
    assert attributes["gen_ai.tool.name"] == "transfer_to_billing"
    assert attributes["gen_ai.tool.call.id"] == "c1"
    assert attributes["gen_ai.tool.type"] == "function"
    assert attributes["callm.ok"] is True


def test_marks_handoffs_and_barge_ins_are_moments_with_their_times() -> None:
    events = [*events_of_a_call(), BargeIn(t_ms=6500, turn_id=1, dropped_ms=120)]
    spans = spans_of(events)
    zero_ns = round(ZERO_UNIX_S * 1e9)
    marks = [(e.name, round((e.timestamp - zero_ns) / 1e6, 3)) for e in spans["chat m-7b"].events]
    assert marks == [("first_chunk", 4010.0), ("first_token", 4110.0)]
    assert [(e.name, round((e.timestamp - zero_ns) / 1e6, 3)) for e in spans["turn"].events] == [
        ("handoff", 4416.0),
        ("barge_in", 6500.0),
    ]


def test_a_failed_inference_is_an_error_and_an_interrupted_one_is_not() -> None:
    failed = spans_of(probes_call.inference(1, 3910, None, error="ModelTimeoutError: nothing came"))["chat m-7b"]
    assert failed.status.status_code.name == "ERROR"
    assert failed.attributes["error.type"] == "ModelTimeoutError"
    cut = spans_of(probes_call.inference(1, 3910, 4000, interrupted=True))["chat m-7b"]
    assert cut.status.status_code.name == "UNSET"
    assert cut.attributes["callm.interrupted"] is True


def test_an_inference_that_never_ended_lasts_until_the_call_does() -> None:
    started = InferenceStarted(
        t_ms=100, inference_id=1, turn_id=1, cause="caller_turn", role="router", model="m", messages=2, tools=1
    )
    span = spans_of([started, CallEnded(t_ms=900, reason="cancelled")])["chat m-7b"]
    assert span_ms(span) == (100.0, 800.0)
    assert "gen_ai.usage.input_tokens" not in span.attributes


def test_a_failed_call_is_a_result_and_an_invalid_one_an_error() -> None:
    events = [*events_of_a_call(), Failed(t_ms=8999, stage="llm", fault="infrastructure", message="gone")]
    assert spans_of(events)["call demo/C1-E1"].status.status_code.name == "UNSET"
    invalid = Outcome(status="invalid", invalid_kind="infrastructure", end_reason="model_error", detail="gone")
    call = spans_of(events, outcome=invalid, verdict=None)["call demo/C1-E1"]
    assert call.status.status_code.name == "ERROR"
    assert call.attributes["error.type"] == "model_error"
    assert [e.name for e in call.events] == ["failed"]


def test_no_word_of_anybody_is_in_a_span() -> None:
    said = [*probes_call.plain_answer(), *probes_call.caller_turn(turn=2, heard="my number is five", at_ms=5000)]
    spans = to_otel(call_span(said, record_of(said)), ZERO_UNIX_S, environ={})
    text = " ".join(str(value) for span in spans for value in span.attributes.values())
    assert "hello" not in text
    assert "five" not in text
    assert "Sure" not in text


def test_a_call_without_events_has_one_span() -> None:
    assert [s.name for s in to_otel(call_span([], full_record()), ZERO_UNIX_S, environ={})] == ["call demo/C1-E1"]


def test_the_service_is_named_after_us_unless_the_environment_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    root = call_span([], full_record())
    assert to_otel(root, 0.0)[0].resource.attributes["service.name"] == "callm-voice"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "bench-7")
    assert to_otel(root, 0.0)[0].resource.attributes["service.name"] == "bench-7"


@pytest.mark.parametrize(
    ("environ", "exporters"),
    [
        ({}, ()),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, ("otlp",)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, ("otlp",)),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, ("otlp",)),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, ("console", "otlp")),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, ()),
        ({"OTEL_SDK_DISABLED": "TRUE", "OTEL_TRACES_EXPORTER": "otlp"}, ()),
        ({"OTEL_SERVICE_NAME": "x"}, ()),
    ],
)
def test_the_standard_variables_switch_it(environ: dict[str, str], exporters: tuple[str, ...]) -> None:
    assert telemetry.requested(environ) == exporters


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "zipkin"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "http/protobuf"),
    ],
)
def test_what_cannot_be_spoken_is_refused_by_name(environ: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        telemetry.requested(environ)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    find: Callable[..., Any] = importlib.util.find_spec

    def without_it(name: str, package: str | None = None) -> Any:
        return None if name.startswith("opentelemetry") else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_it)
    assert telemetry.requested({}) == ()
    with pytest.raises(MissingDependencyError, match=r"opentelemetry-sdk") as caught:
        telemetry.requested({"OTEL_TRACES_EXPORTER": "otlp"})
    assert "callm-voice[otel]" in caught.value.hint


@pytest.mark.parametrize(("asked", "limit_s"), [("", 5), ("2", 2), ("10000", 30), ("-1", 5), ("soon", 5)])
def test_the_time_of_an_export_is_bounded_whatever_is_asked(asked: str, limit_s: float) -> None:
    assert telemetry.timeout_s({"OTEL_EXPORTER_OTLP_TIMEOUT": asked}) == limit_s


def test_what_breaks_inside_is_one_warning_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from callm_voice.bench import telemetry_otel

    def broken(*_: object) -> None:
        raise ValueError("two\nlines")

    monkeypatch.setattr(telemetry_otel, "make_exporter", broken)
    warnings: list[str] = []
    taken = telemetry.send_call(("otlp",), [], full_record(), zero_unix_s=0.0, on_warning=warnings.append)
    assert not taken
    assert warnings == ["telemetry: the spans of this call were not sent: ValueError: two lines"]
