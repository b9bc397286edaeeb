"""A call without audio: the same caller's mind, one turn after the other (`--line text`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from callm_voice.caller.base import BargeInPlan, Caller, CallerAction, HangUp, Say, Wait

SILENCE_STEP_MS = 1000
SILENCE_LIMIT_MS = 120_000
"""A mind that neither speaks nor leaves through so much silence has let the call die."""

AgentTurn = Callable[[str | None], Awaitable[str]]
"""Answers the caller's words with the whole of the agent's floor; None asks for the greeting."""


@dataclass(frozen=True)
class TextTurn:
    """One party's floor."""

    party: Literal["caller", "agent"]
    text: str
    beat: str = ""
    why: str = ""
    cut: bool = False
    """An agent's floor that the caller spoke over. Without audio all of it counts as heard."""


@dataclass(frozen=True)
class TextDialogue:
    """A finished call in text."""

    turns: tuple[TextTurn, ...]
    end: Literal["caller_hangup", "max_turns", "silence"]
    detail: str
    notes: tuple[str, ...] = ()
    """What the caller decided when it did not speak."""

    @property
    def caller_lines(self) -> list[str]:
        """What the caller said, in order."""
        return [turn.text for turn in self.turns if turn.party == "caller"]


async def talk(
    caller: Caller,
    agent_turn: AgentTurn,
    *,
    max_turns: int,
    silence_limit_ms: int = SILENCE_LIMIT_MS,
    on_turn: Callable[[TextTurn], None] | None = None,
) -> TextDialogue:
    """Hold a call until the caller leaves.

    When the caller waits, silence passes as fast as it can count: the agent has said all that it had to say.

    Args:
        max_turns: of the caller's.
        silence_limit_ms: after so much silence nobody will ever speak, and the call ends with `silence`.
        on_turn: told of each turn as it happens.

    Raises:
        CallmError: whatever `agent_turn` or the caller's model raises.
    """
    turns: list[TextTurn] = []
    notes: list[str] = []

    def add(turn: TextTurn) -> None:
        turns.append(turn)
        if on_turn is not None:
            on_turn(turn)

    words = await agent_turn(None)
    plan: BargeInPlan | None = None
    for _ in range(max_turns):
        add(TextTurn("agent", words, cut=plan is not None))
        if plan is not None:
            await caller.heard(words, interrupted=True)
            say: CallerAction = plan.say
        else:
            say = await _decide(caller, words, notes, silence_limit_ms)
        if isinstance(say, HangUp):
            return TextDialogue(tuple(turns), "caller_hangup", say.why, tuple(notes))
        if not isinstance(say, Say):
            silent_s = silence_limit_ms / 1000
            return TextDialogue(tuple(turns), "silence", f"nobody spoke for {silent_s:g} s", tuple(notes))
        caller.said(say.text, beat=say.beat)
        add(TextTurn("caller", say.text, beat=say.beat, why=say.why))
        if say.hang_up_after:
            return TextDialogue(tuple(turns), "caller_hangup", say.why, tuple(notes))
        plan = caller.barge_in()
        words = await agent_turn(say.text)
    return TextDialogue(tuple(turns), "max_turns", f"the caller took {max_turns} turns", tuple(notes))


async def _decide(caller: Caller, words: str, notes: list[str], limit_ms: int) -> CallerAction:
    """The caller's next words, or its leaving, after as much silence as it lets pass."""
    action = await caller.heard(words)
    silent_ms = 0
    while isinstance(action, Wait) and silent_ms < limit_ms:
        if silent_ms == 0:
            notes.append(f"waits: {action.why}")
        silent_ms += SILENCE_STEP_MS
        action = await caller.silence(silent_ms)
    return action
