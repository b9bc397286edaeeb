"""`callm-voice score`: the scoreboard of finished calls."""

from __future__ import annotations

from pathlib import Path

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json


def score(
    runs: list[Path] = typer.Argument(..., help="Run folders, or any folders with calls below them"),
    as_json: bool = JSON_OPTION,
    packs: list[str] = typer.Option(None, "--pack", help="Only this pack; repeatable, as the filters below"),
    lines: list[str] = typer.Option(None, "--line", help="Only this line; `text` for calls without audio"),
    categories: list[str] = typer.Option(None, "--category", help="Only this category: C5, or PACK/C5"),
    difficulties: list[str] = typer.Option(None, "--difficulty", help="Only `easy`, `medium` or `hard` tasks"),
    models: list[str] = typer.Option(None, "--model", help="Only this model"),
) -> None:
    """Score all finished calls of some runs: pass@1, pass5, latency, cost, comparisons, what voice costs, blame.

    Everything is computed from the call folders. Invalid calls are shown and never scored. docs/method.md defines
    every figure.

    Examples:

    `callm-voice score runs/night`

    `callm-voice score runs/a runs/b --pack healthcare --difficulty hard --json`
    """
    from callm_voice.report.score import filter_rows, load_calls, score_run, unfinished
    from callm_voice.report.score_view import score_view

    every = load_calls(runs)
    rows = filter_rows(
        every,
        packs=packs or (), lines=lines or (), categories=categories or (), difficulties=difficulties or (),
        models=models or (),
    )  # fmt: skip
    found = score_run(rows, remarks=unfinished(runs, every))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    out.print(score_view(found))
