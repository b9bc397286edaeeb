"""What every event has."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Event(BaseModel):
    """Base of all events."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    t_ms: float
    """Milliseconds since line tick 0."""
