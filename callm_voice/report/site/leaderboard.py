"""The overview's table: one row a model, for every choice of pack, line and difficulty.

All figures come from `report/score.py`, so a filtered table says what `callm-voice score` with the same filters says.
Cells are text already; the page's script only puts them in place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from callm_voice.core.score_format import Figures, K, ModelScore
from callm_voice.report.score import CallRow, filter_rows, score_model
from callm_voice.report.site.words import DASH, money, ms, ms_at_bar, percent, plural
from verifier.scores import Interval

COLUMNS = (
    ("Model", "ascending"), ("pass@1", ""), (f"pass{K}", ""), ("TTFT P50 ms", "ascending"),
    ("TTFT P95 ms", "ascending"), ("over the bar", "ascending"), ("category", "ascending"),
    ("V2V P50 ms", "ascending"), ("cost per call", "ascending"), ("trials", ""), ("invalid", "ascending"),
)  # fmt: skip
"""Heading, and the direction that the first click sorts in (empty: the greatest first)."""
SEPARATOR = "\u001f"
DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True)
class Choices:
    """What can be filtered by; a list with one entry is no choice."""

    packs: tuple[str, ...]
    lines: tuple[str, ...]
    difficulties: tuple[str, ...]

    def all(self) -> list[tuple[str, str, str]]:
        """Every combination, the empty text standing for all."""
        lists = [("", *(values if len(values) > 1 else ())) for values in (self.packs, self.lines, self.difficulties)]
        return [(p, line, d) for p, line, d in itertools.product(*lists)]


def choices(rows: Sequence[CallRow]) -> Choices:
    """Of some rows."""
    found = {row.difficulty for row in rows}
    return Choices(
        tuple(sorted({row.pack for row in rows})),
        tuple(sorted({row.line for row in rows})),
        tuple(d for d in DIFFICULTIES if d in found),
    )


def board(rows: Sequence[CallRow], choice: tuple[str, str, str]) -> list[dict[str, Any]]:
    """The rows of the table for one choice, best first. Models without a call there are left out."""
    kept = filter_rows(
        rows,
        packs=[choice[0]] if choice[0] else [],
        lines=[choice[1]] if choice[1] else [],
        difficulties=[choice[2]] if choice[2] else [],
    )
    scores = [score_model(name, [r for r in kept if r.model == name]) for name in sorted({r.model for r in kept})]
    scores.sort(key=lambda m: (-(m.pass_at_1_low or 0.0), -(m.pass5_low or 0.0), m.model))
    return [_row(found) for found in scores]


def _row(found: ModelScore) -> dict[str, Any]:
    ttft = found.ttft_ms
    basis = [", ".join(found.lines), *(["scripted engines"] if found.scripted else [])]
    between = "" if ttft.p50_low is None or ttft.p50_high is None else f"{ms(ttft.p50_low)} to {ms(ttft.p50_high)}"
    category = {True: "in", False: "out", None: DASH}[found.in_category]
    kinds = ", ".join(f"{n} {kind}" for kind, n in found.invalid_by_kind.items() if n)
    again = f"{found.superseded} made again" if found.superseded else ""
    cost = "" if found.cost.unknown_calls == 0 else f"unknown for {plural(found.cost.unknown_calls, 'call')}"
    return {
        "model": found.model,
        "cells": [
            _cell(found.model, found.model.casefold(), "; ".join(basis)),
            _share(found, "pass_at_1", found.pass_at_1_interval),
            _share(found, "pass5", found.pass5_interval),
            _cell(ms_at_bar(ttft.p50, found.bar_ms), ttft.p50, between),
            _cell(ms(ttft.p95), ttft.p95),
            _cell(percent(ttft.share_over_bar), ttft.share_over_bar),
            _cell(category, category, "not settled" if found.settled is False else ""),
            _cell(ms(found.v2v_ms.p50), found.v2v_ms.p50, f"P95 {ms(found.v2v_ms.p95)}" if found.v2v_ms.n else ""),
            _cell(money(found.cost_usd), found.cost_usd, cost),
            _cell(f"{found.passed:,} of {found.trials:,}", found.trials, plural(found.tasks, "task")),
            _cell(f"{found.invalid:,}", found.invalid, "; ".join(filter(None, (kinds, again)))),
        ],
        "x": ttft.p50,
        "y": found.pass_at_1,
    }


def _share(found: Figures, name: str, interval: Interval | None) -> dict[str, Any]:
    """A score with its interval; where it is undefined, its bounds."""
    value, low, high = (getattr(found, name + end) for end in ("", "_low", "_high"))
    if value is not None:
        below = "" if interval is None else f"{percent(interval.low)} to {percent(interval.high)}"
        return _cell(percent(value), value, below)
    bounds = "no trials" if low is None else f"{percent(low)} to {percent(high)}, too few trials"
    return _cell(DASH, low, bounds)


def _cell(text: str, sort: float | str | None, below: str = "") -> dict[str, Any]:
    return {"t": text, "s": sort, "b": below}


def task_cells(score_of: Callable[[str], ModelScore | None], models: Sequence[str], task: str) -> list[dict[str, Any]]:
    """One row for each model and line that tried a task: pass@1, pass5, passed of trials."""
    rows = []
    for model in models:
        found = score_of(model)
        for detail in found.tasks_detail if found else ():
            if detail.task == task:
                fifth = percent(detail.pass5)
                if detail.pass5 is None and detail.pass5_low is not None:
                    fifth = f"{DASH} ({percent(detail.pass5_low)} to {percent(detail.pass5_high)})"
                rows.append(
                    {
                        "model": model, "line": detail.line, "pass_at_1": percent(detail.pass_at_1), "pass5": fifth,
                        "passed": detail.passed, "trials": detail.trials, "invalid": detail.invalid,
                    }
                )  # fmt: skip
    return rows
