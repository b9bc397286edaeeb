"""From the arguments of a run to its plan: everything is loaded and checked before anything starts."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from callm_voice import __version__
from callm_voice.bench.callspec import TEXT_LINE, CallSpec
from callm_voice.bench.resolve import CALLER_PREFIX, pack_dir, resolve
from callm_voice.bench.run.plan import FREE, NamedHash, PackPlan, RunArgs, RunPlan, planned_calls
from callm_voice.bench.runfile import file_hash
from callm_voice.bench.workshop import Workshop
from callm_voice.core import paths
from callm_voice.core.errors import UsageError
from callm_voice.core.ids import short_hash
from callm_voice.core.record import PERSON
from callm_voice.core.runfolder import safe_name
from callm_voice.desk.pack import Pack
from callm_voice.line.profile import load_profile
from callm_voice.llm.secrets import read_env, resolve_headers
from callm_voice.llm.spec import NamedSpec, OpenAiSpec, parse_model_arg
from callm_voice.pipeline.spec import PipelineSpec, load_pipeline

Warn = Callable[[str], None]


def make_plan(args: RunArgs, *, created_at: str, on_warning: Warn, old: RunPlan | None = None) -> RunPlan:
    """The plan of a run.

    Args:
        old: the plan that is there; tasks of packs that have not changed since need not be checked again.
        created_at: UTC.
        on_warning: gets a line for what is allowed and worth a second look.

    Raises:
        UsageError: anything of the user's is wrong, in any task, line or model of the run.
    """
    shop = Workshop()
    pipeline = load_pipeline(args.pipeline)
    packs: dict[str, PackPlan] = {}
    tasks: dict[str, list[str]] = {}
    for source in args.packs:
        pack = shop.pack(pack_dir(source))
        if pack.id in packs:
            raise UsageError(f"--packs: {source!r} and {packs[pack.id].source!r} are both the pack {pack.id!r}")
        if not pack.file.benchmark:
            on_warning(f"the pack {pack.id} is not for the benchmark (benchmark: false); it runs because it was named")
        packs[pack.id] = PackPlan(
            source=source, version=pack.file.version, start_role=pack.file.start_role, hash=pack.content_hash,
            files=_files(pack),
        )  # fmt: skip
        tasks[pack.id] = _chosen(pack, args)
    if not any(tasks.values()):
        raise UsageError(f"--tasks {args.tasks}: no task of {', '.join(packs)} matches")
    lines = {line: _line(line) for line in args.lines}
    models = {model: _model(model, pipeline) for model in _asked_models(args)}
    _check_folders([*args.models], "model")
    calls = list(planned_calls(args, tasks))
    for pack_id, ids in tasks.items():
        known = _checked_tasks(old, pack_id, packs[pack_id].hash)
        for task in ids:
            if task in known:
                continue
            resolve(_any_spec(args, packs[pack_id].source, task), shop)
    return RunPlan(
        created_at=created_at, product_version=__version__, args=args, packs=packs, lines=lines, models=models,
        pipeline=NamedHash(id=pipeline.id, hash=file_hash(paths.find("pipelines", args.pipeline))),
        max_duration_s=pipeline.limits.max_duration_s, calls=calls,
    )  # fmt: skip


def differences(old: RunPlan, new: RunPlan) -> list[str]:
    """What keeps the command of `new` from going on with `old`, a line each; none: it is the same run."""
    asked = new.args.model_dump(exclude=set(FREE))
    if any(asked == args.model_dump(exclude=set(FREE)) for args in (old.args, *old.earlier_args)):
        return changed_inputs(old, new)
    was = old.args.model_dump(exclude=set(FREE))
    found = [f"--{key.replace('_', '-')}: was {_shown(was[key])}, is {_shown(asked[key])}" for key in asked
             if was[key] != asked[key]]  # fmt: skip
    return found + changed_inputs(old, new)


def changed_inputs(old: RunPlan, new: RunPlan) -> list[str]:
    """Files and specs that both plans use and that are not the same any more."""
    found = []
    for pack_id in old.packs.keys() & new.packs.keys():
        was, now = old.packs[pack_id], new.packs[pack_id]
        names = sorted(was.files.keys() | now.files.keys())
        edited = [name for name in names if was.files.get(name) != now.files.get(name)]
        found += [f"the pack {pack_id} was edited: {name}" for name in edited[:5]]
        if len(edited) > 5:
            found.append(f"the pack {pack_id} was edited: {len(edited) - 5} more files")
    for kind, were, are in (("line", old.lines, new.lines), ("model", old.models, new.models)):
        both = sorted(were.keys() & are.keys())
        found += [f"the {kind} {name} is not what it was" for name in both if were[name].hash != are[name].hash]
    if old.args.pipeline == new.args.pipeline and old.pipeline.hash != new.pipeline.hash:
        found.append(f"the pipeline {old.args.pipeline} was edited")
    return found


def extended(old: RunPlan, new: RunPlan) -> RunPlan:
    """`old` with the calls of `new` that it does not have, behind its own.

    Raises:
        UsageError: that would change a call of `old`.
    """
    fixed = ("seed", "pace", "pipeline", "caller")
    wrong = [f"--{key} must stay {getattr(old.args, key)}" for key in fixed
             if getattr(old.args, key) != getattr(new.args, key)]  # fmt: skip
    wrong += changed_inputs(old, new)
    if wrong:
        raise UsageError("--extend only adds calls: " + "; ".join(wrong), hint="start a new run with another --out")
    have = {call.id for call in old.calls}
    return old.model_copy(
        update={
            "args": new.args,
            "earlier_args": [*old.earlier_args, old.args],
            "packs": {**new.packs, **old.packs},
            "lines": {**new.lines, **old.lines},
            "models": {**new.models, **old.models},
            "calls": [*old.calls, *(call for call in new.calls if call.id not in have)],
        }
    )


def _checked_tasks(old: RunPlan | None, pack_id: str, pack_hash: str) -> set[str]:
    if old is None or pack_id not in old.packs or old.packs[pack_id].hash != pack_hash:
        return set()
    return {call.task for call in old.calls if call.pack == pack_id}


def _asked_models(args: RunArgs) -> list[str]:
    caller = [args.caller.removeprefix(CALLER_PREFIX)] if args.caller.startswith(CALLER_PREFIX) else []
    return [*args.models, *caller]


def _any_spec(args: RunArgs, pack: str, task: str) -> CallSpec:
    if args.caller == PERSON:
        raise UsageError("--caller person: a run makes its calls by itself; a person calls in with `callm-voice serve`")
    return CallSpec(
        task=f"{pack}/{task}", model=args.models[0], pipeline=args.pipeline, line=args.lines[0], caller=args.caller,
        pace=args.pace, run_dir=Path("."),
    )  # fmt: skip


def _chosen(pack: Pack, args: RunArgs) -> list[str]:
    globs = [glob.strip() for glob in (args.tasks or "*").split(",") if glob.strip()]
    ids = [t for t in pack.task_ids() if any(fnmatchcase(t, g) or fnmatchcase(f"{pack.id}/{t}", g) for g in globs)]
    return ids[: args.limit]


def _files(pack: Pack) -> dict[str, str]:
    """As `Pack.content_hash` sees them: hidden files and caches are left out."""
    names = sorted(p.relative_to(pack.path) for p in pack.path.rglob("*") if p.is_file())
    shown = [name for name in names if not any(part.startswith(".") or part == "__pycache__" for part in name.parts)]
    return {name.as_posix(): file_hash(pack.path / name) for name in shown}


def _line(line: str) -> NamedHash:
    if line == TEXT_LINE:
        return NamedHash(id=TEXT_LINE, hash="")
    return NamedHash(id=load_profile(line).id, hash=file_hash(paths.find("audio_profiles", line)))


def _model(model: str, pipeline: PipelineSpec) -> NamedHash:
    named = parse_model_arg(model, pipeline.models)
    _check_keys(named)
    return NamedHash(id=named.name, hash=short_hash(named.spec.model_dump_json(exclude={"price"}).encode(), 64))


def _check_keys(model: NamedSpec) -> None:
    """All keys that it needs are set; nothing is kept of them."""
    if isinstance(model.spec, OpenAiSpec):
        what = f"the model {model.name}"
        resolve_headers(model.spec.headers, what=what)
        if model.spec.api_key_env:
            read_env(model.spec.api_key_env, what=what)


def _check_folders(names: list[str], kind: str) -> None:
    if len({safe_name(name) for name in names}) < len(names):
        raise UsageError(f"--{kind}s: a {kind} stands twice")


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
