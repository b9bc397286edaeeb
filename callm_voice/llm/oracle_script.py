"""The oracle's script: a task's gold dialogue, and where in it a conversation stands. Pure; no server here.

Steps: `{say: TEXT}`, `{hear: {any_of: [...]}, else: TEXT}` and `{call: TOOL, args: {...}, together: false}`.
The oracle keeps no state. Its place is found by replaying the request's messages:

- the assistant's text consumes the `say` steps whose words it has, also if barge-in cut it; a `say` that left no trace
  in the history was not heard and is said again;
- a tool call consumes its `call` step (and a `say` before it that was asked for in the same answer);
- the caller's words consume a `hear` if they match; otherwise the oracle says the `else` text and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from callm_voice.core.errors import ConfigError, UsageError
from callm_voice.core.yamlfile import line_of
from callm_voice.llm.types import Message

CLOSING = "Thank you for calling. Goodbye."
"""What the oracle says when its script is over, however often."""
NO_SAY_YET = "Sorry, could you say that again?"
"""What it says to words that do not match, before it has said anything."""
_NOTE = re.compile(r"\[[^\]]*\]")
"""A line in brackets is a note of the desk's, not the caller's words."""
NonEmpty = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HearWhat(_Strict):
    """A condition on the caller's words: regular expressions, case-insensitive, searched anywhere. Empty: anything."""

    any_of: tuple[NonEmpty, ...] = ()
    all_of: tuple[NonEmpty, ...] = ()
    none_of: tuple[NonEmpty, ...] = ()

    @model_validator(mode="after")
    def _patterns_compile(self) -> HearWhat:
        for pattern in (*self.any_of, *self.all_of, *self.none_of):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
        return self

    def holds(self, words: str) -> bool:
        """Whether the words match."""

        def found(pattern: str) -> bool:
            return re.search(pattern, words, re.IGNORECASE) is not None

        some = not self.any_of or any(map(found, self.any_of))
        return some and all(map(found, self.all_of)) and not any(map(found, self.none_of))


class SayStep(_Strict):
    """Say this."""

    say: NonEmpty


class HearStep(_Strict):
    """Stop here until the caller's words match."""

    hear: HearWhat
    otherwise: NonEmpty | None = Field(default=None, alias="else")
    """What to say to words that do not match. None: the words before once more."""


class CallStep(_Strict):
    """Call a tool."""

    call: NonEmpty
    args: dict[str, Any] = Field(default_factory=dict)
    together: bool = False
    """In the same answer as the call before."""
    may_fail: bool = False
    """The tool's answer may be `ok: false`. Otherwise that is a fault of the pack."""


Step = SayStep | HearStep | CallStep
_BY_KEY: dict[str, type[SayStep] | type[HearStep] | type[CallStep]] = {
    "say": SayStep,
    "hear": HearStep,
    "call": CallStep,
}


class OracleError(Exception):
    """The script and the conversation do not fit: a fault of the pack. The server answers 400 with this message."""


@dataclass(frozen=True)
class OracleReply:
    """One answer of the oracle's."""

    text: str = ""
    calls: tuple[CallStep, ...] = ()
    step: int = 0
    """Number of the step from which it was played, from 1; past the end when the script is over."""


def parse_script(steps: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Steps from plain data.

    Raises:
        UsageError: names the step and what is wrong with it.
    """
    if not isinstance(steps, list | tuple):
        raise UsageError("the dialogue is not a list of steps")
    parsed: list[Step] = []
    for number, data in enumerate(steps, start=1):
        kinds = [key for key in _BY_KEY if key in data] if isinstance(data, Mapping) else []
        if len(kinds) != 1:
            raise UsageError(f"dialogue step {number}: expected exactly one of say, hear, call")
        try:
            parsed.append(TypeAdapter(_BY_KEY[kinds[0]]).validate_python(dict(data)))
        except ValidationError as error:
            finding = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in finding["loc"])
            what = "unknown key" if finding["type"] == "extra_forbidden" else finding["msg"]
            raise UsageError(f"dialogue step {number}: {key or kinds[0]}: {what}") from None
        step = parsed[-1]
        if isinstance(step, CallStep) and step.together and not (len(parsed) > 1 and isinstance(parsed[-2], CallStep)):
            raise UsageError(f"dialogue step {number}: together: there is no call directly before")
    return tuple(parsed)


def check_script(steps: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Check the dialogue of a task file.

    Raises:
        ConfigError: with the line of the first wrong step.
    """
    try:
        parse_script(steps)
    except UsageError as error:
        match = re.match(r"dialogue step (\d+): (.*)", error.message)
        number, what = (int(match[1]), match[2]) if match else (1, error.message)
        keys = ["gold", "dialogue", str(number - 1)]
        raise ConfigError(path, f"gold.dialogue.{number - 1}", what, line=line_of(path, keys)) from None


@dataclass
class _Replay:
    """Where in the script a history stands."""

    steps: Sequence[Step]
    at: int = 0
    unheard: list[str] = field(default_factory=list)
    """`say` steps that a tool call went past; their words may come later in the history."""
    pending: list[str] = field(default_factory=list)
    """What the caller said since the place was last changed."""
    calls: dict[str, CallStep] = field(default_factory=dict)
    """Tool call id to the step that it consumed."""

    def take(self, message: Message) -> None:
        """Move on by one message of the history."""
        match message.get("role"):
            case "user":
                self._user(_words(message))
            case "assistant":
                self._assistant_text(_words(message))
                for call in message.get("tool_calls") or ():
                    self._tool_call(call)
            case "tool":
                self._tool_result(message)
            case _:
                pass

    def _user(self, words: str) -> None:
        words = "\n".join(line for line in words.splitlines() if not _NOTE.fullmatch(line.strip())).strip()
        step = self.steps[self.at] if self.at < len(self.steps) else None
        if not words or not isinstance(step, HearStep):
            return
        self.pending.append(words)
        if step.hear.holds(words) or step.hear.holds(" ".join(self.pending)):
            self._go_to(self.at + 1)

    def _assistant_text(self, text: str) -> None:
        rest = _letters(text)
        for late in list(self.unheard):
            if rest and _agree(rest, late):
                self.unheard.remove(late)
                rest = rest[len(late) :]
        while rest and self.at < len(self.steps):
            step = self.steps[self.at]
            said = _letters(step.say) if isinstance(step, SayStep) else ""
            if not said or not _agree(rest, said):
                return
            rest = rest[len(said) :]
            self._go_to(self.at + 1)

    def _tool_call(self, call: Mapping[str, Any]) -> None:
        name = str((call.get("function") or {}).get("name", ""))
        at = self.at
        while at < len(self.steps) and isinstance(self.steps[at], SayStep):
            at += 1
        step = self.steps[at] if at < len(self.steps) else None
        if not isinstance(step, CallStep) or step.call != name:
            raise OracleError(f"the history has a call of {name!r} where {_describe(self.steps, self.at)}")
        self.unheard += [_letters(s.say) for s in self.steps[self.at : at] if isinstance(s, SayStep)]
        self.calls[str(call.get("id", ""))] = step
        self._go_to(at + 1)

    def _tool_result(self, message: Message) -> None:
        step = self.calls.get(str(message.get("tool_call_id", "")))
        try:
            output = json.loads(_words(message))
        except ValueError:
            return
        if step is None or step.may_fail or not isinstance(output, dict):
            return
        if output.get("ok") is False or output.get("success") is False:
            said = json.dumps(output, ensure_ascii=False)[:300]
            raise OracleError(f"the tool {step.call!r} failed with args {json.dumps(step.args)}: {said}")

    def _go_to(self, at: int) -> None:
        self.at = at
        self.pending.clear()


def next_reply(steps: Sequence[Step], messages: Sequence[Message], offered: Sequence[str]) -> OracleReply:
    """What the oracle answers to a request: all `say` steps from its place on, then the calls that follow directly.

    Args:
        messages: the request's messages; system and developer messages do not matter.
        offered: names of the request's tools.

    Raises:
        OracleError: a tool of the script failed or is not offered, or the history holds another call.
    """
    replay = _Replay(steps)
    for message in messages:
        replay.take(message)
    at = replay.at
    if at >= len(steps):
        return OracleReply(CLOSING, step=at + 1)
    step = steps[at]
    if isinstance(step, HearStep):
        return OracleReply(step.otherwise or _said_before(steps, at), step=at + 1)
    texts: list[str] = []
    while at < len(steps) and isinstance(said := steps[at], SayStep):
        texts.append(said.say.strip())
        at += 1
    calls: list[CallStep] = []
    while at < len(steps) and isinstance(call := steps[at], CallStep) and (not calls or call.together):
        if call.call not in offered:
            names = ", ".join(sorted(offered)) or "none"
            raise OracleError(f"step {at + 1} calls {call.call!r}, which is not offered here; offered: {names}")
        calls.append(call)
        at += 1
    return OracleReply(" ".join(texts), tuple(calls), step=replay.at + 1)


def _said_before(steps: Sequence[Step], at: int) -> str:
    """The words of the last answer before a `hear`: the `say` steps directly before it, or the nearest ones."""
    end = at
    while end > 0 and not isinstance(steps[end - 1], SayStep):
        end -= 1
    begin = end
    while begin > 0 and isinstance(steps[begin - 1], SayStep):
        begin -= 1
    words = [step.say.strip() for step in steps[begin:end] if isinstance(step, SayStep)]
    return " ".join(words) or NO_SAY_YET


def _describe(steps: Sequence[Step], at: int) -> str:
    if at >= len(steps):
        return "the script is over"
    data = steps[at].model_dump(by_alias=True, exclude_defaults=True)
    return f"step {at + 1} of the script is {json.dumps(data, ensure_ascii=False)[:120]}"


def _words(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _letters(text: str) -> str:
    """Letters and digits alone: what was played may differ in spaces and marks."""
    return "".join(char for char in text.casefold() if char.isalnum())


def _agree(text: str, said: str) -> bool:
    """Whether one is the beginning of the other."""
    return text.startswith(said) or said.startswith(text)
