"""`callm-voice verify`: compute the verdicts of finished calls again, offline."""

from __future__ import annotations

from pathlib import Path

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json
from callm_voice.core.errors import NotFoundError
from callm_voice.core.runfolder import find_calls


def verify(
    run: Path = typer.Argument(help="A run folder, or one call folder in it"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Recompute the verdicts of all finished calls of a run from its folders alone.

    Exits with 1 if a verdict differs from the recorded one. Example: `callm-voice verify runs/demo`
    """
    from callm_voice.bench.reverify import reverify_call

    calls = find_calls(run)
    if not calls:
        raise NotFoundError("finished call", str(run), [])
    results = [reverify_call(folder, relative_to=run) for folder in calls]
    changed = [r for r in results if not r.same]
    if as_json:
        print_json({"calls": [r.as_json() for r in results], "changed": len(changed)})
    else:
        for result in results:
            out.print(result.line(), markup=False, soft_wrap=True)
    if changed:
        raise typer.Exit(1)
