"""What can be told of an agent by its sound alone: the only events of one that runs elsewhere. Import them from
`core.events`."""

from __future__ import annotations

from typing import Literal

from callm_voice.core.event_base import Event


class AgentSpeechStarted(Event):
    """An agent that runs elsewhere became audible. `t_ms` is the beginning of its first loud packet on the line."""

    type: Literal["agent_speech_started"] = "agent_speech_started"
    stretch_id: int


class AgentSpeechEnded(Event):
    """It fell silent. `t_ms` is the end of its last loud packet."""

    type: Literal["agent_speech_ended"] = "agent_speech_ended"
    stretch_id: int


class AgentCleared(Event):
    """It took back what it had sent and was not played yet (`clear` of a media stream): it noticed the caller."""

    type: Literal["agent_cleared"] = "agent_cleared"
    dropped_ms: float = 0.0
    """Agent audio that was sent and never played."""


class AgentHeard(Event):
    """What the caller's recogniser made of the agent's sound."""

    type: Literal["agent_heard"] = "agent_heard"
    heard: str
    """Empty: nothing was recognised."""
    start_ms: float
    """Of the sound, line clock."""
    end_ms: float
    """Its end."""
    decode_ms: float = 0.0
