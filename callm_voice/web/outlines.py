"""Verdicts of finished calls, for the live page: the newest ones, each record read once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from callm_voice.core.runfolder import RECORD_FILE
from callm_voice.web.index import Entry
from callm_voice.web.tails import open_plain

NEWEST = 50


@dataclass(frozen=True)
class Outline:
    """What the page shows of one finished call."""

    entry: Entry
    status: str
    """`pass`, `fail`, `invalid`, `unscored`."""
    kind: str
    """Of an invalid one."""
    task: str
    model: str
    line: str
    end_reason: str
    started_at: str
    duration_ms: float


class Outlines:
    """Keeps what was read."""

    def __init__(self) -> None:
        self._known: dict[Entry, Outline | None] = {}

    def of(self, newest: Sequence[Entry]) -> list[Outline]:
        """Those of `newest` that can be read, in its order. It reads files: call it in a thread."""
        self._known = {entry: self._known[entry] if entry in self._known else read_outline(entry) for entry in newest}
        return [outline for outline in self._known.values() if outline is not None]


def read_outline(entry: Entry) -> Outline | None:
    """One call's; None: there is no record that has it."""
    try:
        with open_plain(entry.folder / RECORD_FILE) as file:
            record: dict[str, Any] = json.load(file)
        outcome, config = record["outcome"], record["config"]
        return Outline(
            entry,
            status=str(outcome["status"]), kind=str(outcome.get("invalid_kind") or ""), task=str(config["task"]),
            model=str(config["model"]), line=str(config["line"]), end_reason=str(outcome["end_reason"]),
            started_at=str(record["started_at"]), duration_ms=float(record["duration_ms"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
