"""Everything a call needs, loaded and checked before anything starts: all of a user's mistakes show here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from callm_voice.bench.callspec import TEXT_LINE, CallSpec
from callm_voice.bench.fault_hooks import FaultHooks
from callm_voice.bench.faults import parse_fault
from callm_voice.bench.gold import TaskGold, gold_file, load_gold
from callm_voice.bench.workshop import Workshop
from callm_voice.caller.check import check_brief
from callm_voice.core import paths
from callm_voice.core.errors import ConfigError
from callm_voice.desk.formats import TaskFile
from callm_voice.desk.pack import Pack
from callm_voice.line.profile import LineProfile, load_profile
from callm_voice.llm.oracle_script import check_script
from callm_voice.llm.spec import NamedSpec, parse_model_arg
from callm_voice.pipeline.spec import PipelineSpec, load_pipeline
from callm_voice.speech.voices import ChosenVoice, choose
from verifier.gold import GoldFile

CALLER_PREFIX = "llm:"


@dataclass(frozen=True)
class ResolvedCall:
    """One call, ready to start. Gold stands here and goes to the verifier and to the oracle's server, nowhere else."""

    spec: CallSpec
    task_name: str
    """`PACK_ID/TASK`."""
    pack: Pack
    task: TaskFile
    gold: TaskGold
    gold_file: GoldFile
    pipeline: PipelineSpec
    profile: LineProfile | None
    """None: text mode."""
    model: NamedSpec
    caller_model: NamedSpec | None
    caller_voice: ChosenVoice
    """Drawn, if the pipeline has several."""
    faults: FaultHooks
    """What is to go wrong; of nearly every call, nothing."""


def resolve(spec: CallSpec, shop: Workshop | None = None) -> ResolvedCall:
    """Load and check.

    Args:
        shop: packs are taken out of it and stay there.

    Raises:
        UsageError: something of the user's is wrong; the message says what and where.
    """
    pack_name, task_id = spec.split_task()
    pack = (shop or Workshop()).pack(pack_dir(pack_name))
    task = pack.task(task_id)
    task_path = pack.task_path(task_id)
    problems = check_brief(task.brief)
    if problems:
        raise ConfigError(task_path, "brief", problems[0])
    gold = load_gold(task_path)
    check_script(gold.dialogue, task_path)
    pipeline = load_pipeline(spec.pipeline)
    task_name = f"{pack.id}/{task_id}"
    caller_model = spec.caller.removeprefix(CALLER_PREFIX) if spec.caller.startswith(CALLER_PREFIX) else None
    return ResolvedCall(
        spec=spec,
        task_name=task_name,
        pack=pack,
        task=task,
        gold=gold,
        gold_file=gold_file(
            task_name, gold, pack.seed_state(), pack.file.ignored_columns, pack.arg_types(), pack.file.now
        ),
        pipeline=pipeline,
        profile=None if spec.line == TEXT_LINE else load_profile(spec.line),
        model=parse_model_arg(spec.model, pipeline.models),
        caller_model=parse_model_arg(caller_model, pipeline.models) if caller_model else None,
        caller_voice=choose(pipeline.caller.tts, seed=spec.seed, task=task_name, wish=task.brief.voice),
        faults=FaultHooks(parse_fault(spec.fault) if spec.fault else None),
    )


def pack_dir(name: str) -> Path:
    """The folder of a pack, by name or by its path.

    Raises:
        UsageError: there is no such pack.
    """
    if os.sep in name or name in {".", ".."}:
        folder = Path(name)
        if not (folder / "pack.yaml").is_file():
            raise ConfigError(folder, "", "not a pack: there is no pack.yaml in it")
        return folder.resolve()
    return paths.find("packs", name)
