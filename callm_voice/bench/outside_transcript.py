"""The transcript's turns of an agent that only its sound tells of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from callm_voice.core.events import (
    AgentHeard,
    AgentSpeechEnded,
    AgentSpeechStarted,
    BargeIn,
    Event,
    UtteranceStarted,
)
from callm_voice.core.record import TranscriptTurn


@dataclass
class _Floor:
    """All that the agent said between two utterances of the caller's."""

    turn_id: int
    start_ms: float
    end_ms: float
    cut: bool = False
    heard: list[str] = field(default_factory=list)


def heard_only(events: Sequence[Event]) -> bool:
    """Whether the agent runs elsewhere."""
    return any(isinstance(event, AgentSpeechStarted) for event in events)


def outside_turns(events: Sequence[Event], end_ms: float) -> list[TranscriptTurn]:
    """One per floor of the agent's, in order. What it meant to say nobody knows; `heard` is the caller's recogniser's.

    Args:
        end_ms: the end of the line, for speech that was still going on then.
    """
    ends = {e.stretch_id: e.t_ms for e in events if isinstance(e, AgentSpeechEnded)}
    cuts = [e.t_ms for e in events if isinstance(e, BargeIn)]
    begun_ms = [e.t_ms for e in events if isinstance(e, UtteranceStarted)]
    floors: list[_Floor] = []
    for stretch in (e for e in events if isinstance(e, AgentSpeechStarted)):
        turn_id = sum(t_ms <= stretch.t_ms for t_ms in begun_ms)
        stop_ms = ends.get(stretch.stretch_id, end_ms)
        if not floors or floors[-1].turn_id != turn_id:
            floors.append(_Floor(turn_id, stretch.t_ms, stop_ms))
        floors[-1].end_ms = stop_ms
        floors[-1].cut = any(stretch.t_ms <= t_ms <= stop_ms for t_ms in cuts)
    for heard in (e for e in events if isinstance(e, AgentHeard) and e.heard):
        best = max(floors, key=lambda f: min(f.end_ms, heard.end_ms) - max(f.start_ms, heard.start_ms), default=None)
        if best is not None:
            best.heard.append(heard.heard)
    return [
        TranscriptTurn(
            party="agent", turn_id=f.turn_id, start_ms=f.start_ms, end_ms=f.end_ms, said="", heard=" ".join(f.heard),
            cut=f.cut,
        )
        for f in floors
    ]  # fmt: skip
