"""What keeps the scores of some calls from being comparable, in words."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from callm_voice.core.errors import ConfigError
from callm_voice.report.score_rows import TEXT_LINE, CallRow
from verifier import VERIFIER_VERSION

PLAN_FILE = "plan.json"
"""Of a planned run; its `calls` are all that it is to make."""


def notes(rows: Sequence[CallRow]) -> tuple[str, ...]:
    """One line for each thing that was found; none of them changes a figure."""
    counted = [row for row in rows if not row.superseded]
    found: list[str] = []
    hashes: dict[str, set[str]] = defaultdict(set)
    for row in counted:
        hashes[row.pack].add(row.pack_hash)
    found += [
        f"pack {pack}: calls of {len(of)} different states of it" for pack, of in sorted(hashes.items()) if len(of) > 1
    ]
    for word, values in (
        ("pipelines", {row.pipeline for row in counted if row.line != TEXT_LINE}),
        ("callers", {row.caller for row in counted}),
        ("versions of the product", {row.product_version for row in counted}),
    ):
        if len(values) > 1:
            found.append(f"different {word}: {', '.join(sorted(values))}")
    again = sum(row.verified_again for row in counted)
    if again:
        found.append(f"{again} verdicts of another version of the verifier were computed anew ({VERIFIER_VERSION})")
    blind = sum(row.scored and row.status == "fail" and row.blame is None for row in counted)
    if blind:
        found.append(f"{blind} failed calls have no gold.json, so nobody is blamed for them")
    return (*found, *_lacking(counted))


def unfinished(run_dirs: Sequence[Path], rows: Sequence[CallRow]) -> tuple[str, ...]:
    """One line for each planned run that has planned calls without a scored one.

    Raises:
        ConfigError: a plan is not JSON, or has no calls.
    """
    found = []
    for run_dir in run_dirs:
        path = run_dir / PLAN_FILE
        if not path.is_file():
            continue
        try:
            planned = len(json.loads(path.read_text(encoding="utf-8"))["calls"])
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(path, "calls", "not a plan: expected a list of calls") from error
        done = sum(row.scored and row.folder.is_relative_to(run_dir) for row in rows)
        if done < planned:
            found.append(f"run {run_dir.resolve().name}: {done} of {planned} planned calls are scored")
    return tuple(found)


def _lacking(rows: Sequence[CallRow]) -> list[str]:
    """Models that were not called on every task and line that another one was called on."""
    cells: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        if row.scored:
            cells[row.model].add((row.task, row.line))
    for row in rows:
        cells[row.model]  # a model with invalid calls alone lacks them all
    every = set().union(*cells.values()) if cells else set()
    return [
        f"model {model}: no valid call of {len(every - own)} of {len(every)} task and line pairs that others have"
        for model, own in sorted(cells.items())
        if every - own
    ]
