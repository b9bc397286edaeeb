"""Silences that the speech engines made: the caller spoke up, or left, while the agent's words were stuck in one.

A recogniser or voice that takes seconds (the machine is overloaded, or the engine too large for it) makes a caller ask
"Are you still there?", which cuts the answer that was about to come. What such a call ends in is not the model's doing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callm_voice.core.events import (
    BargeIn,
    CallEnded,
    Event,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    TranscriptReady,
    TtsFirstAudio,
    TurnEnded,
    UtteranceEnded,
    UtteranceStarted,
)

SHORTEST_MS = 4000.0
"""Less is no wait: a caller answers within 2 s, and asks after 5 s at the earliest."""
ENGINES_SHARE = 0.5
"""Of the silence, from where on the engines are to blame for it."""


@dataclass(frozen=True)
class DeadAir:
    """One silence that the caller broke; line clock."""

    start_ms: float
    end_ms: float
    engines_ms: float
    """How much of it a recogniser or a voice was at work on the agent's answer."""

    def one_line(self) -> str:
        """For people."""
        return (
            f"at {self.end_ms / 1000:.1f} s the caller had waited {(self.end_ms - self.start_ms) / 1000:.1f} s, "
            f"{self.engines_ms / 1000:.1f} s of it for the recogniser and the voice"
        )


def dead_airs(events: Sequence[Event]) -> list[DeadAir]:
    """The silences of one call that its speech engines made, in order.

    Args:
        events: of the call, in any order.
    """
    ordered = sorted(events, key=lambda event: event.t_ms)
    busy = _busy(ordered)
    found = []
    for start_ms, end_ms in _silences(ordered):
        engines_ms = _covered(busy, start_ms, end_ms)
        if end_ms - start_ms >= SHORTEST_MS and engines_ms > ENGINES_SHARE * (end_ms - start_ms):
            found.append(DeadAir(start_ms, end_ms, engines_ms))
    return found


def _silences(ordered: Sequence[Event]) -> Iterable[tuple[float, float]]:
    """From the last sound of either party to the caller's next word or to its hanging up."""
    quiet_since_ms: float | None = None
    for event in ordered:
        if isinstance(event, UtteranceStarted) or (isinstance(event, CallEnded) and event.reason == "caller_hangup"):
            if quiet_since_ms is not None:
                yield quiet_since_ms, event.t_ms
            quiet_since_ms = None
        elif isinstance(event, PlayoutStarted):
            quiet_since_ms = None
        elif isinstance(event, PlayoutEnded | UtteranceEnded):
            quiet_since_ms = event.t_ms


def _busy(ordered: Sequence[Event]) -> list[tuple[float, float]]:
    """When an engine was at work on a turn or on a sentence that was not heard yet. What never came out of it counts
    until the caller's next turn, or until it cut the answer."""
    spans: list[tuple[float, float]] = []
    begun: dict[tuple[str, int], float] = {}

    def close(key: tuple[str, int], t_ms: float) -> None:
        if (start_ms := begun.pop(key, None)) is not None:
            spans.append((start_ms, t_ms))

    for event in ordered:
        if isinstance(event, TurnEnded | BargeIn):
            for key in list(begun):
                close(key, event.t_ms)
        if isinstance(event, TurnEnded) and event.why != "keypad":
            begun["turn", event.turn_id] = event.t_ms
        elif isinstance(event, TranscriptReady):
            close(("turn", event.turn_id), event.t_ms)
        elif isinstance(event, SentenceReady):
            begun["sentence", event.sentence_id] = event.t_ms
        elif isinstance(event, TtsFirstAudio):
            close(("sentence", event.sentence_id), event.t_ms)
    for key in list(begun):
        close(key, ordered[-1].t_ms)
    return spans


def _covered(spans: Iterable[tuple[float, float]], start_ms: float, end_ms: float) -> float:
    """Time of the interval that lies in any of the spans; what lies in several counts once."""
    total, at_ms = 0.0, start_ms
    for span_start_ms, span_end_ms in sorted(spans):
        begin_ms, until_ms = max(span_start_ms, at_ms), min(span_end_ms, end_ms)
        if until_ms > begin_ms:
            total += until_ms - begin_ms
            at_ms = until_ms
    return total
