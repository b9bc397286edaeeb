"""What a person who calls in can choose: names that are known on this machine, never paths and never addresses."""

from __future__ import annotations

from typing import Any

from callm_voice.bench.resolve import pack_dir
from callm_voice.core import paths
from callm_voice.core.errors import CallmError, NotFoundError, UsageError
from callm_voice.core.yamlfile import load_model
from callm_voice.desk.formats import PackFile
from callm_voice.desk.pack import Pack, load_pack
from callm_voice.line.profile import load_profile
from callm_voice.llm.spec import OracleSpec, known_models, parse_model_arg, user_models
from callm_voice.pipeline.spec import load_pipeline

DEFAULTS = {"pack": "healthcare", "line": "pstn-g711u", "pipeline": "cpu", "model": "qwen2.5-coder-0.5b"}
Choice = dict[str, Any]


def top_choices() -> Choice:
    """All but the tasks. What cannot be loaded is left out: other commands say what is wrong with it.

    Raises:
        UsageError: the user's `models.yaml` is wrong.
    """
    user_models()  # what is wrong there is wrong with every pipeline: none would be left
    packs = _loaded(paths.known_names("packs"), lambda name: {"id": name, "title": _pack_file(name).title})
    lines = _loaded(paths.known_names("audio_profiles"), lambda name: {"id": name, "title": load_profile(name).title})
    pipelines = _loaded(paths.known_names("pipelines"), _pipeline)
    return {"packs": packs, "lines": lines, "pipelines": pipelines, "defaults": DEFAULTS}


def pack_choices(name: str) -> Choice:
    """The tasks of a pack.

    Raises:
        CallmError: there is no such pack, or it is wrong.
    """
    _known("pack", name, paths.known_names("packs"))
    pack = load_pack(pack_dir(name))
    return {"id": name, "business": pack.file.business, "tasks": [_task(pack, task) for task in pack.task_ids()]}


def check_choice(*, pack: str, task: str | None, model: str, line: str, pipeline: str) -> None:
    """Look the names up.

    Raises:
        UsageError: one is not known; lists those that are.
    """
    _known("pack", pack, paths.known_names("packs"))
    _known("line profile", line, paths.known_names("audio_profiles"))
    _known("pipeline", pipeline, paths.known_names("pipelines"))
    models = known_models(load_pipeline(pipeline).models)
    _known("model", model.partition("?")[0], list(models))
    spec = parse_model_arg(model, models).spec
    if task is not None:
        _known("task", task, [path.stem for path in (pack_dir(pack) / "tasks").glob("*.yaml")])
    elif isinstance(spec, OracleSpec):
        raise UsageError("the oracle plays a task's gold path", hint="choose a task")


def _known(kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise NotFoundError(kind, name, known)


def _pack_file(name: str) -> PackFile:
    return load_model(pack_dir(name) / "pack.yaml", PackFile)


def _pipeline(name: str) -> Choice:
    spec = load_pipeline(name)
    models = [
        {"id": model, "needs_task": isinstance(found, OracleSpec)} for model, found in known_models(spec.models).items()
    ]
    return {"id": name, "title": spec.title, "models": models, "keypad": spec.dtmf.enabled}


def _task(pack: Pack, task_id: str) -> Choice:
    task = pack.task(task_id)
    return {
        "id": task.id, "title": task.title, "difficulty": task.difficulty, "category": task.category,
        "measures": task.measures, "script": task.brief.script, "traits": task.brief.traits,
    }  # fmt: skip


def _loaded(names: list[str], load: Any) -> list[Choice]:
    found = []
    for name in names:
        try:
            found.append(load(name))
        except CallmError:
            continue
    return found
