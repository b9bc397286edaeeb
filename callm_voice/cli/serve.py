"""`callm-voice serve`: calls in the browser while they are made."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json, say
from callm_voice.core.errors import MissingDependencyError, UsageError

NEEDED = ("fastapi", "uvicorn", "websockets", "aiortc")


def serve(
    run: Path = typer.Option(Path("runs/live"), "--run", help="Run folder; it need not be there yet"),
    host: str = typer.Option("127.0.0.1", "--host", help="Address; any but this machine's own needs a token"),
    port: int = typer.Option(8765, "--port", min=0, max=65535, help="Port; 0: any that is free"),
    token: str | None = typer.Option(
        None, "--token", envvar="CALLM_VOICE_TOKEN", help="Who has it may come in: `?token=...` once, or as a bearer"
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Show a run in the browser while it grows: listen in to running calls, follow their events, read the report.

    The calls are made by other commands, into the same run folder; they need not know of it. `Ctrl-C` ends it.

    Examples:

    `callm-voice serve --run runs/first`

    `callm-voice serve --run runs/first --host 0.0.0.0 --port 8000 --token SECRET`
    """
    for package in NEEDED:
        if importlib.util.find_spec(package) is None:
            raise MissingDependencyError(package, "live")
    from callm_voice.web.server import serve as serve_run
    from callm_voice.web.settings import ServeSettings

    if run.exists() and not run.is_dir():
        raise UsageError(f"--run {run}: expected a folder")
    settings = ServeSettings(run=run, host=host, port=port, token=token)

    def on_ready(url: str) -> None:
        if as_json:
            print_json({"url": url, "run": str(run), "token_needed": token is not None})
        else:
            out.print(url, markup=False, soft_wrap=True)
        sys.stdout.flush()  # whoever started it in the background reads the address now
        if token is not None:
            say("open it with ?token=... behind the address; the browser keeps the token after that")

    serve_run(settings, on_ready)
