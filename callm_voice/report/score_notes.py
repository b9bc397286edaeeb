"""What keeps the scores of some calls from being comparable, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from callm_voice.report.score_rows import TEXT_LINE, CallRow
from verifier import VERIFIER_VERSION


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
