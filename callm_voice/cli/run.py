"""`callm-voice run`: a whole benchmark, which survives whatever happens to the machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from callm_voice.cli.common import JSON_OPTION, err, out, print_json, say
from callm_voice.core.errors import UsageError

if TYPE_CHECKING:
    from callm_voice.bench.run.plan import RunPlan

TRIALS, SEED = 5, 1


def run(
    packs: str | None = typer.Option(None, help="Packs by name or path, with commas"),
    models: str | None = typer.Option(None, help="Models, with commas, each as `callm-voice call --model` takes it"),
    lines: str = typer.Option("pstn-g711u", help="Line profiles, with commas; `text` goes without audio"),
    trials: int = typer.Option(TRIALS, min=1, help="Attempts at each task; pass5 needs five"),
    tasks: str | None = typer.Option(None, help="Only tasks that match one of these globs: 'C5-*', 'legal/C1-E?'"),
    limit: int | None = typer.Option(None, min=1, help="Only the first N tasks of each pack"),
    pace: str = typer.Option("fast", help="`fast`: skips dead air, measures the model for real. `real`: wall time"),
    pipeline: str = typer.Option("cpu", help="Pipeline by name or path"),
    caller: str = typer.Option("scripted", help="`scripted`, or llm:MODEL to let a model play the caller"),
    seed: int = typer.Option(SEED, min=0, help="Same seed, same calls"),
    out_dir: str = typer.Option(..., "--out", help="Run folder, or a URL that fsspec reaches"),
    workers: str = typer.Option("auto", help="Calls at once. `auto`: as the cores allow; 1 with an embedded model"),
    max_cost: float | None = typer.Option(None, min=0, help="Stop before the run has cost so many US dollars"),
    invalid_cap: int | None = typer.Option(None, min=1, help="Attempts at a trial that keeps being invalid: 3"),
    deadline_s: float | None = typer.Option(
        None, min=0, help="Wall seconds after which a call is killed; 1.2 × max_duration_s + 60, by text 3600"
    ),
    backoff_s: float | None = typer.Option(
        None, min=0, help="First wait for a model after an infrastructure fault, doubled each time: 5"
    ),
    engine: str = typer.Option("local", help="`local`: processes here. `ray` or `ray:ADDRESS`: Ray tasks"),
    cpus_per_call: float = typer.Option(1.0, min=0, help="Ray: processors that a call takes"),
    gpus_per_call: float = typer.Option(0.0, min=0, help="Ray: share of a GPU that a call takes"),
    fault: str | None = typer.Option(
        None, help="Put a fault into the first attempt at each call, as `callm-voice call --fault` does; no measurement"
    ),
    extend: bool = typer.Option(False, "--extend", help="Add calls to the run that is there; none is changed"),
    dry_run: bool = typer.Option(False, "--dry-run", help="Check everything, show the plan, write nothing"),
    as_json: bool = JSON_OPTION,
) -> None:
    """Make all calls of packs × models × lines × trials. The same command again goes on where it stopped.

    Examples:

    `callm-voice run --packs healthcare,legal --models oracle,qwen2.5-coder-0.5b --lines pstn-g711u --out runs/first`

    `callm-voice run --out runs/first` goes on with a run, as does the whole command

    `callm-voice run --packs healthcare --models a,b,c --out runs/first --max-cost 20 --extend` adds models

    `callm-voice run --packs healthcare --models oracle --tasks 'C1-*' --limit 2 --trials 1 --out runs/try --dry-run`

    Exits with 0 if every trial has a verdict, 1 if trials are left (cost cap, attempts used up), 2 for a mistake in the
    command or another plan in the folder, 3 if this machine lacks something.
    """
    from callm_voice.bench.faults import parse_fault
    from callm_voice.bench.run.session import EngineOptions, now_utc, run_args, settled_plan, work_off
    from callm_voice.bench.run.status import status
    from callm_voice.bench.run.store import open_store
    from callm_voice.core.clock import RealClock
    from callm_voice.report.run_progress import RunProgress

    given = {"max_cost": max_cost, "invalid_cap": invalid_cap, "deadline_s": deadline_s, "backoff_s": backoff_s}
    free = {key: value for key, value in given.items() if value is not None}
    args = None
    if packs is not None or models is not None:
        if packs is None or models is None:
            raise UsageError("--packs and --models go together")
        args = run_args(
            {
                "packs": _list(packs), "models": _list(models), "lines": _list(lines), "trials": trials, "tasks": tasks,
                "limit": limit, "pace": pace, "pipeline": pipeline, "caller": caller, "seed": seed, **free,
            }
        )  # fmt: skip
    options = EngineOptions(
        engine=engine, workers=_workers(workers), cpus_per_call=cpus_per_call, gpus_per_call=gpus_per_call,
        fault=str(parse_fault(fault)) if fault else None,
    )  # fmt: skip
    store = open_store(out_dir)
    clock = RealClock()
    try:
        plan = settled_plan(store, args, extend=extend, now=now_utc(clock), on_warning=_warn, free=free)
        if dry_run:
            show_plan(plan, as_json=as_json)
            return
        with RunProgress(err) as progress:
            _, by_cost = work_off(store, plan, options, clock, progress.show)
    finally:
        clock.close()
    found = status(store)
    if by_cost:
        say(f"stopped at the cost cap of ${plan.args.max_cost:g}; go on with a higher --max-cost")
    if as_json:
        print_json(found)
    else:
        from callm_voice.cli.status import show_status

        show_status(found)
    raise typer.Exit(0 if found["done"] == found["calls"] else 1)


def show_plan(plan: RunPlan, *, as_json: bool) -> None:
    """What would be done."""
    if as_json:
        print_json(plan.model_dump(mode="json"))
        return
    out.print(f"{len(plan.calls)} calls", markup=False)
    for call in plan.calls[:10]:
        out.print(f"  {call.id}  seed {call.seed}", markup=False, soft_wrap=True)
    if len(plan.calls) > 10:
        out.print(f"  and {len(plan.calls) - 10} more", markup=False)


def _list(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _workers(text: str) -> int | None:
    if text == "auto":
        return None
    most = 16 * (os.cpu_count() or 1)
    if not text.isdigit() or not 1 <= int(text) <= most:
        raise UsageError(f"--workers {text}: expected `auto` or a number from 1 to {most}")
    return int(text)


def _warn(text: str) -> None:
    say(f"warning: {text}")
