"""The columns of the Parquet tables: `python -m callm_voice.report.export_schema` writes them into docs/exports.md."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, NamedTuple

ColumnType = Literal["string", "int64", "float64", "bool", "timestamp"]
TARGET = Path("docs/exports.md")
BEGIN, END = "<!-- columns: {} -->", "<!-- end of columns -->"


class Column(NamedTuple):
    """One column. Any of them may be null: unknown is not zero."""

    name: str
    type: ColumnType
    meaning: str


KEYS = (
    Column("call_id", "string", "First 16 digits of the SHA-256 of `call.json`; joins the tables"),
    Column("task", "string", "`PACK/TASK`"),
    Column("model", "string", "Name of the model in results"),
    Column("line", "string", "Line profile, or `text`"),
    Column("trial", "int64", "Number of the attempt"),
)
CALLS = (
    *KEYS,
    Column("pack", "string", "Pack"),
    Column("task_id", "string", "Task in the pack"),
    Column("category", "string", "`PACK/C5`; empty if the id does not tell"),
    Column("difficulty", "string", "`easy`, `medium`, `hard`; empty if the id does not tell"),
    Column("pipeline", "string", "Pipeline"),
    Column("caller", "string", "`scripted` or `llm:MODEL`"),
    Column("pace", "string", "`real` or `fast`"),
    Column("seed", "int64", "Seed of all draws"),
    Column("pack_hash", "string", "SHA-256 over the pack's files"),
    Column("product_version", "string", "Version that made the call"),
    Column("started_at", "timestamp", "UTC"),
    Column("duration_ms", "float64", "Length on the line; 0 by text"),
    Column("status", "string", "`pass`, `fail`, `invalid` or `unscored`"),
    Column("invalid_kind", "string", "`harness`, `infrastructure` or `caller`; null if valid"),
    Column("superseded", "bool", "Made again on request: it counts no more"),
    Column("scored", "bool", "Counts as a trial: valid and not superseded"),
    Column("end_reason", "string", "Why the call ended"),
    Column("detail", "string", "The same in words"),
    Column("tools_passed", "bool", "Gate 1; null for an invalid call, as the next two"),
    Column("path_passed", "bool", "Gate 2"),
    Column("state_passed", "bool", "Gate 3"),
    Column("failure_kinds", "string", "Kinds of failure, with blanks between (docs/method.md)"),
    Column("blame", "string", "`recogniser`, `model`, `caller`, `unclear`; null: not failed"),
    Column("blame_because", "string", "Why, in words"),
    Column("ttft_p50_ms", "float64", "Median over this call's caller turns; null if its latency does not count"),
    Column("v2v_p50_ms", "float64", "Median voice to voice over this call's answered turns"),
    Column("latency_left_out", "string", "Why its latency does not count; null: it does, or there is none"),
    Column("scripted", "bool", "Some engine was scripted"),
    Column("inferences", "int64", "Requests to the model"),
    Column("prompt_tokens", "int64", "Sum; null: a server did not say"),
    Column("cached_tokens", "int64", "Of the prompt's, read from the server's cache"),
    Column("completion_tokens", "int64", "Sum"),
    Column("cost_usd", "float64", "Null: unknown"),
    Column("caller_cost_usd", "float64", "Of a model that played the caller; never part of `cost_usd`"),
)
TURNS = (
    *KEYS,
    Column("number", "int64", "Place in the transcript, from 1"),
    Column("turn_id", "int64", "The caller's turn; 0: the greeting"),
    Column("party", "string", "`caller` or `agent`"),
    Column("role", "string", "Role of the desk; null for the caller"),
    Column("start_ms", "float64", "On the line's clock"),
    Column("end_ms", "float64", "On the line's clock"),
    Column("said", "string", "What it meant to say"),
    Column("heard", "string", "What the recogniser made of it; null: never transcribed"),
    Column("played", "string", "Agent: what was played before any barge-in"),
    Column("cut", "bool", "Ended before its last word"),
    Column("v2v_ms", "float64", "Caller: until the agent was heard; null: unanswered, or without audio"),
)
INFERENCES = (
    *KEYS,
    Column("inference_id", "int64", "Number in the call, from 1"),
    Column("turn_id", "int64", "The caller's turn; 0: the greeting"),
    Column("cause", "string", "`greeting`, `caller_turn`, `tool_result` or `handoff`"),
    Column("role", "string", "Role of the desk"),
    Column("ttft_ms", "float64", "Request to first answer token or tool-call delta"),
    Column("stream_opened_ms", "float64", "All times from the request"),
    Column("first_chunk_ms", "float64", "First piece of any kind"),
    Column("first_reasoning_ms", "float64", "First reasoning token"),
    Column("first_speakable_ms", "float64", "First text that can be spoken"),
    Column("last_token_ms", "float64", "Last token"),
    Column("prompt_tokens", "int64", "By the server's count"),
    Column("cached_tokens", "int64", "By the server's count"),
    Column("completion_tokens", "int64", "By the server's count"),
    Column("interrupted", "bool", "Cut off by the caller or the call's end: in no statistic"),
    Column("failed", "bool", "Ended in an error: in no statistic"),
    Column("counts", "bool", "Its TTFT counts in the scores"),
)
TOOL_CALLS = (
    *KEYS,
    Column("number", "int64", "Place among the call's tool calls, from 1; null: expected and never matched"),
    Column("finding", "string", "`hit`, `extra`, `missing` (an expected call without match); null: invalid call"),
    Column("expected_number", "int64", "Place among gold's calls, from 1; null: extra"),
    Column("why", "string", "Missing: `not_called arguments not_run refused not_refused`"),
    Column("name", "string", "Tool"),
    Column("role", "string", "Role that called; null for `missing`, as the following"),
    Column("args", "string", "Arguments, JSON; for `missing` those that gold expects"),
    Column("output", "string", "The whole envelope, JSON"),
    Column("ok", "bool", "The envelope's `ok`"),
    Column("error", "string", "Why it could not be run; null: it ran"),
    Column("is_transfer", "bool", "A handoff"),
    Column("recovered", "bool", "Came as JSON text and was recovered"),
    Column("t_ms", "float64", "On the line's clock, when it ran"),
    Column("duration_ms", "float64", "How long it took"),
    Column("blame", "string", "Missing, in a failed call: who lost it"),
    Column("misheard", "string", "Missing: expected values that were said and not heard, JSON"),
)
TABLES: dict[str, tuple[Column, ...]] = {
    "calls": CALLS, "turns": TURNS, "inferences": INFERENCES, "tool_calls": TOOL_CALLS,
}  # fmt: skip


def filled(page: str) -> str:
    """The page with the table of columns of each table between its markers.

    Raises:
        ValueError: a marker is missing.
    """
    for name, columns in TABLES.items():
        begin = BEGIN.format(name)
        start = page.index(begin) + len(begin)
        rows = "\n".join(f"| `{c.name}` | {c.type} | {c.meaning} |" for c in columns)
        table = f"\n\n| column | type | meaning |\n|---|---|---|\n{rows}\n\n"
        page = page[:start] + table + page[page.index(END, start) :]
    return page


def main(argv: list[str]) -> int:
    """Write the columns into the page; the exit status."""
    page = TARGET.read_text(encoding="utf-8")
    if argv == ["--check"]:
        return 0 if filled(page) == page else 1
    TARGET.write_text(filled(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
