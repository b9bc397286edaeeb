"""What was said and done in a call, as the model is told it: valid by construction at every moment.

A tool call enters together with its result, so whatever cancels the agent between two steps leaves no call without an
answer (chat completions: every id in `tool_calls` must be followed by a `tool` message). The system prompt is not in
here: the role of the moment is put in front at request time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from callm_voice.llm.types import Message

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass
class _Heard:
    """What the caller was heard to say, or a bracketed note."""

    text: str


@dataclass
class Answer:
    """What one inference said and which of its tool calls ran."""

    inference_id: int
    turn_id: int
    text: str = ""
    calls: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    """`tool_calls` entry and the result as JSON text, in the order in which they ran."""

    def add_call(
        self, call_id: str, name: str, args: dict[str, Any], raw_arguments: str, output: Mapping[str, Any]
    ) -> None:
        """Take a call that ran, and its result."""
        function = {"name": history_name(name), "arguments": _arguments(args, raw_arguments)}
        entry = {"id": call_id, "type": "function", "function": function}
        self.calls.append((entry, json.dumps(output, ensure_ascii=False)))

    def messages(self) -> list[Message]:
        """The assistant's message and the results; nothing if nothing was said or done."""
        if not self.calls:
            return [{"role": "assistant", "content": self.text}] if self.text.strip() else []
        said = self.text if self.text.strip() else None
        asked: Message = {"role": "assistant", "content": said, "tool_calls": [entry for entry, _ in self.calls]}
        results = [{"role": "tool", "tool_call_id": entry["id"], "content": text} for entry, text in self.calls]
        return [asked, *results]


class History:
    """One call's history."""

    def __init__(self) -> None:
        self._entries: list[_Heard | Answer] = []

    def hear(self, text: str) -> None:
        """The caller's turn."""
        self._entries.append(_Heard(text))

    def open_answer(self, inference_id: int, turn_id: int) -> Answer:
        """The entry that an inference fills while it streams."""
        answer = Answer(inference_id, turn_id)
        self._entries.append(answer)
        return answer

    def keep_played(self, turn_id: int, played: Mapping[int, str]) -> None:
        """Barge-in: of the turn's answers keep only the words that were played; tool calls stay.

        Args:
            turn_id: the interrupted turn. Its answers that `played` does not name were not played at all.
            played: inference id → text; may also name answers of earlier turns.
        """
        for entry in self._entries:
            if isinstance(entry, Answer) and (entry.turn_id == turn_id or entry.inference_id in played):
                kept = played.get(entry.inference_id, "").strip()
                if kept.split() != entry.text.split():
                    entry.text = kept

    @property
    def waits_for_answer(self) -> bool:
        """Whether the last message is the caller's or a tool's."""
        messages = self.messages()
        return bool(messages) and messages[-1]["role"] != "assistant"

    def messages(self) -> list[Message]:
        """All messages without a system prompt. Two user messages in a row, which some servers refuse, are joined."""
        found: list[Message] = []
        for entry in self._entries:
            if isinstance(entry, Answer):
                found += entry.messages()
            elif found and found[-1]["role"] == "user":
                found[-1] = {"role": "user", "content": f"{found[-1]['content']}\n{entry.text}"}
            else:
                found.append({"role": "user", "content": entry.text})
        return found


def history_name(name: str) -> str:
    """A tool's name as servers accept it back: letters, digits, `_` and `-`, 1 to 64 of them."""
    return _NOT_IN_A_NAME.sub("_", name)[:64] or "unnamed"


def _arguments(args: dict[str, Any], raw: str) -> str:
    """The model's own text if it says the same (servers cache it), else the arguments as they were understood."""
    try:
        same = json.loads(raw) == args
    except (ValueError, RecursionError):
        same = False
    return raw if same else json.dumps(args, ensure_ascii=False)
