"""OpenTelemetry: the spans of a finished call go to a collector if the standard environment variables ask for it.

Off (the default) we import nothing of OpenTelemetry. On, the spans are built from the event log after the call's
folder is complete, so the measured call pays nothing, and a collector that is slow or gone costs one warning line and
a bounded wait.

    OTEL_SDK_DISABLED=true              off, whatever else is set
    OTEL_TRACES_EXPORTER                otlp, console (to stderr), none; unset: otlp if an endpoint is set, else off
    OTEL_EXPORTER_OTLP_ENDPOINT         and all other OTEL_EXPORTER_OTLP_* for OTLP over HTTP with protobuf
    OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER    as OpenTelemetry's SDK reads them
"""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from callm_voice.bench.telemetry_spans import call_span
from callm_voice.core.errors import MissingDependencyError, UsageError
from callm_voice.core.events import Event
from callm_voice.core.record import CallRecord

EXPORTERS = ("otlp", "console")
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOL = "http/protobuf"
TIMEOUT_S = 5.0
"""For all attempts of one export together."""
MAX_TIMEOUT_S = 30.0
"""Python's exporter reads its timeout variable as seconds, the specification says milliseconds: 10000 must not hang."""
GRACE_S = 1.0
"""A collector that sends its answer byte by byte, or a name that does not resolve, is left alone after this."""
MAX_REASON = 200
EXTRA = "otel"


def requested(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The exporters that the environment asks for; empty: off.

    Raises:
        UsageError: an exporter or a protocol that is not known here.
        MissingDependencyError: they ask for one, and its packages are not installed.
    """
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ()
    named = environ.get("OTEL_TRACES_EXPORTER", "").strip()
    if not named:
        named = "otlp" if _first(environ, ENDPOINTS) else "none"
    names = tuple(dict.fromkeys(n.strip().lower() for n in named.split(",") if n.strip().lower() not in {"", "none"}))
    unknown = [n for n in names if n not in EXPORTERS]
    if unknown:
        known = ", ".join([*EXPORTERS, "none"])
        raise UsageError(f"OTEL_TRACES_EXPORTER={named}: {unknown[0]!r} is not known", hint=f"known: {known}")
    if not names:
        return ()
    protocol = _first(environ, PROTOCOLS)
    if "otlp" in names and protocol not in {"", PROTOCOL}:
        raise UsageError(
            f"OTEL_EXPORTER_OTLP_PROTOCOL={protocol}: traces are sent as {PROTOCOL} only",
            hint=f"set it to {PROTOCOL}, or OTEL_TRACES_EXPORTER=none",
        )
    _need("opentelemetry.sdk.trace", "opentelemetry-sdk")
    if "otlp" in names:
        _need("opentelemetry.exporter.otlp.proto.http", "opentelemetry-exporter-otlp-proto-http")
    return names


def send_call(
    exporters: Sequence[str],
    events: Iterable[Event],
    record: CallRecord,
    *,
    zero_unix_s: float,
    on_warning: Callable[[str], None],
) -> bool:
    """Send the spans of a finished call; whether all exporters took them. Never raises, never hangs.

    Args:
        exporters: what `requested` gave.
        zero_unix_s: seconds since the epoch at line tick 0.
        on_warning: gets one line if the spans could not be sent.
    """
    if not exporters:
        return True
    failures: list[str] = []
    limit_s = timeout_s() + GRACE_S

    def work() -> None:
        try:
            from callm_voice.bench import telemetry_otel as otel

            spans = otel.to_otel(call_span(events, record), zero_unix_s)
            taken = {name: otel.export(otel.make_exporter(name, timeout_s()), spans) for name in exporters}
            failures.extend(f"the {name} exporter did not take them" for name, ok in taken.items() if not ok)
        except Exception as error:  # noqa: BLE001 - the boundary to foreign code; a call must not fail because of it
            failures.append(f"{type(error).__name__}: {error}")

    with _quiet() as said:
        worker = threading.Thread(target=work, name="callm-telemetry", daemon=True)
        worker.start()
        worker.join(limit_s)
        if worker.is_alive():
            failures.append(f"nothing came back within {limit_s:g} s")
    if failures:
        reason = " ".join((said[-1] if said else failures[0]).split())
        on_warning(f"telemetry: the spans of this call were not sent: {reason[:MAX_REASON]}")
    return not failures


def timeout_s(environ: Mapping[str, str] = os.environ) -> float:
    """How long one export may take: the standard variable, read as seconds, at most `MAX_TIMEOUT_S`."""
    try:
        asked_s = float(_first(environ, TIMEOUTS) or TIMEOUT_S)
    except ValueError:
        return TIMEOUT_S
    return min(asked_s, MAX_TIMEOUT_S) if asked_s > 0 else TIMEOUT_S


def _first(environ: Mapping[str, str], names: Iterable[str]) -> str:
    return next((value for name in names if (value := environ.get(name, "").strip())), "")


def _need(module: str, package: str) -> None:
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it is absent
        found = False
    if not found:
        raise MissingDependencyError(package, EXTRA)


class _LastWords(logging.Handler):
    """Keeps what OpenTelemetry would print: it says why an export failed in several lines, we say it in one."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """What OpenTelemetry logs in the block, kept off the terminal."""
    logger, words = logging.getLogger("opentelemetry"), _LastWords()
    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(words)
    try:
        yield words.said
    finally:
        logger.removeHandler(words)
        logger.propagate = propagate
