"""Putting tool calls together from the fragments of a stream, in every order that servers produce.

The rules, in this order: a fragment with the id of a call belongs to it; else a fragment belongs to the latest call at
its index (or, without an index, to the latest call), unless its id or its name says that a new call begins there.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from callm_voice.core.ids import short_hash
from callm_voice.llm.types import ToolCallReady, ToolCallStarted


@dataclass
class _Call:
    number: int
    """Order of beginning, from 0."""
    index: int | None
    """As the server numbered it."""
    call_id: str
    name: str
    started_s: float
    last_s: float
    arguments: str = ""


@dataclass
class ToolCallAssembler:
    """The calls of one answer.

    Args:
        tools: names of the offered tools; they decide whether a second name continues the first or begins a call.
    """

    tools: Collection[str] = ()
    notes: list[str] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._calls)

    def feed(self, fragment: dict[str, Any], t_s: float) -> list[ToolCallStarted]:
        """Take one element of `delta.tool_calls`, read at `t_s`; a start if it begins a call."""
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        index = fragment.get("index")
        index = index if isinstance(index, int) and not isinstance(index, bool) else None
        call_id, name = _text(fragment.get("id")), _text(function.get("name") or fragment.get("name"))
        arguments = function.get("arguments", fragment.get("arguments"))
        call, started = self._home(index, call_id, name, arguments), []
        if call is None:
            call = self._begin(index, call_id, name, t_s)
            started = [ToolCallStarted(t_s, call.number)]
        else:
            call.call_id = call.call_id or call_id
            self._extend_name(call, name)
        self._extend_arguments(call, arguments)
        call.last_s = t_s
        return started

    def finish(self, *, cut: bool, response_id: str) -> list[ToolCallReady]:
        """All calls, in the order in which they began.

        Args:
            cut: the server said that it stopped at the length limit.
            response_id: makes ids for calls that came without one.
        """
        seen: set[str] = set()
        ready = []
        for call in self._calls:
            call_id = call.call_id or made_id(response_id, call.number, call.started_s)
            if call_id in seen:
                self._note(f"two calls with the id {call_id}")
                call_id = f"{call_id}_{call.number}"
            seen.add(call_id)
            arguments, error = parse_arguments(call.arguments, cut=cut)
            if not call.name:
                arguments, error = {}, "the call has no name"
            ready.append(ToolCallReady(call.last_s, call_id, call.name, arguments, call.arguments, error))
        return ready

    def _home(self, index: int | None, call_id: str, name: str, arguments: Any) -> _Call | None:
        """The call that a fragment continues, or None: it begins one."""
        if call_id:
            same_id = [c for c in self._calls if c.call_id == call_id and (index is None or c.index in (None, index))]
            if same_id and not self._other_name(same_id[-1], name):
                return same_id[-1]
        here = [c for c in self._calls if c.index == index] if index is not None else self._calls
        if not here:
            if index is not None and not call_id and not name and self._calls:
                self._note(f"a fragment at index {index}, where no call began")
                return self._calls[-1]
            return None
        call = here[-1]
        if self._begins_anew(call, call_id, name, arguments):
            if index is not None:
                self._note(f"two calls at index {index}")
            return None
        return call

    def _begins_anew(self, call: _Call, call_id: str, name: str, arguments: Any) -> bool:
        if call_id and call.call_id and call_id != call.call_id:
            return True
        if self._other_name(call, name):
            return True
        repeated = bool(name) and name == call.name and bool(arguments)
        return repeated and _is_object(call.arguments) and _argument_text(arguments) != call.arguments

    def _other_name(self, call: _Call, name: str) -> bool:
        return bool(name and call.name) and name != call.name and not self._joined_name(call, name)

    def _joined_name(self, call: _Call, name: str) -> str:
        """The name so far with its next piece (or sent again, longer), if an offered tool's name begins so."""
        if call.arguments or call.name in self.tools:
            return ""
        joined = name if name.startswith(call.name) else call.name + name
        return joined if any(tool.startswith(joined) for tool in self.tools) else ""

    def _begin(self, index: int | None, call_id: str, name: str, t_s: float) -> _Call:
        if index and not self._calls:
            self._note(f"first call at index {index}")
        call = _Call(len(self._calls), index, call_id, name, t_s, t_s)
        self._calls.append(call)
        return call

    def _extend_name(self, call: _Call, name: str) -> None:
        if not name or name == call.name:
            return
        if call.name:
            self._note("a name in pieces")
            call.name = self._joined_name(call, name)
        else:
            call.name = name

    def _extend_arguments(self, call: _Call, arguments: Any) -> None:
        if arguments is None or arguments == "":
            return
        text = _argument_text(arguments)
        if not isinstance(arguments, str):
            self._note("arguments as an object instead of text")
        if text == call.arguments and _is_object(text):
            self._note("a call was sent twice")
            return
        call.arguments = call.arguments + text if isinstance(arguments, str) else text

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def parse_arguments(raw: str, *, cut: bool) -> tuple[dict[str, Any], str | None]:
    """Arguments from their text: `(arguments, None)` or `({}, why not)`. Empty text and `null` are no arguments."""
    text = raw.strip()
    if not text or text == "null":
        return {}, None
    try:
        value = json.loads(text, parse_constant=_no_constant)
        if isinstance(value, str):
            value = json.loads(value, parse_constant=_no_constant)  # encoded twice
    except (ValueError, RecursionError) as error:
        if cut:
            return {}, "the arguments were cut at the length limit"
        return {}, "the arguments are cut: their JSON does not end" if _ends_early(
            error, text
        ) else f"not JSON: {error}"
    if not isinstance(value, dict):
        return {}, f"the arguments are not an object but {type(value).__name__}"
    return value, None


def made_id(response_id: str, number: int, t_s: float) -> str:
    """An id for a call that came without one; unique in a call, because two answers never begin at the same time."""
    return "call_" + short_hash(f"{response_id}|{number}|{t_s:.6f}".encode())


def _ends_early(error: Exception, text: str) -> bool:
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= len(text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _argument_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
