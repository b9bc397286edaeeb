"""One task's parts, loaded, and whether they fit the pack and each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from callm_voice.bench.gold import TaskGold, gold_file, load_gold
from callm_voice.bench.packcheck.findings import Problems
from callm_voice.bench.packcheck.play import HandDesk, Played
from callm_voice.caller.check import check_brief
from callm_voice.caller.script import load_script
from callm_voice.core.errors import ConfigError
from callm_voice.desk.formats import TaskFile
from callm_voice.desk.pack import Pack
from callm_voice.desk.tools import TRANSFER_PREFIX, BadArguments
from callm_voice.llm.oracle_script import CallStep, HearStep, Step, check_script, parse_script
from verifier.gold import GoldFile
from verifier.trace import State, Trace
from verifier.verdict import Verdict
from verifier.verify import verify

_BEAT = re.compile(r"beats?[. ](\w+)")
"""How a problem of a brief names its beat."""
LETTER = {"easy": "E", "medium": "M", "hard": "H"}


@dataclass(frozen=True)
class Loaded:
    """A task whose files could be read."""

    pack: Pack
    path: Path
    task: TaskFile
    gold: TaskGold
    file: GoldFile
    steps: tuple[Step, ...]
    seed: State

    @property
    def call_steps(self) -> list[CallStep]:
        """The dialogue's calls."""
        return [step for step in self.steps if isinstance(step, CallStep)]

    @property
    def can_be_spoken(self) -> bool:
        """Whether the brief's lines and patterns can be made ready to play; `check_references` tells what is wrong."""
        try:
            load_script(self.task.brief, source=str(self.path))
        except ConfigError:
            return False
        return True

    def nothing_done(self) -> Verdict:
        """The verdict of a call in which nothing was done."""
        return verify(Trace(start_role=self.pack.file.start_role, calls=(), handoffs=()), self.seed, self.file)


def load_task(pack: Pack, task_id: str, problems: Problems) -> Loaded | None:
    """Load all parts; None if one cannot be read, which `problems` then tells."""
    path = pack.task_path(task_id)
    try:
        task = pack.task(task_id)
        gold = load_gold(path)
        check_script(gold.dialogue, path)
        seed = pack.seed_state()
        file = gold_file(f"{pack.id}/{task_id}", gold, seed, pack.file.ignored_columns, pack.arg_types())
    except ConfigError as error:
        problems.add_error(error)
        return None
    return Loaded(pack, path, task, gold, file, parse_script(gold.dialogue), seed)


def check_references(loaded: Loaded, problems: Problems) -> None:
    """What the parts say of each other."""
    for key, problem in (*_heading(loaded), *_brief(loaded), *_gold(loaded), *_dialogue(loaded)):
        problems.add(loaded.path, key, problem)


def play_dialogue(loaded: Loaded, problems: Problems) -> Played:
    """The dialogue's calls through the real tools. A call that fails without `may_fail` is a problem."""
    numbers = [n for n, step in enumerate(loaded.steps) if isinstance(step, CallStep)]
    with closing(HandDesk(loaded.pack)) as desk:
        for number, step in zip(numbers, loaded.call_steps, strict=True):
            call = desk.call(step.call, step.args)
            if not call.ok and not step.may_fail:
                said = call.error or call.output.get("error_code") or call.output.get("error")
                problems.add(loaded.path, f"gold.dialogue.{number}", f"{step.call} failed: {said}")
        return desk.played()


def _heading(loaded: Loaded) -> Iterator[tuple[str, str]]:
    task, categories = loaded.task, loaded.pack.file.categories
    number, _, rest = task.id.removeprefix("C").partition("-")
    if rest[:1] != LETTER[task.difficulty]:
        yield "difficulty", f"the id {task.id} says otherwise than {task.difficulty!r}"
    if categories and categories.get(number) != task.category:
        yield "category", f"category {number} of pack.yaml is {categories.get(number)!r}, not {task.category!r}"
    for key in ("title", "measures"):
        if not str(getattr(task, key)).strip():
            yield key, "is empty"


def _brief(loaded: Loaded) -> Iterator[tuple[str, str]]:
    places = {beat.id: f"brief.beats.{n}" for n, beat in enumerate(loaded.task.brief.beats)}
    for problem in check_brief(loaded.task.brief):
        named = _BEAT.match(problem)
        yield places.get(named[1], "brief") if named else "brief", problem
    if not loaded.task.brief.script.strip():
        yield "brief.script", "is empty: a caller that a model plays would have no errand"


def _gold(loaded: Loaded) -> Iterator[tuple[str, str]]:
    pack, gold = loaded.pack, loaded.gold.gold
    if not gold.calls:
        yield "gold.calls", "no call is expected: a model that does nothing would pass the gate"
    role = pack.role(pack.file.start_role)
    for n, name in enumerate(gold.path):
        if name not in role.transfers:
            yield f"gold.path.{n}", f"{role.name} has no transfer to {name!r}; it has: {', '.join(role.transfers)}"
            break
        role = pack.role(name)
    handed = [call.tool.removeprefix(TRANSFER_PREFIX) for call in gold.calls if call.tool.startswith(TRANSFER_PREFIX)]
    if handed and handed != list(gold.path):
        yield "gold.path", f"the transfers among the calls go {' > '.join(handed)}, the path {' > '.join(gold.path)}"
    for n, call in enumerate(gold.calls):
        yield from _call(pack, f"gold.calls.{n}", call.tool, list(call.args))
        tool = pack.tools.get(call.tool)
        if tool is not None:
            try:
                tool.convert(call.args)
            except BadArguments as error:
                wrong = [p for p in str(error).split("; ") if "but it is missing" not in p]
                if wrong:
                    yield f"gold.calls.{n}.args", "; ".join(wrong)


def _dialogue(loaded: Loaded) -> Iterator[tuple[str, str]]:
    if not loaded.steps:
        yield "gold.dialogue", "there is none: nothing proves that the task can be passed"
    elif isinstance(loaded.steps[0], HearStep):
        yield "gold.dialogue.0", "the desk speaks first: begin with its greeting"
    for n, step in enumerate(loaded.steps):
        if isinstance(step, CallStep):
            yield from _call(loaded.pack, f"gold.dialogue.{n}", step.call, list(step.args))


def _call(pack: Pack, key: str, name: str, args: Sequence[str]) -> Iterator[tuple[str, str]]:
    types = pack.arg_types()
    if name not in types:
        yield key, f"there is no tool {name!r}"
        return
    for arg in args:
        if arg not in types[name]:
            yield f"{key}.args.{arg}", f"{name} has no such argument; it has: {', '.join(types[name]) or 'none'}"
