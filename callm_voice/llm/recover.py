"""Tool calls that arrive as JSON text in the content, for models whose spec says so.

Small models write `{"name": ..., "arguments": {...}}` instead of their template's tags: bare, several in a row, in an
array, in a fence, in `<tool_call>` tags, after some prose. Text that may still become a call is held back; what turns
out to be none, or a call of a tool that was not offered, is given back unchanged as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from callm_voice.llm.toolcalls import parse_arguments

MAX_HELD_CHARS = 8_000
_TAGS = ("<tool_call>", "<tool_calls>", "<function_call>", "<tools>")
_KEYS = ("name", "arguments", "parameters", "type", "function", "id")
_ARGUMENT_KEYS = ("arguments", "parameters")
_FENCE = re.compile(r"```[A-Za-z_]{0,12}\s*")
_NAMED = re.compile(r'"name"\s*:\s*"([^"\\]+)"')
_AFTER = re.compile(r"[\s,;\]}]+|```(?:json)?|</?(?:tool_calls?|function_call|tools)>|<\|im_end\|>")
"""What may stand after a recovered call and is no text: separators and closing marks."""
_AFTER_TOKENS = ("```json", "</tool_call>", "</tool_calls>", "</function_call>", "</tools>", "<|im_end|>", *_TAGS)


@dataclass(frozen=True)
class HeldText:
    """Text of the answer after all."""

    t_s: float
    """When its first character was read."""
    text: str


@dataclass(frozen=True)
class FoundCall:
    """A call that came as text."""

    t_s: float
    """When its first character was read."""
    end_s: float
    name: str
    arguments: dict[str, Any]
    raw_arguments: str
    error: str | None = None


@dataclass
class CallRecoverer:
    """Feed content as it is read; take text and calls in their order.

    Args:
        tools: names of the offered tools.
    """

    tools: Collection[str]
    _held: str = ""
    _held_s: list[tuple[int, float]] = field(default_factory=list)
    """(offset in `_held`, time of reading) of each piece."""
    _after_call: bool = False

    def feed(self, text: str, t_s: float) -> list[HeldText | FoundCall]:
        """Take a piece of content that was read at `t_s`."""
        if text:
            self._held_s.append((len(self._held), t_s))
            self._held += text
        return self._drain(ended=False)

    def end(self) -> list[HeldText | FoundCall]:
        """The content is over: nothing is held any more."""
        return self._drain(ended=True)

    def _drain(self, *, ended: bool) -> list[HeldText | FoundCall]:
        found: list[HeldText | FoundCall] = []
        while self._held:
            if self._after_call and not self._skip_closers(ended=ended):
                break
            start = _possible_start(self._held)
            if start:
                self._release(start, found)
                continue
            step = self._take_call(found) if start == 0 else self._release_all(found)
            if step:
                continue
            if ended or len(self._held) > MAX_HELD_CHARS:
                self._give_up(found)
                continue
            break
        return found

    def _take_call(self, found: list[HeldText | FoundCall]) -> bool:
        """Decide about held text that begins like a call; False: more must be read."""
        opener = _opener_length(self._held)
        if opener is None:
            return False
        if opener < 0:
            self._release(1, found)
            return True
        if not _may_be_call_object(self._held[opener:]):
            self._release(max(opener, 1), found)
            return True
        end = _object_end(self._held, opener)
        if end is None:
            return False
        call = _as_call(self._held[opener:end], self.tools)
        if call is None:
            self._release(end, found)
            return True
        name, arguments, raw, error = call
        found.append(FoundCall(self._time_at(opener), self._time_at(end - 1), name, arguments, raw, error))
        self._drop(end)
        self._after_call = True
        return True

    def _give_up(self, found: list[HeldText | FoundCall]) -> None:
        """The content ended inside what looked like a call: a cut call if it names a tool, else text."""
        opener = _opener_length(self._held)
        named = _NAMED.search(self._held, opener) if opener is not None and opener >= 0 else None
        if named and opener is not None and named.group(1) in self.tools and _object_end(self._held, opener) is None:
            raw = self._held[opener:]
            error = "the call is cut: its JSON does not end"
            found.append(FoundCall(self._time_at(opener), self._time_at(len(self._held) - 1), named[1], {}, raw, error))
            self._drop(len(self._held))
        else:
            self._release(len(self._held), found)

    def _skip_closers(self, *, ended: bool) -> bool:
        """Drop what may follow a call; False: more must be read to know."""
        while self._held:
            if not ended and any(t != self._held and t.startswith(self._held) for t in _AFTER_TOKENS):
                return False
            match = _AFTER.match(self._held)
            if match is None:
                self._after_call = False
                return True
            self._drop(match.end())
        return False

    def _release_all(self, found: list[HeldText | FoundCall]) -> bool:
        return self._release(len(self._held), found)

    def _release(self, length: int, found: list[HeldText | FoundCall]) -> bool:
        found.append(HeldText(self._time_at(0), self._held[:length]))
        self._drop(length)
        return True

    def _time_at(self, offset: int) -> float:
        return next(t_s for begin, t_s in reversed(self._held_s) if begin <= offset)

    def _drop(self, length: int) -> None:
        rest = len(self._held) - length
        kept = [(max(0, begin - length), t_s) for begin, t_s in self._held_s if begin > length]
        self._held_s = [(0, self._time_at(length)), *kept] if rest else []
        self._held = self._held[length:]


def _possible_start(text: str) -> int | None:
    """Offset of the first character that may begin a call, or None."""
    match = re.search(r"[{\[`<]", text)
    return match.start() if match else None


def _opener_length(text: str) -> int | None:
    """Length of fences, tags and array brackets before the object; None: cannot tell yet; -1: no call begins here."""
    at = 0
    while True:
        rest = text[at:]
        if rest.startswith("{"):
            return at
        if not rest or rest.isspace():
            return None
        if at and rest[0].isspace():
            at += len(rest) - len(rest.lstrip())
        elif rest[0] == "[":
            at += 1
        elif rest[0] == "`":
            if match := _FENCE.match(rest):
                at += match.end()
            else:
                return None if "```".startswith(rest) else -1
        elif rest[0] == "<":
            tag = next((tag for tag in _TAGS if rest.startswith(tag)), None)
            if tag is None:
                return None if any(tag.startswith(rest) for tag in _TAGS) else -1
            at += len(tag)
        else:
            return -1


def _may_be_call_object(text: str) -> bool:
    """Whether an object that begins so may still be a call: its first key is one of a call's."""
    inner = text[1:].lstrip()
    if not inner:
        return True
    if inner[0] != '"':
        return False
    key, quote, _ = inner[1:].partition('"')
    return key in _KEYS if quote else any(known.startswith(key) for known in _KEYS)


def _object_end(text: str, start: int) -> int | None:
    """Offset after the object that begins at `start`; None: it does not end in `text`."""
    depth, in_string, escaped = 0, False, False
    for at in range(start, len(text)):
        char = text[at]
        if in_string:
            escaped, in_string = char == "\\" and not escaped, char != '"' or escaped
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
    return None


def _as_call(text: str, tools: Collection[str]) -> tuple[str, dict[str, Any], str, str | None] | None:
    """(name, arguments, raw arguments, error) if the object is a call of an offered tool."""
    try:
        value = json.loads(text, strict=False)  # models put raw line ends into strings
    except (ValueError, RecursionError):
        named = _NAMED.search(text)
        if named and named.group(1) in tools and any(f'"{key}"' in text for key in _ARGUMENT_KEYS):
            return named.group(1), {}, text, "the call is not JSON"
        return None
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = value.get("name")
    if not isinstance(name, str) or name not in tools or not set(value) <= set(_KEYS):
        return None
    given = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    raw = given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)
    arguments, error = parse_arguments(raw, cut=False)
    return name, arguments, raw, error
