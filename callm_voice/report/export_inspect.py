"""Finished calls as logs that Inspect reads (`inspect view --log-dir DIR`): one log a model, one sample a call.

The format is that of Inspect's JSON logs, version 2; Inspect itself is not needed to write it. A call of task T over
line L is sample `T over L`, its trials are epochs. The caller's turns hold what was heard, because that is what the
model was given; what was said stands in their metadata.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from callm_voice import __version__
from callm_voice.core.record import TranscriptTurn
from callm_voice.core.runfolder import disk_errors, safe_name
from callm_voice.report.export_tables import Source, sources
from callm_voice.report.score import score_model
from callm_voice.report.score_rows import CallRow
from verifier.trace import ToolCall, clean_json

LOG_VERSION = 2
SCORER = "verdict"
GATES = ("tools", "path", "state")
Json = dict[str, Any]


def write_inspect_logs(rows: Sequence[CallRow], out: Path) -> list[Path]:
    """Write one log for each model; their paths.

    Raises:
        DiskError: the folder cannot be written.
    """
    by_model: dict[str, list[CallRow]] = defaultdict(list)
    for row in rows:
        by_model[row.model].append(row)
    paths = []
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        for model, of_model in sorted(by_model.items()):
            log = clean_json(inspect_log(model, of_model), depth=-20)
            # Inspect finds logs by this form of name: time, task, id.
            stamp = log["eval"]["created"].replace(":", "-")
            path = out / f"{stamp}_{safe_name(model).replace('_', '-')}_{log['eval']['eval_id']}.json"
            path.write_text(json.dumps(log, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            paths.append(path)
    return paths


def inspect_log(model: str, rows: Sequence[CallRow]) -> Json:
    """The log of one model."""
    epochs: Counter[str] = Counter()
    samples = []
    for source in sources([row for row in rows if not row.superseded]):
        name = _sample_id(source.row)
        epochs[name] += 1
        samples.append(_sample(source, name, epochs[name]))
    found = score_model(model, rows)
    started = min(_utc(row.started_at) for row in rows)
    completed = max(_utc(row.started_at) for row in rows)
    log_id = sha256("".join(sample["uuid"] for sample in samples).encode()).hexdigest()[:22]
    figures = {"pass_at_1": found.pass_at_1, "pass5": found.pass5, "invalid": found.invalid}
    return {
        "version": LOG_VERSION,
        "status": "success",
        "eval": {
            "eval_id": log_id, "run_id": log_id, "created": started, "task": "callm-voice", "task_id": log_id,
            "task_version": __version__, "model": model, "config": {"epochs": max(epochs.values(), default=1)},
            "dataset": {"name": ", ".join(sorted({row.pack for row in rows})), "samples": len(epochs),
                        "sample_ids": sorted(epochs)},
            "packages": _packages(),
        },
        "plan": {"name": "callm-voice", "steps": []},
        "results": {
            "total_samples": len(samples),
            "completed_samples": sum("error" not in sample for sample in samples),
            "scores": [
                {
                    "name": SCORER, "scorer": SCORER, "scored_samples": found.trials,
                    "metrics": {k: {"name": k, "value": v} for k, v in figures.items() if v is not None},
                }
            ],
        },
        "stats": {"started_at": started, "completed_at": completed},
        "samples": samples,
    }  # fmt: skip


def _sample(source: Source, name: str, epoch: int) -> Json:
    row, record = source.row, source.record
    messages = _messages(source)
    opening = next((m["content"] for m in messages if m["role"] == "user"), "")
    sample: Json = {
        "id": name, "epoch": epoch, "uuid": source.call_id, "input": opening, "target": "pass",
        "messages": messages,
        "output": {"model": row.model, "choices": _choices(messages)},
        "metadata": _metadata(row),
        "model_usage": _usage(row),
        "started_at": _utc(row.started_at),
        "total_time": round(record.duration_ms / 1000, 3),
        "scores": {},
    }  # fmt: skip
    if row.status == "unscored":
        return sample
    if row.status == "invalid":
        message = f"invalid ({row.invalid_kind}): {row.detail or row.end_reason}"
        return {**sample, "error": {"message": message, "traceback": message, "traceback_ansi": message}}
    why = row.blame.because if row.blame else ""
    passed = {"tools": row.tools_passed, "path": row.path_passed, "state": row.state_passed}
    sample["scores"] = {
        SCORER: {"value": _mark(row.status == "pass"), "explanation": why or "all three gates passed"},
        **{gate: {"value": _mark(bool(passed[gate]))} for gate in GATES},
    }
    return sample


def _messages(source: Source) -> list[Json]:
    """The call as the model saw it, in the order of time: words, tool calls and their answers."""
    items: list[tuple[float, int, TranscriptTurn | ToolCall]] = []
    items += [(turn.start_ms, 0, turn) for turn in source.record.transcript]
    items += [(call.t_ms, 1, call) for call in source.record.trace.calls]
    messages: list[Json] = []
    for number, (_, _, item) in enumerate(sorted(items, key=lambda i: (i[0], i[1])), start=1):
        messages += _call(item, number) if isinstance(item, ToolCall) else [_turn(item, number)]
    return messages


def _turn(turn: TranscriptTurn, number: int) -> Json:
    times = {"start_ms": turn.start_ms, "end_ms": turn.end_ms, "cut": turn.cut}
    if turn.party == "caller":
        return {
            "id": f"m{number}", "role": "user", "content": turn.heard or "", "source": "input",
            "metadata": {"said": turn.said, "heard": turn.heard, **times},
        }  # fmt: skip
    return {
        "id": f"m{number}", "role": "assistant", "content": turn.said, "source": "generate",
        "metadata": {"role": turn.role, "played": turn.played, **times},
    }  # fmt: skip


def _call(call: ToolCall, number: int) -> list[Json]:
    made = {"id": call.call_id, "function": call.name, "arguments": call.args, "type": "function"}
    answer: Json = {
        "id": f"m{number}-answer", "role": "tool", "content": json.dumps(call.output, ensure_ascii=False),
        "tool_call_id": call.call_id, "function": call.name, "metadata": {"ok": call.ok},
    }  # fmt: skip
    if call.error is not None:
        answer["error"] = {"type": "parsing", "message": call.error}
    return [
        {
            "id": f"m{number}", "role": "assistant", "content": "", "source": "generate", "tool_calls": [made],
            "metadata": {"role": call.role, "t_ms": call.t_ms, "recovered": call.recovered},
        },
        answer,
    ]  # fmt: skip


def _choices(messages: Sequence[Json]) -> list[Json]:
    last = next((m for m in reversed(messages) if m["role"] == "assistant"), None)
    return [] if last is None else [{"message": last, "stop_reason": "stop"}]


def _metadata(row: CallRow) -> Json:
    return {
        **row.model_dump(
            mode="json",
            include={"pack", "category", "difficulty", "line", "trial", "seed", "pipeline", "caller", "pace",
                     "end_reason", "detail", "failure_kinds", "cost_usd", "latency_left_out", "scripted"},
        ),
        "ttft_caller_turn_ms": [ms for cause, ms in row.ttft if cause == "caller_turn"],
        "v2v_ms": list(row.v2v_ms),
        "blame": row.blame.model_dump(mode="json") if row.blame else None,
    }  # fmt: skip


def _usage(row: CallRow) -> Json:
    """Empty where a count is unknown: Inspect's own default is zero."""
    if row.prompt_tokens is None or row.completion_tokens is None:
        return {}
    usage: Json = {
        "input_tokens": row.prompt_tokens, "output_tokens": row.completion_tokens,
        "total_tokens": row.prompt_tokens + row.completion_tokens,
    }  # fmt: skip
    if row.cached_tokens is not None:
        usage["input_tokens_cache_read"] = row.cached_tokens
    if row.cost_usd is not None:
        usage["total_cost"] = row.cost_usd
    return {row.model: usage}


def _sample_id(row: CallRow) -> str:
    return f"{row.task} over {row.line}"


def _utc(stamp: str) -> str:
    return stamp.replace("Z", "+00:00")


def _mark(passed: bool) -> str:
    return "C" if passed else "I"


def _packages() -> dict[str, str]:
    try:
        return {"callm-voice": version("callm-voice")}
    except PackageNotFoundError:
        return {}
