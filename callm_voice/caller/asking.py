"""One inference of a caller that a model plays: what it says, whether it waits or leaves, what it cost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from callm_voice.caller.hearing import sentences
from callm_voice.caller.prompt import TOOLS
from callm_voice.core.keypad import MAX_KEYS, keys_from, marker
from callm_voice.core.record import Usage
from callm_voice.llm.types import ChatModel, ChatRequest, Message, TextDelta, ToolCallReady, ToolSchema, UsageReport

MAX_SENTENCES = 3
"""Of one turn; a caller who lectures is cut here, and it is noted."""
MAX_TOKENS = 160
_COUNTS = ("prompt_tokens", "cached_tokens", "completion_tokens")
_STAGE_DIRECTION = re.compile(r"\*[^*]*\*|\[[^\]]*\]|\([a-z ]*\)")
_SPEAKER = re.compile(r"^\s*(?:caller|customer|patient|client|user|me)\s*:\s*", re.IGNORECASE)


@dataclass
class Reply:
    """What came out of one inference."""

    text: str = ""
    hang_up: str | None = None
    """The reason that it gave for hanging up; None: it did not."""
    wait: str | None = None
    keys: str = ""
    """What it pressed; stands at the end of `text` too."""
    notes: list[str] = field(default_factory=list)


class Asking:
    """Asks a model and keeps count of what that used.

    Args:
        model: only `stream` is used.
        tools: what it may do beside speaking.
    """

    def __init__(self, model: ChatModel, tools: Sequence[ToolSchema] = TOOLS) -> None:
        self._model, self._tools = model, tools
        self._sums: Counter[str] = Counter()
        self._unknown: set[str] = set()

    async def ask(self, messages: Sequence[Message]) -> Reply:
        """One inference over the whole history.

        Raises:
            ModelError: as the model raises it; the stream is closed then.
        """
        reply = Reply()
        parts: list[str] = []
        usage: UsageReport | None = None
        self._sums["inferences"] += 1
        async with AsyncExitStack() as closing:
            events = self._model.stream(self.request(messages))
            if (aclose := getattr(events, "aclose", None)) is not None:
                closing.push_async_callback(aclose)
            async for event in events:
                if isinstance(event, TextDelta):
                    parts.append(event.text)
                elif isinstance(event, UsageReport):
                    usage = event
                elif isinstance(event, ToolCallReady):
                    self._used(event, reply)
        self._count(usage)
        reply.text, notes = spoken_only("".join(parts))
        reply.notes += notes
        if reply.keys:
            reply.text = f"{reply.text} {marker(reply.keys)}".strip()
        return reply

    def request(self, messages: Sequence[Message]) -> ChatRequest:
        """The request for a history."""
        return ChatRequest(messages=messages, tools=self._tools, role="caller", max_tokens=MAX_TOKENS)

    def usage(self) -> Usage:
        """Sums over all inferences; a count that a server left out once is unknown."""
        if not self._sums["inferences"]:
            return Usage()
        known = {key: None if key in self._unknown else self._sums[key] for key in _COUNTS}
        return Usage(inferences=self._sums["inferences"], recovered_tool_calls=self._sums["recovered"], **known)

    def _used(self, tool: ToolCallReady, reply: Reply) -> None:
        """Take one tool call into the reply."""
        self._sums["recovered"] += tool.recovered
        why = str(tool.arguments.get("reason", ""))
        if tool.name == "hang_up":
            reply.hang_up = why
        elif tool.name == "wait":
            reply.wait = why
        elif tool.name == "press_keys" and (keys := keys_from(str(tool.arguments.get("keys", "")))) is not None:
            reply.keys = (reply.keys + keys)[:MAX_KEYS]
        elif tool.name == "press_keys":
            reply.notes.append(f"pressed what is no key: {tool.arguments.get('keys')!r}")
        else:
            reply.notes.append(f"called an unknown tool {tool.name!r}")

    def _count(self, usage: UsageReport | None) -> None:
        for key in _COUNTS:
            value = getattr(usage, key, None)
            if value is None:
                self._unknown.add(key)
            else:
                self._sums[key] += value


def spoken_only(text: str) -> tuple[str, list[str]]:
    """What of a model's text a person would say: no speaker's name, stage directions or quotes, few sentences."""
    plain = _SPEAKER.sub("", _STAGE_DIRECTION.sub(" ", text)).replace("\n", " ")
    plain = " ".join(plain.split()).strip('"“” ')
    said = sentences(plain)
    if len(said) <= MAX_SENTENCES:
        return plain, []
    return " ".join(said[:MAX_SENTENCES]), [f"cut to {MAX_SENTENCES} sentences"]
