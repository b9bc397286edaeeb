"""`callm-voice show`: one finished call on the terminal."""

from __future__ import annotations

from pathlib import Path

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json
from callm_voice.core.runfolder import load_record


def show(
    call_dir: Path = typer.Argument(help="A call folder: runs/NAME/calls/PACK/TASK/MODEL/LINE/tN"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Show a call: transcript with times, the three gates, latency.

    Example: `callm-voice show runs/demo/calls/healthcare/C5-H1/oracle/pstn-g711u/t1`
    """
    from callm_voice.report.terminal import call_view

    record = load_record(call_dir)
    if as_json:
        print_json(record.model_dump(mode="json"))
        return
    out.print(call_view(record))
    out.print(f"listen: {call_dir / 'call.flac'}", markup=False, soft_wrap=True)
