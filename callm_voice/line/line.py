"""The phone line: it owns time and truth (DESIGN §3).

Tick n is due at t0 + n * 20 ms on the clock and is never dropped: a line that is late catches up. At each tick one
packet is pulled from each leg, goes through that direction's channel and is recorded; it is what is spoken in
[n, n + 1) * 20 ms, which is where it stands in the recording. A packet can be sent only when it is full, so it is
pushed to the other leg one tick later: packetisation costs one packet time, here as on any telephone network.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from callm_voice.core.clock import Clock
from callm_voice.core.errors import HarnessError
from callm_voice.core.events import Direction, EndReason, EventLog, LineEnded, LineLag, LineLoss, PacketCounts
from callm_voice.core.looplag import LoopLag
from callm_voice.line.channel import Channel
from callm_voice.line.leg import PTIME_MS, Frame, KeypadLeg, Leg
from callm_voice.line.packets import SentPackets
from callm_voice.line.profile import LineProfile
from callm_voice.line.recorder import Recorder

LATE_MS = PTIME_MS / 2
"""A tick that begins later than this after its time is late."""
MAX_LAG_EVENTS = 100
"""An overloaded machine is late at every tick; past this number late ticks are counted but not logged one by one."""


@dataclass(frozen=True)
class LineReport:
    """How the line ran."""

    ticks: int
    end_reason: EndReason
    end_detail: str
    late_ticks: int
    late_p99_ms: float
    """99th percentile over all ticks of how late they began; 0 without ticks."""
    late_max_ms: float
    delay_ms: float
    """One-way delay of band filter, codec and jitter buffer, which stays in the audio."""
    loop_samples: int = 0
    loop_lag_p99_ms: float | None = None
    """99th percentile of how late the event loop ran what was due; None: it was not looked at."""
    loop_lag_max_ms: float | None = None
    caller_underruns: int | None = None
    """Packets that a leg owed in the middle of a sound; None: this leg does not count them."""
    agent_underruns: int | None = None

    @property
    def duration_ms(self) -> int:
        """Ticks times the packet time."""
        return self.ticks * PTIME_MS


class PhoneLine:
    """The line between two legs, for one call.

    Args:
        caller, agent: the endpoints, at the profile's rate.
        profile: the line's parameters, the same in both directions.
        clock: the call's clock.
        log: the call's events; the line sets its zero at tick 0.
        seed: for what the channels draw; each direction and stage has its own stream.
        max_duration_s: the line ends itself after this time.
        speech_dbov: active level of what the caller will say, if it is known (`channel.rehearsed_level`).
        packets: by direction, what codec and packets go over instead of the profile's simulated network.
    """

    def __init__(
        self,
        caller: Leg,
        agent: Leg,
        profile: LineProfile,
        clock: Clock,
        log: EventLog,
        seed: int = 0,
        *,
        max_duration_s: float = 600.0,
        speech_dbov: float | None = None,
        packets: Mapping[Direction, SentPackets] | None = None,
    ) -> None:
        self.profile = profile
        self.recorder = Recorder(profile.rate_hz)
        self.speech_dbov = speech_dbov
        """As given; None: the level of the caller's speech is measured on the way."""
        self._caller, self._agent = caller, agent
        self._keypad = caller if isinstance(caller, KeypadLeg) else None  # asked once: it takes as long as a codec
        self._sent = sent = packets or {}
        self._to_agent = Channel(
            profile, seed, "to_agent", speech_dbov=speech_dbov, packets=sent.get("to_agent")
        )  # fmt: skip
        self._to_caller = Channel(profile, seed, "to_caller", packets=sent.get("to_caller"))
        self._clock, self._log = clock, log
        self._max_ticks = math.ceil(round(max_duration_s * 1000 / PTIME_MS, 6))
        self._late_ms = array("d")
        self._late_ticks = 0
        self._loop_lag = LoopLag()
        self._end: tuple[EndReason, str] | None = None
        self._shape = (profile.frame_samples,)
        self._silence: Frame = np.zeros(self._shape, dtype=np.int16)
        self._silence.flags.writeable = False
        self._on_the_way: tuple[Frame, Frame] = (self._silence, self._silence)
        """The packets of the last tick, to the agent and to the caller."""

    @property
    def delay_ms(self) -> float:
        """One-way delay that stays in the audio."""
        return self._to_agent.delay_ms

    @property
    def packet_counts(self) -> dict[Direction, PacketCounts]:
        """What became of the packets so far, by direction; empty: the profile has no network."""
        channels = (self._to_agent, self._to_caller)
        return {c.direction: counts for c in channels if (counts := c.packet_counts) is not None}

    @property
    def gain_error_db(self) -> float | None:
        """Error of the caller's level, as drawn; None: the profile has no microphone."""
        microphone = self._to_agent.microphone
        return None if microphone is None else microphone.gain_error_db

    @property
    def ticks(self) -> int:
        """Ticks done so far."""
        return self.recorder.ticks

    def hang_up(self, reason: EndReason, detail: str = "") -> None:
        """End the line at the next tick's time. The first reason counts."""
        if self._end is None:
            self._end = (reason, detail)

    def stop(self) -> None:
        """End the line because the call was cancelled."""
        self.hang_up("cancelled")

    async def run(self) -> LineReport:
        """Tick until somebody hangs up or the time is over.

        Raises:
            HarnessError: a leg gave something that is not a packet of this line.
        """
        zero_s = self._clock.now_s()
        self._log.start_line(zero_s)
        self._loop_lag.start()
        try:
            while True:
                due_s = zero_s + self.ticks * PTIME_MS / 1000
                await self._clock.sleep_until(due_s)
                for path in self._sent.values():  # a late line ticks at once, and packets need the loop's turn
                    await path.arrived()
                if self.ticks >= self._max_ticks:
                    self.hang_up("max_duration", f"{self.recorder.duration_ms / 1000:g} s")
                if self._end is not None:
                    return self._report()
                self._note_lateness((self._clock.now_s() - due_s) * 1000)
                self._tick()
        finally:
            self._loop_lag.stop()
            self._emit_end()

    def _tick(self) -> None:
        from_caller = self._packet(self._caller.pull(), "caller")
        from_agent = self._packet(self._agent.pull(), "agent")
        heard_by_agent, heard_by_caller = self._on_the_way
        self._on_the_way = (
            self._to_agent.process(
                from_caller, far=heard_by_caller, past_microphone=self._keypad is not None and self._keypad.pressing
            ),
            self._to_caller.process(from_agent),
        )
        self.recorder.add(*self._on_the_way)
        self._agent.push(heard_by_agent)
        self._caller.push(heard_by_caller)
        self._log_losses()

    def _packet(self, frame: Frame | None, leg: str) -> Frame:
        if frame is None:
            return self._silence
        if not isinstance(frame, np.ndarray) or frame.dtype != np.int16 or frame.shape != self._shape:
            found = f"{frame.dtype} {frame.shape}" if isinstance(frame, np.ndarray) else type(frame).__name__
            raise HarnessError(
                f"tick {self.ticks}: the {leg} leg gave {found}; a packet of this line is int16 {self._shape}",
                stage="line",
            )
        return frame

    def _log_losses(self, *, end: bool = False) -> None:
        for channel in (self._to_agent, self._to_caller):
            for burst in channel.finished_bursts(end=end):
                self._log.emit(
                    LineLoss,
                    direction=channel.direction,
                    first_tick=burst.first_tick,
                    packets=burst.packets,
                    lost=burst.lost,
                    concealed_by=burst.concealed_by,
                )

    def _note_lateness(self, late_ms: float) -> None:
        late_ms = max(0.0, late_ms)
        self._late_ms.append(late_ms)
        if late_ms > LATE_MS:
            self._late_ticks += 1
            if self._late_ticks <= MAX_LAG_EVENTS:
                self._log.emit(LineLag, tick=self.ticks, late_ms=round(late_ms, 3))

    def _report(self) -> LineReport:
        reason, detail = self._end or ("cancelled", "")
        late = np.frombuffer(self._late_ms) if self._late_ms else np.zeros(1)
        lags = np.asarray(self._loop_lag.lags_ms)
        return LineReport(
            ticks=self.ticks,
            end_reason=reason,
            end_detail=detail,
            late_ticks=self._late_ticks,
            late_p99_ms=round(float(np.percentile(late, 99)), 3),
            late_max_ms=round(float(late.max()), 3),
            delay_ms=round(self.delay_ms, 3),
            loop_samples=lags.size,
            loop_lag_p99_ms=round(float(np.percentile(lags, 99)), 3) if lags.size else None,
            loop_lag_max_ms=round(float(lags.max()), 3) if lags.size else None,
            caller_underruns=_underruns(self._caller),
            agent_underruns=_underruns(self._agent),
        )

    def _emit_end(self) -> None:
        report = self._report()
        self._log_losses(end=True)
        self._log.emit(
            LineEnded,
            ticks=report.ticks,
            late_ticks=report.late_ticks,
            late_p99_ms=report.late_p99_ms,
            late_max_ms=report.late_max_ms,
            codec_delay_ms=report.delay_ms,
            loop_samples=report.loop_samples,
            loop_lag_p99_ms=report.loop_lag_p99_ms,
            loop_lag_max_ms=report.loop_lag_max_ms,
            caller_underruns=report.caller_underruns,
            agent_underruns=report.agent_underruns,
            to_agent=self._to_agent.packet_counts,
            to_caller=self._to_caller.packet_counts,
        )


def _underruns(leg: Leg) -> int | None:
    """What the leg says of itself (`underruns`, see `PlayoutQueue`); a leg need not count them."""
    count = getattr(leg, "underruns", None)
    return count if isinstance(count, int) else None
