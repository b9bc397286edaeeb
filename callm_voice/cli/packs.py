"""`callm-voice packs`: prove a pack, begin a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from callm_voice.bench.packcheck.findings import TaskReport
from callm_voice.cli.common import JSON_OPTION, out, print_json, say

app = typer.Typer(no_args_is_help=True, help="Check packs of tasks and begin new ones.")


@app.command()
def check(
    packs: list[str] = typer.Argument(
        None, help="Packs by name or path; none named: all of the benchmark that are found"
    ),
    as_json: bool = JSON_OPTION,
    origins: bool = typer.Option(False, "--origins", help="Also say where each expected argument comes from"),
    bars: bool = typer.Option(
        False, "--bars", help="Also ask for the size and prompt lengths of the benchmark's own packs"
    ),
    voice: bool = typer.Option(
        False, "--voice", help="Also speak what the caller says over pstn-g711u to Whisper base; needs the weights"
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
    from callm_voice.bench.packcheck.run import benchmark_packs, check_packs
    from callm_voice.bench.resolve import pack_dir
    from callm_voice.core.errors import UsageError

    if tasks and len(packs or ()) != 1:
        raise UsageError("--task needs exactly one pack")
    folders = [pack_dir(name) for name in packs] if packs else benchmark_packs()
    if not folders:
        raise UsageError("there are no packs here", hint="callm-voice packs new NAME makes one")
    reports = check_packs(
        folders, bars=bars, tasks=tasks or None, voice=voice,
        on_task=lambda pack, task: say(f"{pack}/{task.id}: {_word(task)}"),
    )  # fmt: skip
    documents = [report.document(origins=origins) for report in reports]
    if as_json:
        print_json({"packs": documents})
    else:
        _show(documents)
    if any(report.problems for report in reports):
        raise typer.Exit(1)


@app.command()
def new(
    name: str = typer.Argument(..., help="Id of the pack: small letters, digits and _"),
    into: Path = typer.Option(Path("packs"), "--into", help="Folder to make it in; ./packs is searched by name"),
) -> None:
    """Begin a pack: two roles, three tools, one task, proven.

    Example: `callm-voice packs new bike_shop`, then `callm-voice packs check bike_shop`.
    """
    from callm_voice.bench.packnew import new_pack

    folder = new_pack(name, into)
    known = name if into == Path("packs") else str(folder)
    out.print(f"made {folder}", markup=False, soft_wrap=True)
    say(f"check it:  callm-voice packs check {known}")
    say(f"call it:   callm-voice call --task {known}/C1-E1 --model oracle --line text")


def _word(task: TaskReport) -> str:
    """How a task is doing, for the terminal."""
    heard = ", heard" if task.inaudible is not None else ""
    return f"{len(task.problems)} wrong{heard}" if task.problems else f"ok{heard}"


ROWS = {
    "tasks": "tasks",
    "roles": "roles",
    "tools": "tools",
    "tables": "tables",
    "prompt_tokens_min": "prompt tokens, least",
    "prompt_tokens_max": "prompt tokens, most",
    "gold_pass": "gold passes",
    "noop_fail": "doing nothing fails",
    "mutations": "single changes",
    "mutations_caught": "  of them fail",
    "oracle_complete": "oracle comes to the end",
    "ambiguous": "undetermined arguments",
    "inaudible": "inaudible arguments",
}


def _show(documents: list[dict[str, Any]]) -> None:
    """Counts as a table, then origins if they are there, then what is wrong."""
    table = Table("", *(d["id"] for d in documents), box=None, pad_edge=False)
    for key, title in ROWS.items():
        if any(key in d for d in documents):
            table.add_row(title, *(f"{d[key]:,}" if key in d else "" for d in documents))
    out.print(table)
    for d in documents:
        for task, found in d.get("origins", {}).items():
            for o in found:
                _line(f"{d['id']}/{task} {o['tool']} {o['key']} = {o['value']!r}: {o['origin'] or 'FROM NOWHERE'}")
        for p in d["problems"]:
            where = f"{d['id']}/{p['file']}" + (f":{p['line']}" if p["line"] else "")
            _line(": ".join(part for part in (where, p["key"], p["problem"]) if part))


def _line(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)
