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
    """Show a call as its page in the site does: what went wrong, transcript, gates, blame, latency turn by turn.

    Example: `callm-voice show runs/demo/calls/healthcare/C5-H1/oracle/pstn-g711u/t1`
    """
    from callm_voice.report.site.collect import find_places, load_call
    from callm_voice.report.terminal import call_view

    record = load_record(call_dir)
    if as_json:
        print_json(record.model_dump(mode="json"))
        return
    call = load_call(find_places([call_dir])[0])
    out.print(call_view(call))
    if call.place.audio is not None:
        out.print(f"listen: {call.place.audio}", markup=False, soft_wrap=True)
