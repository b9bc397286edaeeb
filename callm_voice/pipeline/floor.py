"""Who has the floor: a pure state machine over endpointing events and playout. No audio, no Pipecat.

A turn of the caller's begins when the VAD hears speech and ends at the endpoint. If the agent holds the floor at that
moment (it plays, or it is still working on an answer), the caller interrupts it: playout is cleared at once and the
epoch rises, so that sound of the old answer that is still on its way is thrown away wherever it is.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Floor:
    """Shared by the leg and the processors of one agent; all run on one event loop."""

    barge_in: bool = True
    """False: the caller cannot interrupt (a pipeline may say so)."""
    turn_id: int = 0
    """The latest turn of the caller's; 0 is the greeting."""
    epoch: int = 0
    caller_speaking: bool = False
    agent_working: bool = False
    """The desk is busy with an answer (inference, tools) or sentences wait for synthesis."""
    agent_playing: bool = False
    pending_sentences: int = 0

    @property
    def agent_holds_floor(self) -> bool:
        """Whether speech of the caller's now is an interruption."""
        return self.agent_playing or self.agent_working or self.pending_sentences > 0

    def caller_starts(self) -> bool:
        """The VAD heard the caller start; whether that interrupts the agent."""
        self.caller_speaking = True
        self.turn_id += 1
        if not (self.agent_holds_floor and self.barge_in):
            return False
        self.epoch += 1
        self.pending_sentences = 0
        return True

    def caller_stops(self) -> None:
        """The endpoint was reached."""
        self.caller_speaking = False
