"""Everything a call needs, loaded and checked before anything starts: all of a user's mistakes show here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from callm_voice.bench.agent_url import parse_agent
from callm_voice.bench.callspec import NO_TASK, TEXT_LINE, CallSpec
from callm_voice.bench.fault_hooks import FaultHooks
from callm_voice.bench.faults import parse_fault
from callm_voice.bench.gold import TaskGold, gold_file, load_gold
from callm_voice.bench.packet_line import check_packets
from callm_voice.bench.workshop import Workshop
from callm_voice.caller.check import check_brief
from callm_voice.core import paths
from callm_voice.core.errors import ConfigError, HarnessError, UsageError
from callm_voice.core.record import PERSON
from callm_voice.desk.formats import TaskFile
from callm_voice.desk.pack import Pack
from callm_voice.line.profile import LineProfile, load_profile
from callm_voice.llm.oracle_script import check_script
from callm_voice.llm.spec import NamedSpec, OracleSpec, OutsideSpec, parse_model_arg
from callm_voice.pipeline.spec import PipelineSpec, load_pipeline
from callm_voice.pipeline.twilio_stream import check_rate
from callm_voice.speech.voices import ChosenVoice, choose
from verifier.gold import GoldFile

CALLER_PREFIX = "llm:"


@dataclass(frozen=True)
class Goal:
    """What a call is about. Gold stands here and goes to the verifier and to the oracle's server, nowhere else."""

    task: TaskFile
    gold: TaskGold
    gold_file: GoldFile
    caller_voice: ChosenVoice
    """Drawn, if the pipeline has several."""


@dataclass(frozen=True)
class ResolvedCall:
    """One call, ready to start."""

    spec: CallSpec
    task_name: str
    """`PACK_ID/TASK`."""
    pack: Pack
    goal: Goal | None
    """None: a person calls without a task."""
    pipeline: PipelineSpec
    profile: LineProfile | None
    """None: text mode."""
    model: NamedSpec
    caller_model: NamedSpec | None
    faults: FaultHooks
    """What is to go wrong; of nearly every call, nothing."""

    @property
    def task(self) -> TaskFile:
        """Of the goal, like the three below.

        Raises:
            HarnessError: the call has none; nobody but a person's side may be asked then.
        """
        return self._goal().task

    @property
    def gold(self) -> TaskGold:
        return self._goal().gold

    @property
    def gold_file(self) -> GoldFile:
        return self._goal().gold_file

    @property
    def caller_voice(self) -> ChosenVoice:
        return self._goal().caller_voice

    def _goal(self) -> Goal:
        if self.goal is None:
            raise HarnessError(f"{self.task_name}: this call has no task", stage="caller")
        return self.goal


def resolve(spec: CallSpec, shop: Workshop | None = None) -> ResolvedCall:
    """Load and check.

    Args:
        shop: packs are taken out of it and stay there.

    Raises:
        UsageError: something of the user's is wrong; the message says what and where.
    """
    pack_name, task_id = spec.split_task()
    if spec.caller == PERSON and spec.line == TEXT_LINE:
        raise UsageError("a person calls by voice: choose another line than `text`")
    pack = (shop or Workshop()).pack(pack_dir(pack_name))
    pipeline = load_pipeline(spec.pipeline)
    task_name = f"{pack.id}/{task_id}"
    model = _model(spec, pipeline)
    goal = _load_goal(spec, pack, task_id, task_name, pipeline) if task_id != NO_TASK else None
    if goal is None:
        _check_no_task(spec, model)
    return ResolvedCall(
        spec=spec,
        task_name=task_name,
        pack=pack,
        goal=goal,
        pipeline=pipeline,
        profile=_profile(spec),
        model=model,
        caller_model=_caller_model(spec, pipeline),
        faults=FaultHooks(parse_fault(spec.fault) if spec.fault else None),
    )


def _load_goal(spec: CallSpec, pack: Pack, task_id: str, task_name: str, pipeline: PipelineSpec) -> Goal:
    task = pack.task(task_id)
    task_path = pack.task_path(task_id)
    problems = check_brief(task.brief)
    if problems:
        raise ConfigError(task_path, "brief", problems[0])
    gold = load_gold(task_path)
    check_script(gold.dialogue, task_path)
    return Goal(
        task=task,
        gold=gold,
        gold_file=gold_file(
            task_name, gold, pack.seed_state(), pack.file.ignored_columns, pack.arg_types(), pack.file.now
        ),
        caller_voice=choose(pipeline.caller.tts, seed=spec.seed, task=task_name, wish=task.brief.voice),
    )


def _model(spec: CallSpec, pipeline: PipelineSpec) -> NamedSpec:
    if spec.agent is None:
        return parse_model_arg(spec.model, pipeline.models)
    if spec.caller == PERSON:
        raise UsageError("a person calls our own agent: leave out --agent")
    if spec.fault is not None:
        raise UsageError("--fault is put into our own agent: leave it out, or --agent")
    return NamedSpec(spec.model, OutsideSpec())


def _caller_model(spec: CallSpec, pipeline: PipelineSpec) -> NamedSpec | None:
    """The model that plays the caller; None: no model does.

    Raises:
        UsageError: it is not known, or is the oracle, which has the desk's side of a task alone.
    """
    if not spec.caller.startswith(CALLER_PREFIX):
        return None
    named = parse_model_arg(spec.caller.removeprefix(CALLER_PREFIX), pipeline.models)
    if isinstance(named.spec, OracleSpec):
        raise UsageError(
            f"--caller {spec.caller}: the oracle plays the desk, not the caller",
            hint="--caller scripted, or a model that can chat",
        )
    return named


def _profile(spec: CallSpec) -> LineProfile | None:
    """The line; None: text.

    Raises:
        UsageError: there is no such profile, or packets or an agent that runs elsewhere cannot go over it.
    """
    if spec.line == TEXT_LINE:
        if spec.agent is not None:
            raise UsageError("an agent that runs elsewhere is called by voice: choose another line than `text`")
        if spec.leg == "packets":
            raise UsageError("--leg packets: there are no packets on the line `text`")
        return None
    profile = load_profile(spec.line)
    if spec.leg == "packets":
        check_packets(spec, profile)
    if spec.agent is not None and parse_agent(spec.agent).kind == "twilio":
        check_rate(profile.rate_hz, spec.line)
    return profile


def _check_no_task(spec: CallSpec, model: NamedSpec) -> None:
    """A call without a task has no brief for a simulated caller and no gold for the oracle."""
    if spec.caller != PERSON:
        raise UsageError(f"task {spec.task!r}: only a person can call without a task", hint="choose one of the pack's")
    if isinstance(model.spec, OracleSpec):
        raise UsageError("the oracle plays a task's gold path, and there is no task", hint="choose a task")


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
