"""`callm-voice report`: the static site of some runs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json, say
from callm_voice.core.errors import UsageError

AUDIO = ("flac", "opus", "none")


def report(
    runs: list[Path] = typer.Argument(help="Run folders, or any folders with finished calls below them"),
    out_dir: Path = typer.Option(Path("site"), "--out", help="Folder of the site; one that stands there is replaced"),
    audio: str = typer.Option("flac", help="`flac`: as recorded. `opus`: under half the size. `none`: without sound"),
    workers: int | None = typer.Option(None, min=1, help="Processes; if not given, as many as cores for a large run"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Build a static site: see and hear every call.

    It needs no server, makes no request off its folder and works from `file://` and from any sub-path of a web server.

    Examples:

    `callm-voice report runs/demo --out site`

    `callm-voice report runs/monday runs/tuesday --out site --audio opus --json`
    """
    from callm_voice.report.site.build import build_site

    if audio not in AUDIO:
        raise UsageError(f"--audio {audio}: expected one of {', '.join(AUDIO)}")
    kind = cast(Literal["flac", "opus", "none"], audio)
    built = build_site(runs, out_dir, audio=kind, workers=workers, on_progress=say)
    if as_json:
        print_json(
            {
                "index": str(built.index), "calls": built.calls, "failures": built.failures, "tasks": built.tasks,
                "pages": built.pages, "bytes": built.bytes,
            }
        )  # fmt: skip
        return
    out.print(
        f"{built.calls:,} calls, {built.failures:,} of them not passed, {built.pages:,} pages, "
        f"{built.bytes / 1e6:,.1f} MB",
        markup=False,
        soft_wrap=True,
    )
    out.print(str(built.index), markup=False, soft_wrap=True)
