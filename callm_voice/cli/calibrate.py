"""`callm-voice calibrate`: proof of the probes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from callm_voice.cli.common import JSON_OPTION, out, print_json, say
from callm_voice.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from callm_voice.bench.calibrate_format import Calibration, Comparison


def calibrate(
    quick: bool = typer.Option(False, "--quick", help="Scripted engines only: no weights, a minute or two"),
    ttft_ms: Annotated[
        list[float] | None,
        typer.Option(help="Time to first token of the oracle; may be given several times [50 250 900 3000]"),
    ] = None,
    line: str = typer.Option("pstn-g711u", help="Line profile by name or path"),
    pace: str = typer.Option("fast", help="`fast` skips dead air; `real`: wall time"),
    out_dir: Path = typer.Option(Path("runs/calibrate"), "--out", help="Folder for the calls"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Prove the probes: compare what they say with two truths that they do not know.

    Calls are made with the oracle, whose time to first token is set, over tools, a handoff and barge-ins. Time to first
    token is compared with the oracle server's own log; voice to voice and the reaction to barge-in with where the known
    voices lie in the recording. A busy machine makes the figures worse, and the report says so.

    Example: `callm-voice calibrate --quick --json`

    Exits with 0 if every bar holds, 1 if one is missed.
    """
    from callm_voice.bench.calibrate import TTFTS_MS, Plan
    from callm_voice.bench.calibrate import calibrate as run

    if pace not in ("fast", "real"):
        raise UsageError(f"--pace {pace!r}: expected fast or real")
    ttfts = tuple(ttft_ms) if ttft_ms else TTFTS_MS
    if not all(0 <= ttft <= 10_000 for ttft in ttfts):
        raise UsageError(f"--ttft-ms {', '.join(f'{t:g}' for t in ttfts)}: expected 0 to 10000")
    plan = Plan(
        run_dir=out_dir,
        pipelines=("scripted",) if quick else ("scripted", "cpu"),
        ttfts_ms=ttfts,
        line=line,
        pace="fast" if pace == "fast" else "real",
    )
    found = run(plan, say)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        show(found)
    if not found.passed:
        raise typer.Exit(1)


def show(found: Calibration) -> None:
    """The table and the verdict on stdout."""
    from callm_voice.bench.calibrate_compare import errors

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("probe's error, milliseconds", "n", "P50", "P95", "max", "bias"):
        table.add_column(heading, justify="left" if heading.startswith("probe") else "right", no_wrap=True)

    def row(label: str, comparisons: Iterable[Comparison]) -> None:
        figures = errors(comparisons)
        cells = (figures.p50, figures.p95, figures.max, figures.bias)
        table.add_row(label, str(figures.n), *("-" if c is None else f"{c:.1f}" for c in cells))

    for label, name in KINDS.items():
        row(label, (c for case in found.cases for c in getattr(case, name)))
        for case in found.cases:
            row(f"  {case.pipeline}, {case.ttft_ms:g} ms", getattr(case, name))
    out.print(table)
    for case in found.cases:
        if not case.latency_valid:
            say(f"{case.pipeline}, {case.ttft_ms:g} ms: {case.invalid_reason}")
    for reason in found.missed:
        out.print(f"MISSED  {reason}", markup=False, soft_wrap=True)
    interrupted = sum(case.interrupted for case in found.cases)
    out.print(f"{interrupted} interrupted inferences, left out of every TTFT statistic", markup=False)
    out.print(f"spans sum to voice to voice within {found.spans_sum_error_ms:g} ms", markup=False)
    out.print("CALIBRATED" if found.passed else "NOT CALIBRATED", markup=False)


KINDS = {
    "Time to first token, server's log": "ttft",
    "Last token, server's log": "last_token",
    "Voice to voice, recording": "v2v",
    "Reaction to barge-in, recording": "barge_in",
}
