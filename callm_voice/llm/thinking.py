"""Thinking that a server leaves in the content as `<think>...</think>` at its beginning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"
Part = tuple[Literal["text", "reasoning"], float, str]
"""What it is, when its first byte was read, and the text."""


@dataclass
class ThinkSplitter:
    """Feed content; take it sorted into answer and thinking. Only a tag before any other text is looked for."""

    _state: Literal["before", "inside", "skip_space", "after"] = "before"
    _held: str = ""
    _held_s: float = 0.0

    @property
    def unclosed(self) -> bool:
        """Whether the content ended while it was thinking."""
        return self._state == "inside"

    def feed(self, text: str, t_s: float) -> list[Part]:
        """Take a piece of content that was read at `t_s`."""
        if self._state == "after":
            return [("text", t_s, text)] if text else []
        begin_s = self._held_s if self._held else t_s
        self._held, text = "", self._held + text
        if self._state == "before":
            lead = text.lstrip()
            if _OPEN.startswith(lead):  # also if it is empty
                return self._hold(text, begin_s) if lead != _OPEN else self._enter("", t_s)
            if not lead.startswith(_OPEN):
                self._state = "after"
                return [("text", begin_s, text)]
            return self._enter(lead[len(_OPEN) :], t_s)
        if self._state == "inside":
            return self._inside(text, begin_s, t_s)
        return self._skip_space(text, t_s)

    def end(self) -> list[Part]:
        """What is still held."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [("reasoning" if self._state == "inside" else "text", self._held_s, held)]

    def _enter(self, rest: str, t_s: float) -> list[Part]:
        self._state = "inside"
        return self._inside(rest, t_s, t_s) if rest else []

    def _inside(self, text: str, begin_s: float, t_s: float) -> list[Part]:
        thought, close, answer = text.partition(_CLOSE)
        if close:
            self._state = "skip_space"
            parts: list[Part] = [("reasoning", begin_s, thought)] if thought else []
            return parts + self._skip_space(answer, t_s)
        keep = next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
        done = text[: len(text) - keep]
        if keep:
            self._hold(text[len(done) :], t_s if done else begin_s)
        return [("reasoning", begin_s, done)] if done else []

    def _skip_space(self, text: str, t_s: float) -> list[Part]:
        """Line ends between the thinking and the answer are neither."""
        text = text.lstrip()
        if not text:
            return []
        self._state = "after"
        return [("text", t_s, text)]

    def _hold(self, text: str, begin_s: float) -> list[Part]:
        if text:
            self._held, self._held_s = text, begin_s
        return []
