"""What a simulated caller is: it is told what it heard and answers with one action. No audio here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from callm_voice.core.record import Usage

Finished = Literal["no", "done", "gave_up"]


@dataclass(frozen=True)
class Say:
    """Take the floor."""

    text: str
    """Written form; the leg makes the spoken form. `[keypad: 1 2 #]` in it is pressed."""
    beat: str = ""
    hang_up_after: bool = False
    why: str = ""


@dataclass(frozen=True)
class Wait:
    """Say nothing; the caller is asked again after more silence or when the agent has spoken."""

    why: str = ""


@dataclass(frozen=True)
class HangUp:
    """Leave now."""

    why: str = ""


CallerAction = Say | Wait | HangUp


@dataclass(frozen=True)
class BargeInPlan:
    """The caller will speak over the agent: `after_ms` from the start of the agent's next floor."""

    after_ms: int
    say: Say


class Caller(Protocol):
    """The mind of the caller. One instance per call; methods are called one at a time.

    An action is only a proposal: the driver drops it if the agent speaks on before the caller could begin, and asks
    again with all the words. What was really said is told by `said`; only that moves the script on.
    """

    name: str
    """`scripted` or `llm:SPEC`."""

    async def heard(self, text: str, *, interrupted: bool = False) -> CallerAction:
        """The agent's floor ended; `text` is what was played since the caller last spoke (or what its ears made of it).

        Args:
            interrupted: the caller itself cut this floor by barge-in. It has spoken already (`said` follows), so the
                action that comes back is not carried out.
        """
        ...

    async def silence(self, silent_ms: float) -> CallerAction:
        """Neither party has spoken for `silent_ms`. Called once for every second of a silence."""
        ...

    def barge_in(self) -> BargeInPlan | None:
        """Asked once after each action that was carried out (after `said`): whether to speak over the next floor."""
        ...

    def said(self, text: str, *, cut: bool = False, beat: str = "") -> None:
        """What of the last `Say` (or of the plan's, if `beat` is the plan's) was really put on the line.

        Raises:
            HarnessError: nothing was to be said.
        """
        ...

    def lines(self) -> Sequence[str]:
        """What it may say word for word, known beforehand, so that it can be synthesised before the call."""
        ...

    def usage(self) -> Usage | None:
        """What the model that plays it has used so far; None if no model does."""
        ...

    @property
    def finished(self) -> Finished:
        """`done`: it hung up after its goal was reached as far as it could hear; `gave_up`: out of patience."""
        ...
