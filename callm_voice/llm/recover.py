"""Tool calls that arrive as JSON text in the content, for models whose spec says so.

Small models write `{"name": ..., "arguments": {...}}` instead of their template's tags: bare, several in a row, in an
array, in a fence, in `<tool_call>` tags, after some prose. Text that may still become a call is held back; what turns
out to be none is given back unchanged as text.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from callm_voice.llm.call_text import (
    AFTER,
    AFTER_TOKENS,
    NAMED,
    TRAILING,
    as_call,
    is_call_name,
    may_be_call_object,
    object_end,
    opener_length,
    possible_start,
)

MAX_HELD_CHARS = 8_000


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
    mended: bool = False
    """The last brace was missing."""


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

    def end(self, *, cut: bool = False) -> list[HeldText | FoundCall]:
        """The content is over: nothing is held any more.

        Args:
            cut: the server said that it stopped at the length limit.
        """
        return self._drain(ended=True, cut=cut)

    def _drain(self, *, ended: bool, cut: bool = False) -> list[HeldText | FoundCall]:
        found: list[HeldText | FoundCall] = []
        while self._held:
            if self._after_call and not self._skip_closers(ended=ended):
                break
            start = possible_start(self._held)
            if start:
                self._release(start, found)
                continue
            step = self._take_call(found) if start == 0 else self._release_all(found)
            if step:
                continue
            if ended or len(self._held) > MAX_HELD_CHARS:
                self._give_up(found, cut=cut or not ended)
                continue
            break
        return found

    def _take_call(self, found: list[HeldText | FoundCall]) -> bool:
        """Decide about held text that begins like a call; False: more must be read."""
        opener = opener_length(self._held)
        if opener is None:
            return False
        if opener < 0:
            self._release(1, found)
            return True
        if not may_be_call_object(self._held[opener:]):
            self._release(max(opener, 1), found)
            return True
        end = object_end(self._held, opener)
        if end is None:
            return False
        call = as_call(self._held[opener:end], self.tools)
        if call is None:
            self._release(end, found)
            return True
        name, arguments, raw, error = call
        found.append(FoundCall(self._time_at(opener), self._time_at(end - 1), name, arguments, raw, error))
        self._drop(end)
        self._after_call = True
        return True

    def _give_up(self, found: list[HeldText | FoundCall], *, cut: bool) -> None:
        """The content ended inside what looked like a call: a cut call if it names a tool, else text.

        A model that stopped by itself and left out only the last brace (the 0.5B often does) meant a call:
        its arguments are whole.
        """
        opener = opener_length(self._held)
        if opener is None or opener < 0 or object_end(self._held, opener) is not None:
            self._release(len(self._held), found)
            return
        raw = self._held[opener:]
        times = self._time_at(opener), self._time_at(len(self._held) - 1)
        whole = None if cut else as_call(TRAILING.sub("", raw) + "}", self.tools, strict=True)
        named = NAMED.search(raw)
        if whole is not None:
            name, arguments, raw, error = whole
            found.append(FoundCall(*times, name, arguments, raw, error, mended=True))
        elif named and is_call_name(named.group(1), raw, self.tools):
            found.append(FoundCall(*times, named.group(1), {}, raw, "the call is cut: its JSON does not end"))
        else:
            self._release(len(self._held), found)
            return
        self._drop(len(self._held))

    def _skip_closers(self, *, ended: bool) -> bool:
        """Drop what may follow a call; False: more must be read to know."""
        while self._held:
            if not ended and any(t != self._held and t.startswith(self._held) for t in AFTER_TOKENS):
                return False
            match = AFTER.match(self._held)
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
