"""How long a caller waits, how often it repeats itself, and when it has had enough. Pure counting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PROD = "Hello? Are you still there?"


@dataclass(frozen=True)
class Patience:
    """Limits of one caller; times in milliseconds of silence on both sides."""

    open_after_ms: int = 4000
    """Nobody greets: the caller opens after so much silence."""
    statement_wait_ms: int = 5000
    """The agent said something that asks nothing and matches nothing: it may be at work. Then the caller speaks."""
    prod_after_ms: int = 8000
    give_up_after_ms: int = 30_000
    """Silence in total since the agent last spoke, the caller's prods not counted."""
    max_repeats: int = 3
    """Of its ask, in a row; twice as many while the agent asks it to confirm something."""
    max_answers: int = 8
    """General answers in a row, without a beat in between."""
    max_prods: int = 6
    """Without a beat in between, however often the agent came back."""
    max_lines: int = 80
    """Of one call."""


Step = Literal["wait", "prod", "ask", "give_up"]


class Silences:
    """What to do about silence: two prods, then the ask again, then leave."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._steps: tuple[Step, ...] = ("prod", "prod", "ask")
        self._past_ms = 0.0
        self._spoken = 0
        self.prods = 0
        """Since the last progress."""

    def step(self, silent_ms: float) -> Step:
        """What is due after `silent_ms` of silence since either party last spoke."""
        if self._past_ms + silent_ms >= self._patience.give_up_after_ms or self.prods >= self._patience.max_prods:
            return "give_up"
        if silent_ms < self._patience.prod_after_ms:
            return "wait"
        return self._steps[min(self._spoken, len(self._steps) - 1)]

    def gave_up(self, silent_ms: float) -> str:
        """Why `give_up` was due after `silent_ms`, in words for the record."""
        if self.prods >= self._patience.max_prods:
            return f"gives up: had to ask {self.prods} times whether anybody is there"
        return f"gives up: the line stayed silent ({(self._past_ms + silent_ms) / 1000:.0f} s)"

    def spoke(self, silent_ms: float) -> None:
        """The caller broke a silence of `silent_ms`."""
        self._past_ms += silent_ms
        self._spoken += 1
        self.prods += 1

    def agent_spoke(self) -> None:
        """The agent is there: its silence starts anew."""
        self._past_ms = 0.0
        self._spoken = 0

    def progress(self) -> None:
        """The script moved on."""
        self.prods = 0
