"""The events of the line itself: how late it was, what it lost, how it ended. Import them from `core.events`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from callm_voice.core.event_base import Event

ConcealedBy = Literal["codec", "pitch", "silence"]
Direction = Literal["to_agent", "to_caller"]


class LineLag(Event):
    """A tick began later than half a packet after its time."""

    type: Literal["line_lag"] = "line_lag"
    tick: int
    late_ms: float


class LineLoss(Event):
    """Packets in a row were not there when they were due; taken when the next one was, or at the end of the line."""

    type: Literal["line_loss"] = "line_loss"
    direction: Direction
    """Which way the packets went."""
    first_tick: int
    """Tick at which the first of them should have been heard."""
    packets: int
    """How many."""
    lost: int
    """Of them, those that never arrived; the others came too late."""
    concealed_by: ConcealedBy
    """What was heard instead: the codec's own concealment, the last pitch period, or silence."""


class PacketCounts(BaseModel):
    """What became of one direction's packets, on a line whose profile has a network."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    sent: int
    """Packets that were sent; some may have been under way at the end."""
    lost: int
    """Of them, those that never arrived."""
    late: int
    """Those that arrived after they were due and were thrown away."""
    played: int
    """Those that were heard."""
    concealed: int
    """Packet times that passed without their packet."""
    skipped: int
    """Packets left out to make the jitter buffer's delay smaller."""
    stretched: int
    """Packet times by which the jitter buffer's delay grew; sound was made up for them."""
    mean_burst_packets: float | None = None
    """Mean number of packet times concealed in a row; null: none were."""
    buffer_ms: float
    """Delay of the jitter buffer at the end."""
    concealed_by: ConcealedBy
    """What was heard instead of missing packets."""


class LineEnded(Event):
    type: Literal["line_ended"] = "line_ended"
    ticks: int
    late_ticks: int
    late_p99_ms: float
    late_max_ms: float
    codec_delay_ms: float
    """One-way delay of band filter, codec and jitter buffer, which stays in the audio."""
    loop_samples: int = 0
    """How often the event loop's lag was looked at; 0: it was not."""
    loop_lag_p99_ms: float | None = None
    """How late the event loop ran what was due, looked at every 50 ms: 99th percentile."""
    loop_lag_max_ms: float | None = None
    """The latest of all looks."""
    caller_underruns: int | None = None
    """Packets that the caller's leg owed in the middle of an utterance; None: the leg does not count them."""
    agent_underruns: int | None = None
    """The same in the agent's sentences."""
    to_agent: PacketCounts | None = None
    """The caller's packets; null: the line has no network that loses any."""
    to_caller: PacketCounts | None = None
    """The agent's packets."""
