"""The rows of the Parquet tables from one finished call, and the files. Columns: `export_schema`."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from callm_voice.core.errors import ConfigError, MissingDependencyError
from callm_voice.core.events import from_jsonl
from callm_voice.core.latency import InferenceLatency
from callm_voice.core.record import CallRecord
from callm_voice.core.runfolder import EVENTS_FILE, RECORD_FILE, disk_errors, load_record
from callm_voice.probes.latency import inference_latencies
from callm_voice.report.export_schema import KEYS, TABLES, ColumnType
from callm_voice.report.score_rows import CallRow
from verifier.verdict import CallFinding

Record = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """One call that is exported: its row, its record and the key that joins the tables."""

    row: CallRow
    record: CallRecord
    call_id: str

    @property
    def keys(self) -> Record:
        values = {"call_id": self.call_id, **self.row.model_dump(include={"task", "model", "line", "trial"})}
        return {column.name: values[column.name] for column in KEYS}


def sources(rows: Sequence[CallRow]) -> Iterator[Source]:
    """The calls of some rows, in their order.

    Raises:
        ConfigError: a folder is gone or changed since it was read.
    """
    for row in rows:
        record = load_record(row.folder)
        yield Source(row, record, sha256((row.folder / RECORD_FILE).read_bytes()).hexdigest()[:16])


def table_rows(source: Source) -> dict[str, list[Record]]:
    """Table → its rows from one call."""
    keys = source.keys
    found = {
        "calls": [_call(source)],
        "turns": list(_turns(source)),
        "inferences": list(_inferences(source)),
        "tool_calls": list(_tool_calls(source)),
    }
    return {table: [{**keys, **row} for row in rows] for table, rows in found.items()}


def write_tables(rows: Sequence[CallRow], out: Path) -> list[Path]:
    """Write `calls.parquet turns.parquet inferences.parquet tool_calls.parquet`; their paths.

    Raises:
        MissingDependencyError: pyarrow is not installed.
        DiskError: the folder cannot be written.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", "tables") from error
    collected: dict[str, list[Record]] = {name: [] for name in TABLES}
    for source in sources(rows):
        for name, of_call in table_rows(source).items():
            collected[name] += of_call
    types: dict[ColumnType, Any] = {
        "string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_(),
        "timestamp": pa.timestamp("ms", tz="UTC"),
    }  # fmt: skip
    paths = []
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        for name, columns in TABLES.items():
            schema = pa.schema([pa.field(c.name, types[c.type], metadata={"meaning": c.meaning}) for c in columns])
            path = out / f"{name}.parquet"
            parquet.write_table(pa.Table.from_pylist(collected[name], schema=schema), path, compression="zstd")
            paths.append(path)
    return paths


def _call(source: Source) -> Record:
    row, names = source.row, {column.name for column in TABLES["calls"]}
    of_caller = [ms for cause, ms in row.ttft if cause == "caller_turn"]
    return {
        **row.model_dump(include=names),
        "started_at": dt.datetime.fromisoformat(row.started_at),
        "scored": row.scored,
        "failure_kinds": " ".join(row.failure_kinds),
        "blame": row.blame.blame if row.blame else None,
        "blame_because": row.blame.because if row.blame else None,
        "ttft_p50_ms": median(of_caller) if of_caller else None,
        "v2v_p50_ms": median(row.v2v_ms) if row.v2v_ms else None,
    }


def _turns(source: Source) -> Iterator[Record]:
    latency = source.record.latency
    v2v = {turn.turn_id: turn.v2v_ms for turn in latency.turns} if latency else {}
    for number, turn in enumerate(source.record.transcript, start=1):
        answered = v2v.get(turn.turn_id) if turn.party == "caller" else None
        yield {"number": number, **turn.model_dump(), "v2v_ms": answered}


def _inferences(source: Source) -> Iterator[Record]:
    latency = source.record.latency
    of_call = latency.inferences if latency else _from_events(source.row.folder)
    in_scores = source.row.scored and latency is not None and latency.valid
    for inference in of_call:
        taken = not inference.interrupted and not inference.failed and inference.ttft_ms is not None
        yield {**inference.model_dump(), "counts": in_scores and taken}


def _from_events(folder: Path) -> list[InferenceLatency]:
    """By text there is no latency summary; the inferences stand in the events."""
    path = folder / EVENTS_FILE
    if not path.is_file():
        return []
    try:
        return inference_latencies(from_jsonl(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ConfigError(path, "", "not events of this version: " + str(error).splitlines()[0]) from error


def _tool_calls(source: Source) -> Iterator[Record]:
    verdict = source.record.verdict
    findings = verdict.tools.findings if verdict else ()
    by_call = {f.actual_index: f for f in findings if f.actual_index is not None}
    for index, call in enumerate(source.record.trace.calls):
        finding = by_call.get(index)
        yield {
            **call.model_dump(exclude={"call_id", "args", "output"}),
            "number": index + 1,
            "args": _json(call.args),
            "output": _json(call.output),
            "finding": finding.kind if finding else None,
            "expected_number": _number(finding),
        }
    blame = {m.expected_index: m for m in source.row.blame.missed} if source.row.blame else {}
    for finding in findings:
        if finding.kind == "missing":
            missed = blame.get(finding.expected_index or 0)
            misheard = [a.model_dump(mode="json") for a in missed.args if a.said and not a.heard] if missed else []
            yield {
                "name": finding.tool, "finding": "missing", "why": finding.why, "expected_number": _number(finding),
                "args": _json({a.name: a.expected for a in finding.args if a.kind != "extra"}),
                "blame": missed.blame if missed else None,
                "misheard": _json(misheard) if missed else None,
            }  # fmt: skip


def _number(finding: CallFinding | None) -> int | None:
    return None if finding is None or finding.expected_index is None else finding.expected_index + 1


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
