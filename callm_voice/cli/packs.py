"""`callm-voice packs`: prove a pack, begin a new one."""

from __future__ import annotations

from typing import Any

import typer
from rich.table import Table

from callm_voice.cli.common import JSON_OPTION, out, print_json, say

app = typer.Typer(no_args_is_help=True, help="Check packs of tasks and begin new ones.")


@app.command()
def check(
    packs: list[str] = typer.Argument(None, help="Packs by name or path; none named: all that are found"),
    as_json: bool = JSON_OPTION,
    origins: bool = typer.Option(False, "--origins", help="Also say where each expected argument comes from"),
    bars: bool = typer.Option(
        False, "--bars", help="Also ask for the size and prompt lengths of the benchmark's own packs"
    ),
    tasks: list[str] = typer.Option(None, "--task", help="Only these tasks of one pack, such as C5-H1; repeatable"),
) -> None:
    """Prove that every task is right: gold passes, doing nothing fails, each single change fails, nothing is ambiguous.

    The gold calls run through the pack's real tools, the oracle's dialogue through the desk with the scripted caller.

    Examples:

    `callm-voice packs check healthcare --json`

    `callm-voice packs check ./packs/mine --task C1-E1 --origins`

    Exits with 1 if anything is wrong.
    """
    from callm_voice.bench.packcheck.run import check_packs
    from callm_voice.bench.resolve import pack_dir
    from callm_voice.core import paths
    from callm_voice.core.errors import UsageError

    if tasks and len(packs or ()) != 1:
        raise UsageError("--task needs exactly one pack")
    folders = [pack_dir(name) for name in packs or paths.known_names("packs")]
    if not folders:
        raise UsageError("there are no packs here", hint="callm-voice packs new NAME makes one")
    reports = check_packs(
        folders, bars=bars, tasks=tasks or None,
        on_task=lambda pack, task: say(f"{pack}/{task.id}: {'ok' if not task.problems else 'WRONG'}"),
    )  # fmt: skip
    documents = [report.document(origins=origins) for report in reports]
    if as_json:
        print_json({"packs": documents})
    else:
        _show(documents)
    if any(report.problems for report in reports):
        raise typer.Exit(1)


COLUMNS = {
    "id": "pack", "tasks": "tasks", "roles": "roles", "tools": "tools", "tables": "tables", "gold_pass": "gold",
    "noop_fail": "no-op", "mutations": "mutations", "mutations_caught": "caught", "oracle_complete": "oracle",
    "ambiguous": "ambiguous", "inaudible": "inaudible",
}  # fmt: skip


def _show(documents: list[dict[str, Any]]) -> None:
    """Counts as a table, then origins if they are there, then what is wrong."""
    columns = {key: title for key, title in COLUMNS.items() if any(key in d for d in documents)}
    table = Table(*columns.values(), "prompt tokens", box=None, pad_edge=False)
    for d in documents:
        tokens = f"{d['prompt_tokens_min']:,}-{d['prompt_tokens_max']:,}"
        table.add_row(*(f"{d[key]:,}" if isinstance(d[key], int) else str(d[key]) for key in columns), tokens)
    out.print(table)
    for d in documents:
        for task, found in d.get("origins", {}).items():
            for o in found:
                words = f"{d['id']}/{task} {o['tool']} {o['key']} = {o['value']!r}: {o['origin'] or 'FROM NOWHERE'}"
                out.print(words, markup=False, soft_wrap=True)
        for p in d["problems"]:
            where = f"{p['file']}:{p['line']}" if p["line"] else p["file"]
            out.print(
                ": ".join(part for part in (f"{d['id']}/{where}", p["key"], p["problem"]) if part),
                markup=False,
                soft_wrap=True,
            )
