"""How fast the agent falls silent when the caller speaks over it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from callm_voice.core.events import BargeIn, Event, PlayoutEnded, PlayoutStarted, VadStarted
from callm_voice.core.latency import BargeInTiming, Percentiles
from callm_voice.probes.percentiles import percentiles
from callm_voice.probes.spans import LINE_SLACK_MS, PACKET_MS
from callm_voice.probes.wire import Wire

DETECTION_LOOKBACK_MS = 2000.0
"""A VadStarted longer before the barge-in belongs to something else."""


_FIGURES = {
    "detection": "onset_to_detection_ms",
    "stop": "detection_to_stop_ms",
    "silence": "detection_to_silence_ms",
    "reaction": "onset_to_stop_ms",
}


def barge_in_percentiles(timings: Sequence[BargeInTiming]) -> dict[str, Percentiles]:
    """`LatencySummary.barge_in`. A figure whose moments did not come in a barge-in is not counted there."""
    values = {name: [getattr(t, field) for t in timings] for name, field in _FIGURES.items()}
    return {name: percentiles(v for v in of if v is not None) for name, of in values.items()}


def barge_in_timings(events: Iterable[Event], left: Wire, right: Wire) -> list[BargeInTiming]:
    """The timing of each barge-in of a call, in order. Events may come in any order."""
    ordered = sorted(events, key=lambda e: e.t_ms)
    return [_timing(e, ordered, left, right) for e in ordered if isinstance(e, BargeIn)]


def _timing(event: BargeIn, ordered: Sequence[Event], left: Wire, right: Wire) -> BargeInTiming:
    detected_ms = _detected_ms(event, ordered)
    began_ms = [e.t_ms for e in ordered if isinstance(e, PlayoutStarted) and e.turn_id == event.turn_id]
    cut_ms = [e.t_ms for e in ordered if isinstance(e, PlayoutEnded) and e.turn_id == event.turn_id and e.cut]
    next_ms = min(
        (
            e.t_ms
            for e in ordered
            if isinstance(e, PlayoutStarted) and e.turn_id > event.turn_id and e.t_ms > event.t_ms
        ),
        default=math.inf,
    )
    turn_start_ms = min(began_ms, default=math.inf) - PACKET_MS
    silent_ms = right.last_audible_ms(turn_start_ms, next_ms - PACKET_MS)
    onset_ms = _onset_ms(detected_ms, left)
    if onset_ms is not None and onset_ms < turn_start_ms:
        onset_ms = None
    return BargeInTiming(
        turn_id=event.turn_id,
        detected_ms=detected_ms,
        onset_ms=onset_ms,
        silent_ms=silent_ms,
        onset_to_detection_ms=_since(onset_ms, detected_ms),
        detection_to_stop_ms=_since(detected_ms, max(cut_ms, default=None)),
        detection_to_silence_ms=_since(detected_ms, silent_ms),
        onset_to_stop_ms=_since(onset_ms, silent_ms),
    )


def _detected_ms(event: BargeIn, ordered: Sequence[Event]) -> float:
    decisions = [
        e.t_ms
        for e in ordered
        if isinstance(e, VadStarted) and event.t_ms - DETECTION_LOOKBACK_MS <= e.t_ms <= event.t_ms
    ]
    return decisions[-1] if decisions else event.t_ms


def _onset_ms(detected_ms: float, left: Wire) -> float | None:
    """When the detected speech began. A VAD decides after the onset, and the sound may just have ended."""
    for segment in reversed(left.segments):
        if segment.start_ms <= detected_ms + PACKET_MS:
            return segment.start_ms if segment.end_ms + LINE_SLACK_MS >= detected_ms else None
    return None


def _since(from_ms: float | None, until_ms: float | None) -> float | None:
    return None if from_ms is None or until_ms is None else round(max(0.0, until_ms - from_ms), 3)
