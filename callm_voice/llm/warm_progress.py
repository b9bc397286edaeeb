"""What a person is told while a model reads a desk's prompts for the first time: which one, and how long it will take.

All roles are read before the line opens, in an order that the pack alone decides. Which of them a call will need is
gold, which nothing in a call may know; and a prompt that is read when a handoff comes takes tens of seconds on a slow
machine, in the middle of the call's measured time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from callm_voice.llm.types import ChatRequest

SECONDS_A_MINUTE = 60


class WarmProgress:
    """The words, and an estimate of what is left from what was read so far.

    Args:
        prefixes: all of them, in order.
        unread: the places (from 1) of those that are not in the cache.
    """

    def __init__(self, prefixes: Sequence[ChatRequest], unread: Iterable[int]) -> None:
        self._sizes = {number: _size(prefix) for number, prefix in enumerate(prefixes, start=1)}
        self._roles = {number: prefix.role or "prompt" for number, prefix in enumerate(prefixes, start=1)}
        self._unread = set(unread)
        self._read_chars, self._read_s = 0, 0.0

    def begins(self) -> str | None:
        """Before the first; None if all are in the cache."""
        if not self._unread:
            return None
        count = len(self._unread)
        return (
            f"{count} of {len(self._sizes)} prompts have to be read before the call; this is done once on this "
            "machine, and what is read stays read if you interrupt"
        )

    def restored(self, number: int) -> str:
        return f"{self._at(number)}: prompt restored from the cache"

    def reading(self, number: int) -> str:
        """The prompt is about to be read, also if its file turned out to be damaged."""
        self._unread.add(number)
        return f"{self._at(number)}: reading the prompt for the first time"

    def read(self, number: int, tokens: int | None, took_s: float) -> str:
        """The prompt was read.

        Args:
            tokens: of the prompt; None: the server did not say.
            took_s: how long it took, seconds.
        """
        self._unread.discard(number)
        self._read_chars += self._sizes[number]
        self._read_s += took_s
        size = f"{tokens:,} tokens " if tokens is not None else ""
        text = f"{self._at(number)}: prompt read ({size}in {took_s:.0f} s)"
        left = sum(self._sizes[n] for n in self._unread)
        if not left or not self._read_chars:
            return text
        return f"{text}; {len(self._unread)} to go, about {_about(left * self._read_s / self._read_chars)}"

    def _at(self, number: int) -> str:
        return f"{self._roles[number]} ({number} of {len(self._sizes)})"


def _size(prefix: ChatRequest) -> int:
    """Characters that the model has to read; in proportion to its tokens, which nobody has counted yet."""
    return len(json.dumps([list(prefix.messages), list(prefix.tools)], ensure_ascii=False))


def _about(seconds: float) -> str:
    """`40 s`, `3 min`: nobody waits for the odd second."""
    if seconds < SECONDS_A_MINUTE:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{round(seconds / SECONDS_A_MINUTE)} min"
