"""Telemetry with real calls: an OTLP collector on loopback, one that is gone, one that hangs, and none asked for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from support.cli import LIMIT_S, QUICK_ORACLE, Ran, callm

from callm_voice.core.runfolder import find_calls, load_record

pytestmark = pytest.mark.conversation
EASY = "healthcare/C1-E1"


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """An OTLP/HTTP collector: its base URL, and what came."""
    came: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                came.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, name="collector")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", came
    finally:
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()


def scripted_call(out: Path, env: dict[str, str]) -> Ran:
    """A call over audio with scripted engines."""
    options = ["--task", EASY, "--model", QUICK_ORACLE, "--pipeline", "scripted", "--pace", "fast", "--json"]
    return callm("call", *options, "--out", str(out), env=env)


def text_call(out: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A call by text in a fresh Python that says at its end which modules of OpenTelemetry it has."""
    code = (
        "import sys, runpy\n"
        "try:\n    runpy.run_module('callm_voice', run_name='__main__')\n"
        "except SystemExit as end:\n    print(end.code)\n"
        "print(sorted(m for m in sys.modules if m.startswith('opentelemetry')))\n"
    )
    options = ["call", "--task", EASY, "--model", "oracle?ttft_ms=0&tokens_per_s=10000", "--line", "text"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
    return subprocess.run(
        [sys.executable, "-c", code, *options, "--json", "--out", str(out)],
        capture_output=True, text=True, timeout=LIMIT_S, env={**clean, **env},
    )  # fmt: skip


def test_a_call_sends_its_spans_once_over_otlp(tmp_path: Path) -> None:
    with collector() as (url, came):
        ran = scripted_call(tmp_path, {"OTEL_EXPORTER_OTLP_ENDPOINT": url})
    assert ran.code == 0, ran.err
    assert len(came) == 1
    spans = [s for r in came[0].resource_spans for scope in r.scope_spans for s in scope.spans]
    record = load_record(find_calls(tmp_path)[0])
    assert record.latency is not None
    sent_ms = [
        attribute.value.double_value
        for span in sorted(spans, key=lambda s: s.start_time_unix_nano)
        for attribute in span.attributes
        if attribute.key == "callm.ttft_ms"
    ]
    assert sent_ms == [i.ttft_ms for i in record.latency.inferences]
    (root,) = (s for s in spans if not s.parent_span_id)
    assert root.end_time_unix_nano - root.start_time_unix_nano >= record.duration_ms * 1e6


def test_a_collector_that_is_gone_costs_one_line_and_no_verdict(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        ran = text_call(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=url, OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert ran.stdout.splitlines()[-2] == "0"
    said = [line for line in ran.stderr.splitlines() if "telemetry" in line or "opentelemetry" in line]
    assert len(said) == 1
    assert said[0].startswith("telemetry: the spans of this call were not sent")
    assert load_record(find_calls(tmp_path)[0]).outcome.status == "pass"


def test_a_collector_that_never_answers_does_not_hang_a_call(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # connections are accepted by the system, and nobody reads them
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        ran = text_call(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=url, OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert ran.stdout.splitlines()[-2] == "0"
    assert ran.stderr.count("telemetry: the spans of this call were not sent") == 1


def test_nothing_of_opentelemetry_is_imported_when_it_is_off(tmp_path: Path) -> None:
    ran = text_call(tmp_path)
    assert ran.stdout.splitlines()[-2:] == ["0", "[]"], ran.stderr


def test_an_unknown_exporter_is_said_before_the_call_starts(tmp_path: Path) -> None:
    ran = scripted_call(tmp_path, {"OTEL_TRACES_EXPORTER": "jaeger"})
    assert ran.code == 2
    assert len(ran.error_lines) == 1
    assert "jaeger" in ran.error_lines[0]
    assert find_calls(tmp_path) == []
