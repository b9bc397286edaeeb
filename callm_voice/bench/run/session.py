"""What the commands do with a run: start it or go on with it, look at it, allow more attempts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from callm_voice.bench.callspec import TEXT_LINE
from callm_voice.bench.run.executor import Executor
from callm_voice.bench.run.ledger import Ledger, folder_of
from callm_voice.bench.run.local import LocalExecutor
from callm_voice.bench.run.lock import run_lock
from callm_voice.bench.run.plan import FREE, PLAN_FILE, PLAN_VERSION, PlannedCall, RunArgs, RunPlan, Superseded
from callm_voice.bench.run.planner import Listener, Planner
from callm_voice.bench.run.planning import differences, extended, make_plan
from callm_voice.bench.run.store import Store, open_store
from callm_voice.core.clock import RealClock, utc_stamp
from callm_voice.core.errors import ConfigError, NotFoundError, UsageError
from callm_voice.core.ids import short_hash
from callm_voice.core.paths import cache_dir
from callm_voice.core.runfolder import RECORD_FILE
from callm_voice.core.runstate import Snapshot
from callm_voice.llm.spec import EmbeddedSpec, parse_model_arg
from callm_voice.pipeline.spec import load_pipeline
from callm_voice.speech.settings import WhisperSettings

GPU_WORKERS = 2
"""`--workers auto` where the recogniser is on a GPU: each worker has a copy of it there."""
BESIDE_RECOGNISER_CORES = 0.25
"""What a call by voice takes beside the recogniser's threads: the line, the event loop, a voice that speaks meanwhile.
Measured with `cpu.yaml` at the fast pace: engines are at work for 95 % of the time, and a call's processor time is 1.2
times theirs."""
LOOK_AGAIN_S = 0.2
Warn = Callable[[str], None]


@dataclass(frozen=True)
class EngineOptions:
    """Who makes the calls."""

    engine: str = "local"
    """`local`, `ray` or `ray:ADDRESS`."""
    workers: int | None = None
    """None: `auto`."""
    cpus_per_call: float = 1.0
    gpus_per_call: float = 0.0
    fault: str | None = None
    """Put into the first attempt at each call."""


def load_plan(store: Store) -> RunPlan | None:
    """The plan of a run, or None where there is none yet.

    Raises:
        ConfigError: there is one that this version cannot read.
    """
    data = store.read(PLAN_FILE)
    if data is None:
        return None
    try:
        plan = RunPlan.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{store.name}/{PLAN_FILE}", ".".join(map(str, first["loc"])), first["msg"]) from error
    if plan.plan_version != PLAN_VERSION:
        raise ConfigError(f"{store.name}/{PLAN_FILE}", "plan_version", f"expected {PLAN_VERSION}")
    return plan


def the_plan(store: Store) -> RunPlan:
    """The plan of a run.

    Raises:
        ConfigError: there is none.
    """
    plan = load_plan(store)
    if plan is None:
        raise ConfigError(store.name, "", f"not a planned run: there is no {PLAN_FILE} in it")
    return plan


def settled_plan(
    store: Store,
    args: RunArgs | None,
    *,
    extend: bool,
    now: str,
    on_warning: Warn,
    free: Mapping[str, object] | None = None,
) -> RunPlan:
    """The plan to work off: a new one, the one that is there, or that one with calls added. Nothing is written.

    Args:
        args: None: go on with the plan that is there.
        free: of the arguments that may change, those that were given.

    Raises:
        UsageError: the command asks for another run than the one that is there; names what differs.
    """
    old = load_plan(store)
    if args is None:
        if old is None:
            raise UsageError(f"{store.name}: there is no run to go on with", hint="give --packs and --models")
        args = run_args({**old.args.model_dump(), **(free or {})})
    elif old is not None:
        args = args.model_copy(update={key: getattr(old.args, key) for key in FREE - (free or {}).keys()})
    new = make_plan(args, created_at=now, on_warning=on_warning, old=old)
    if old is None:
        return new
    if old.product_version != new.product_version:
        on_warning(f"the plan was made by version {old.product_version}, this is {new.product_version}")
    found = differences(old, new)
    if not found:
        return old.model_copy(update={"args": old.args.model_copy(update={key: getattr(args, key) for key in FREE})})
    if extend:
        return extended(old, new)
    raise UsageError(
        f"{store.name} is another run: " + "; ".join(found),
        hint="name another --out, or add calls to this one with --extend",
    )


def run_args(fields: Mapping[str, object]) -> RunArgs:
    """Arguments of a run.

    Raises:
        UsageError: names the option and what was expected.
    """
    try:
        return RunArgs.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"--{str(first['loc'][0]).replace('_', '-')}: {first['msg']}") from error


def work_off(
    store: Store, plan: RunPlan, options: EngineOptions, clock: RealClock, on_change: Listener
) -> tuple[Snapshot, bool]:
    """Make all calls of the plan that are open; where the run then stands, and whether the cost cap stopped it.

    The plan is written first. Of several planners on one run, one works and the others are refused.

    Raises:
        UsageError: another planner is at work.
        StoppedError: something that concerns every call is wrong.
    """
    with run_lock(_lock_folder(store), pause=_pause) as lock:
        store.write(PLAN_FILE, plan.to_json().encode())
        _move_superseded(store, plan)
        ledger = Ledger(store, plan)
        with closing(make_executor(options, plan, store, lock)) as executor:
            planner = Planner(store, plan, ledger, executor, clock, on_change, fault=options.fault)
            snapshot = planner.run()
            return snapshot, planner.stopped_by_cost and snapshot.done + snapshot.used_up < snapshot.total


def make_executor(options: EngineOptions, plan: RunPlan, store: Store, lock: int) -> Executor:
    """The executor of `--engine`.

    Raises:
        UsageError: there is no such engine.
        MissingDependencyError: it is not installed.
    """
    name, _, address = options.engine.partition(":")
    if name == "ray":
        from callm_voice.bench.run.ray_tasks import RayExecutor  # only in the `ray` extra

        return RayExecutor(
            store, address=address or None, slots=options.workers, cpus=options.cpus_per_call,
            gpus=options.gpus_per_call,
        )  # fmt: skip
    if options.engine != "local":
        raise NotFoundError("engine", options.engine, ["local", "ray", "ray:ADDRESS"])
    return LocalExecutor(options.workers or auto_workers(plan), store, inherit=[lock])


def auto_workers(plan: RunPlan) -> int:
    """`--workers auto`: the cores; fewer by voice, as a call takes more than its recogniser's threads, and calls must
    not make each other late; one where a model runs on this machine (it uses all cores to read a prompt, and two would
    measure each other); two where the recogniser is on a GPU."""
    pipeline = load_pipeline(plan.args.pipeline)
    if any(isinstance(parse_model_arg(model, pipeline.models).spec, EmbeddedSpec) for model in plan.models):
        return 1
    cores = _cores()
    if not isinstance(pipeline.stt, WhisperSettings) or set(plan.args.lines) == {TEXT_LINE}:
        return cores
    if pipeline.stt.device == "cuda":
        return min(cores, GPU_WORKERS)
    return max(1, int(cores / (pipeline.stt.cpu_threads + BESIDE_RECOGNISER_CORES)))


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def retry(store: Store, *, invalid: bool, failed: bool, now: str) -> list[str]:
    """Open trials again; their ids. The run is worked off by the next `run`.

    Args:
        invalid: trials whose attempts are used up get as many again.
        failed: trials that failed are made again; the old calls are kept aside and named in the plan.

    Raises:
        UsageError: a planner is at work.
    """
    with run_lock(_lock_folder(store), pause=_pause, wait_s=0.0):
        plan = the_plan(store)
        _move_superseded(store, plan)
        ledger = Ledger(store, plan)
        more, superseded = dict(plan.more_attempts), list(plan.superseded)
        opened = []
        for standing in ledger.standings.values():
            if invalid and standing.used_up:
                more[standing.call.id] = more.get(standing.call.id, 0) + plan.args.invalid_cap
                opened.append(standing.call.id)
            if failed and standing.status == "fail":
                superseded.append(_set_aside(plan, standing.call, superseded, now))
                opened.append(standing.call.id)
        plan = plan.model_copy(update={"more_attempts": more, "superseded": superseded})
        store.write(PLAN_FILE, plan.to_json().encode())
        _move_superseded(store, plan)
        return opened


def _move_superseded(store: Store, plan: RunPlan) -> None:
    """Move what the plan says is superseded and still stands among the calls. The plan is written first, so a call is
    never out of the score without standing in the plan; a kill between the two is made good here."""
    for entry in plan.superseded:
        if store.read(f"{entry.folder}/{RECORD_FILE}") is None:
            store.move(entry.folder.replace("superseded/", "calls/", 1).rpartition("/")[0], entry.folder)


def _set_aside(plan: RunPlan, call: PlannedCall, earlier: list[Superseded], now: str) -> Superseded:
    number = 1 + sum(entry.id == call.id for entry in earlier)
    folder = folder_of(plan, call).replace("calls/", "superseded/", 1)
    return Superseded(id=call.id, folder=f"{folder}/s{number}", status="fail", at=now)


def _lock_folder(store: Store) -> Path:
    """Of a run on a URL, the lock is this machine's."""
    if store.local is not None:
        return store.local
    return cache_dir() / "run-locks" / short_hash(store.name.encode())


def open_run(where: str) -> Store:
    """The store of a run that is there.

    Raises:
        ConfigError: there is no planned run.
    """
    store = open_store(where)
    the_plan(store)
    return store


def now_utc(clock: RealClock) -> str:
    """UTC now, for the plan."""
    return utc_stamp(clock.unix_s())


def _pause() -> None:
    threading.Event().wait(LOOK_AGAIN_S)
