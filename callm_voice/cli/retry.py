"""`callm-voice retry`: open trials of a run again."""

from __future__ import annotations

import typer

from callm_voice.cli.common import JSON_OPTION, out, print_json, say
from callm_voice.core.errors import UsageError


def retry(
    run: str = typer.Argument(..., help="Run folder or URL"),
    invalid: bool = typer.Option(False, "--invalid", help="Trials whose attempts were all invalid get as many again"),
    failed: bool = typer.Option(False, "--failed", help="Trials that failed are made again. The old calls are shown"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Open trials of a run again; `callm-voice run --out RUN` then makes them.

    Making failed calls again until they pass is no measurement. `--failed` is for failures whose cause is mended (a
    wrong setting of the server). The old calls go to RUN/superseded and into plan.json, and every status names them.

    Examples:

    `callm-voice retry runs/first --invalid && callm-voice run --out runs/first`

    `callm-voice retry runs/first --failed --json`
    """
    from callm_voice.bench.run.session import now_utc, open_run
    from callm_voice.bench.run.session import retry as retry_run
    from callm_voice.core.clock import RealClock

    if not invalid and not failed:
        raise UsageError("retry: say what: --invalid or --failed")
    clock = RealClock()
    try:
        opened = retry_run(open_run(run), invalid=invalid, failed=failed, now=now_utc(clock))
    finally:
        clock.close()
    if as_json:
        print_json({"run": run, "opened": opened})
        return
    for call_id in opened:
        out.print(call_id, markup=False, soft_wrap=True)
    say(f"{len(opened)} trials are open again" + (f"; go on with: callm-voice run --out {run}" if opened else ""))
