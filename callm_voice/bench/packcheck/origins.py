"""Where each argument that gold expects comes from. One that comes from nowhere leaves the task undetermined.

In this order: the caller's traits and script; the output of a call that was made before it; the caller's lines; what
the role's model is told (a choice among few, a code in its prompt); the frozen date; the output of a reading tool that
the role has and that gold does not call, run there and then.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice, product
from typing import Any

from callm_voice.bench.packcheck.findings import Origin
from callm_voice.bench.packcheck.play import HandDesk, Played
from callm_voice.bench.packcheck.tasks import Loaded
from callm_voice.caller.says import says, says_text
from callm_voice.caller.script import load_script
from callm_voice.desk.tools import TRANSFER_PREFIX, Tool
from verifier.gold import ArgType
from verifier.normalise import same
from verifier.trace import ToolCall
from verifier.verdict import Verdict

MAX_TRIES = 120
"""Of a tool, with arguments that are known by then."""
SMALL_ID = 100
"""Nobody says a row's id below this; "one" and "a" in the brief are not it."""
Leaf = tuple[str, Any]
"""A place in an output, and the value there."""


def origins(loaded: Loaded, played: Played, verdict: Verdict) -> tuple[Origin, ...]:
    """The origin of every argument of every gold call that was matched."""
    found: list[Origin] = []
    brief = list(_brief(loaded))
    for hit in verdict.tools.findings:
        if hit.kind != "hit" or hit.expected_index is None or hit.actual_index is None:
            continue
        want = loaded.file.gold.calls[hit.expected_index]
        here = _Place(loaded, played, hit.actual_index, brief)
        for name, value in want.args.items():
            arg_type = loaded.file.arg_types.get(want.tool, {}).get(name)
            origin, from_caller = here.of(want.tool, name, value, arg_type)
            from_caller = from_caller and not _chosen(loaded, want.tool, name, value)
            key = f"calls.{hit.expected_index}.args.{name}"
            found.append(Origin(key=key, tool=want.tool, value=value, origin=origin, from_caller=from_caller))
    return tuple(found)


def one_sided(loaded: Loaded, origin: Origin) -> str:
    """Why one of the two callers cannot give the value, or an empty text. Traits serve both.

    A caller that a model plays has the script and the opening; the scripted one has the opening and the beats.
    """
    if not origin.from_caller or origin.origin.startswith("trait"):
        return ""
    arg_type = loaded.file.arg_types.get(origin.tool, {}).get(origin.key.rpartition(".")[2])
    now, values = loaded.pack.file.now, origin.value if isinstance(origin.value, list) else [origin.value]
    lines = [text for _, text in caller_lines(loaded)]
    for value in values:
        by_script = says(f"{loaded.task.brief.script} {lines[0]}", value, arg_type, now)
        by_lines = any(says(line, value, arg_type, now) for line in lines)
        if by_lines and not by_script:
            return f"a line says {value!r}, but the script does not: a caller that a model plays cannot know it"
        if by_script and not by_lines:
            return f"the script says {value!r}, but no line of the scripted caller does"
    return ""


class _Place:
    """A call in the played gold, and what can be known before it."""

    def __init__(self, loaded: Loaded, played: Played, at: int, brief: Sequence[Leaf]) -> None:
        self._loaded, self._at, self._brief = loaded, at, brief
        self._now = loaded.pack.file.now
        self._before = played.trace.calls[:at]
        self._role = loaded.pack.role(played.trace.calls[at].role)

    def of(self, tool: str, name: str, value: Any, arg_type: ArgType | None) -> tuple[str, bool]:
        """(origin in words, whether the caller says it)."""
        if isinstance(value, list):
            parts = [self.of(tool, name, item, "string") for item in value]
            whole = "; ".join(dict.fromkeys(origin for origin, _ in parts))
            return (whole if all(origin for origin, _ in parts) else "", any(caller for _, caller in parts))
        number = isinstance(value, int | float)
        heard = () if number and name.endswith("id") and value < SMALL_ID else self._brief
        said = next((where for where, text in heard if says(text, value, arg_type, self._now)), "")
        told = (
            ""
            if said.startswith(("trait", "script")) and not number
            else self._output(name, value, arg_type, self._before)
        )
        if told or said:
            return told or said, not told
        return self._role_knows(tool, name, value, arg_type) or self._look_up(name, value, arg_type), False

    def _output(self, name: str, value: Any, arg_type: ArgType | None, calls: Sequence[ToolCall]) -> str:
        """The call that had the value in its output, best under a key like the argument's name; a number only there."""
        found = [
            (_akin(name, where), f"{call.name}: {where}")
            for call in calls
            for where, leaf in _leaves(call.output)
            if _is(value, leaf, arg_type, self._now)
        ]
        akin, origin = max(found, key=lambda each: each[0], default=(0, ""))
        return origin if akin or not isinstance(value, int | float) else ""

    def _role_knows(self, tool: str, name: str, value: Any, arg_type: ArgType | None) -> str:
        """What the model of the role that calls is told."""
        if tool.startswith(TRANSFER_PREFIX):
            transfer = self._role.transfers.get(tool.removeprefix(TRANSFER_PREFIX))
            described = transfer.params.get(name, "") if transfer is not None else ""
            return f"choice of {tool}" if says(described, value, arg_type, self._now) else ""
        found = self._loaded.pack.tools.get(tool)
        argument = next((a for a in found.arguments if a.name == name), None) if found else None
        if argument is None:
            return ""
        if isinstance(value, bool) or value in argument.kind.schema.get("enum", ()):
            return f"choice of {tool}"
        if isinstance(value, str) and says_text(argument.description, value):
            return f"described in {tool}"
        if isinstance(value, str) and says_text(self._role.system_prompt, value):
            return f"prompt of {self._role.name}"
        return "frozen date" if arg_type == "date" and same(value, self._now.date().isoformat(), "date") else ""

    def _look_up(self, name: str, value: Any, arg_type: ArgType | None) -> str:
        """A tool of the role that finds the value, with what is known by then, and writes nothing."""
        for tool in self._role.tools:
            for args in islice(self._known_arguments(self._loaded.pack.tools[tool]), MAX_TRIES):
                call = self._try(tool, args)
                found = self._output(name, value, arg_type, [call]) if call is not None else ""
                if found:
                    return found.replace(":", " (not in gold):", 1)
        return ""

    def _try(self, tool: str, args: Mapping[str, Any]) -> ToolCall | None:
        """The call, made after the calls before this one; None if it is refused or writes."""
        with closing(HandDesk(self._loaded.pack)) as desk:
            for call in self._before:
                desk.call(call.name, call.args)
            tried = desk.call(tool, args)
            return tried if tried.ok and not desk.wrote_last else None

    def _known_arguments(self, tool: Tool) -> Iterator[dict[str, Any]]:
        """Values for the required arguments out of outputs, traits and the choices of the schema."""
        known = [leaf for call in self._before for _, leaf in _leaves(call.output)]
        known += [value for call in self._before for value in call.args.values()]
        known += list(self._loaded.task.brief.traits.values())
        pools: list[list[Any]] = []
        required = [argument for argument in tool.arguments if argument.required]
        for argument in required:
            pool: list[Any] = list(argument.kind.schema.get("enum", ()))
            for value in known if not pool else ():
                if (
                    value is not None
                    and not any(value == other for other in pool)
                    and _fits(argument.kind.convert, value)
                ):
                    pool.append(value)
            pools.append(pool)
        for values in product(*pools):
            yield {argument.name: value for argument, value in zip(required, values, strict=True)}


def _chosen(loaded: Loaded, tool: str, name: str, value: Any) -> bool:
    """Whether the model picks the value out of few: the caller's words lead to it, but need not be it."""
    found = loaded.pack.tools.get(tool)
    schema = next((a.kind.schema for a in found.arguments if a.name == name), {}) if found else {}
    return isinstance(value, bool) or "enum" in schema or tool.startswith(TRANSFER_PREFIX)


def _brief(loaded: Loaded) -> Iterator[Leaf]:
    """What the caller knows and says, the surest first."""
    brief = loaded.task.brief
    for name, value in brief.traits.items():
        yield f"trait {name}", value
    yield "script", brief.script
    yield from caller_lines(loaded)


def caller_lines(loaded: Loaded) -> Iterator[Leaf]:
    """What the scripted caller says, rendered, with the beat that says it."""
    script = load_script(loaded.task.brief, source=str(loaded.path))
    yield "opening", script.opening
    for line in script.lines:
        yield from ((f"beat {line.id}", text) for text in (line.say, line.repeat_say) if text)


def _leaves(value: Any, where: str = "") -> Iterator[Leaf]:
    """All plain values of an output, with the keys that lead to them (list positions left out)."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{where}.{key}" if where and where != "data" else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, where)
    elif value is not None and not isinstance(value, bool):
        yield where, value


def _is(value: Any, leaf: Any, arg_type: ArgType | None, now: dt.datetime) -> bool:
    """Whether an output's value is the argument, or names it in words."""
    if same(value, leaf, arg_type):
        return True
    if isinstance(value, int | float) or isinstance(leaf, int | float):
        return False
    return says(str(leaf), value, arg_type, now)


def _akin(name: str, where: str) -> int:
    """How many words of the argument's name the keys of an output have: `appointment_id`, `appointments.id`."""
    words = {word.rstrip("s") for word in re.split(r"[._]", where)}
    return len(words & {word.rstrip("s") for word in name.split("_")})


def _fits(convert: Any, value: Any) -> bool:
    try:
        convert(value)
    except ValueError:
        return False
    return True
