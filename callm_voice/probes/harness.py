"""How late the harness itself was in one call, and from where on its figures, or its verdict, are not the model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callm_voice.core.events import Event, LineEnded
from callm_voice.core.latency import HarnessLag, LineDelay
from callm_voice.probes.dead_air import dead_airs
from callm_voice.probes.spans import PACKET_MS


@dataclass(frozen=True)
class LagLimits:
    """How late the harness may be before the figures stop being the model's."""

    p99_ms: float = 10.0
    """P99 of all ticks."""
    late_share: float = 0.01
    """Share of ticks that began later than half a packet (10 ms)."""
    loop_p99_ms: float = 10.0
    """P99 of the event loop's lag: what is due (a token that can be read, a sentence ready) is seen that late."""
    caller_underruns: int = 0
    """Holes in the caller's speech, which is synthesised ahead: any is the harness's fault, and may end its turn."""


DEFAULT_LIMITS = LagLimits()
BROKEN_LATE_SHARE = 0.5
"""Share of late ticks from where on a call is no telephone call any more and has no verdict. Late ticks lose no sound:
calls with a third of them late still had sound verdicts, so this is the backstop and `dead_airs` the rule."""


def harness_lag(lag: LineEnded | None) -> HarnessLag:
    """The line's report on how it ran; all unknown without one."""
    if lag is None:
        return HarnessLag()
    return HarnessLag(
        ticks=lag.ticks,
        late_ticks=lag.late_ticks,
        late_share=round(lag.late_ticks / lag.ticks, 6) if lag.ticks else None,
        tick_p99_ms=lag.late_p99_ms,
        tick_max_ms=lag.late_max_ms,
        loop_samples=lag.loop_samples,
        loop_p99_ms=lag.loop_lag_p99_ms,
        loop_max_ms=lag.loop_lag_max_ms,
        caller_underruns=lag.caller_underruns,
        agent_underruns=lag.agent_underruns,
    )


def line_delay(lag: LineEnded | None) -> LineDelay | None:
    """The delay of codec and packets, by the side of V2V on which it lies (docs/latency.md)."""
    if lag is None:
        return None
    codec_ms = lag.codec_delay_ms
    return LineDelay(
        codec_one_way_ms=codec_ms,
        packet_ms=PACKET_MS,
        inside_v2v_ms=codec_ms,
        outside_v2v_ms=round(codec_ms + PACKET_MS, 3),
    )


def why_invalid(lag: LineEnded | None, limits: LagLimits) -> str | None:
    """Why the figures are not the model's, or None. A line that did not report its lag is not taken for punctual."""
    if lag is None:
        return "the line did not report its lag"
    if lag.late_p99_ms > limits.p99_ms:
        return f"harness lag: P99 of the line's ticks was {lag.late_p99_ms:.1f} ms late, limit {limits.p99_ms:g} ms"
    if lag.late_ticks > limits.late_share * lag.ticks:
        share = f"{lag.late_ticks} of {lag.ticks} ticks were late by more than half a packet"
        return f"harness lag: {share}, limit {limits.late_share:.1%}"
    if lag.loop_lag_p99_ms is not None and lag.loop_lag_p99_ms > limits.loop_p99_ms:
        return f"harness lag: P99 of the event loop was {lag.loop_lag_p99_ms:.1f} ms, limit {limits.loop_p99_ms:g} ms"
    if lag.caller_underruns is not None and lag.caller_underruns > limits.caller_underruns:
        return f"harness lag: the caller's speech had {lag.caller_underruns} holes, limit {limits.caller_underruns}"
    return None


def why_broken(events: Sequence[Event]) -> str | None:
    """Why the harness was so late that the call's verdict is not the model's either, or None.

    Args:
        events: of a call that went over a line, in any order; a call by text has no lag.
    """
    lag = next((event for event in reversed(events) if isinstance(event, LineEnded)), None)
    if lag is None:
        return None
    if lag.late_ticks > BROKEN_LATE_SHARE * lag.ticks:
        share = f"{lag.late_ticks} of {lag.ticks} ticks were late by more than half a packet"
        return f"harness overload: {share}, limit {BROKEN_LATE_SHARE:.0%}; run fewer workers, or smaller engines"
    if lag.caller_underruns:
        return f"harness overload: the caller's speech had {lag.caller_underruns} holes; run fewer workers"
    waits = dead_airs(events)
    if waits:
        longest = max(waits, key=lambda wait: wait.engines_ms)
        return f"harness overload: {longest.one_line()}; run fewer workers, or smaller engines"
    return None
