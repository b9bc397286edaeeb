"""Where in its script the oracle stands, found by replaying the request's messages. Pure; it keeps no state.

- The assistant's text consumes the `say` steps whose words it has, also if barge-in cut it; a `say` that left no trace
  in the history was not heard and is said again.
- A tool call consumes its `call` step, and a `say` before it that was asked for in the same answer.
- The caller's words consume a `hear` if they match; otherwise the oracle says the `else` text and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callm_voice.llm.oracle_script import CallStep, HearStep, SayStep, Step
from callm_voice.llm.types import Message

CLOSING = "Thank you for calling. Goodbye."
"""What the oracle says when its script is over, however often."""
NO_SAY_YET = "Sorry, could you say that again?"
"""What it says to words that do not match, before it has said anything."""
_NOTE = re.compile(r"\[(?!keypad:)[^\]]*\]")
"""A line in brackets is a note of the desk's, not the caller's words; keys that it pressed are."""


class OracleError(Exception):
    """The script and the conversation do not fit: a fault of the pack. The server answers 400 with this message."""


@dataclass(frozen=True)
class OracleReply:
    """One answer of the oracle's."""

    text: str = ""
    calls: tuple[CallStep, ...] = ()
    step: int = 0
    """Number of the step from which it was played, from 1; past the end when the script is over."""


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
