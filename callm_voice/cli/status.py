"""`callm-voice status`: where a run stands."""

from __future__ import annotations

from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from callm_voice.cli.common import JSON_OPTION, out, print_json


def status(
    run: str = typer.Argument(..., help="Run folder or URL"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Show what of a run is done, what is left, what was invalid, what it cost. Reads only, also while it runs.

    Examples:

    `callm-voice status runs/first`

    `callm-voice status runs/first --json`
    """
    from callm_voice.bench.run.session import open_run
    from callm_voice.bench.run.status import status as status_of

    found = status_of(open_run(run))
    if as_json:
        print_json(found)
    else:
        show_status(found)


def show_status(found: dict[str, Any]) -> None:
    """The document on stdout, for a person."""
    from callm_voice.report.run_progress import duration

    head = f"{found['run']}: {found['state']}, {found['done']} of {found['calls']} calls done"
    if found["running"]:
        head += f", {len(found['running'])} running"
    if found["eta_s"] is not None:
        head += f", {duration(found['eta_s'])} left"
    out.print(head, markup=False, soft_wrap=True)
    table = Table("model", "done", "pass", "fail", "invalid", "given up", "cost")
    for row in found["models"]:
        invalid = ", ".join(f"{count} {kind}" for kind, count in row["invalid"].items() if count) or "0"
        cost = "unknown" if row["cost_usd"] is None else f"${row['cost_usd']:.4f}"
        counts = [f"{row['done']}/{row['calls']}", str(row["passed"]), str(row["failed"])]
        table.add_row(Text(row["model"], overflow="fold"), *counts, invalid, str(row["used_up"]), cost)
    out.print(table)
    for entry in found["superseded"]:
        out.print(f"superseded: {entry['id']} ({entry['status']}), kept in {entry['folder']}", markup=False)
    for call_id in found["used_up"]:
        out.print(f"given up: {call_id}; `callm-voice retry RUN --invalid` allows more attempts", markup=False)
