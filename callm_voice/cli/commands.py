"""All commands of `callm-voice`, and the one boundary where errors become a line and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from callm_voice import __version__
from callm_voice.cli import (
    calibrate,
    call,
    demo,
    doctor,
    export,
    line,
    models,
    notebooks,
    packs,
    profile,
    report,
    score,
    serve,
    show,
    verify,
    voices,
)
from callm_voice.cli import retry as retry_command
from callm_voice.cli import run as run_command
from callm_voice.cli import status as status_command
from callm_voice.cli.common import say
from callm_voice.core.errors import CallmError


class _InterruptedError(Exception):
    """Ctrl-C, past typer: it would leave with 130 and without a word."""


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _InterruptedError from error


app = typer.Typer(
    name="callm-voice",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Which language model can run a phone front desk? A simulated caller really speaks over a real telephone line "
    "to a real recogniser; the model works the desk; a deterministic verifier scores the call.",
)
app.command("call")(call.call)
app.command("run")(run_command.run)
app.command("status")(status_command.status)
app.command("retry")(retry_command.retry)
app.command("calibrate")(calibrate.calibrate)
app.command("verify")(verify.verify)
app.command("show")(show.show)
app.command("report")(report.report)
app.command("serve")(serve.serve)
app.command("score")(score.score)
app.command("export")(export.export)
app.command("notebooks")(notebooks.notebooks)
app.command("profile")(profile.profile)
app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)
app.command("voices")(voices.voices)
app.add_typer(models.app, name="models")
app.add_typer(line.app, name="line")
app.add_typer(packs.app, name="packs")


@app.callback(invoke_without_command=True)
def version(
    show_version: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    """Options of the program itself."""
    if show_version:
        typer.echo(f"callm-voice {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command of this process's arguments; errors become one line and an exit code.

    Raises:
        KeyboardInterrupt: Ctrl-C.
        SystemExit: always, otherwise.
    """
    try:
        app()
    except CallmError as error:
        say(f"callm-voice: {error.one_line()}")
        sys.exit(error.exit_code)
    except _InterruptedError:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - the outermost boundary: a fault of ours becomes one line too
        if os.environ.get("CALLM_VOICE_DEBUG"):
            traceback.print_exc()
        kind = type(error).__name__
        say(f"callm-voice: internal error: {kind}: {error} (set CALLM_VOICE_DEBUG=1 for the traceback, and report it)")
        sys.exit(3)
