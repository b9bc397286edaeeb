"""Voice to voice and barge-ins of an agent that runs elsewhere: from the recording, and from when the caller spoke.

Its VAD, recogniser and model cannot be seen, so a turn has one span, `agent`, and a barge-in has no detection,
unless the agent took its sound back over a media stream (`AgentCleared`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from callm_voice.core.events import (
    AgentCleared,
    AgentSpeechStarted,
    BargeIn,
    Event,
    UtteranceEnded,
    UtteranceStarted,
)
from callm_voice.core.latency import BargeInTiming, Span, TurnLatency
from callm_voice.probes.spans import LINE_SLACK_MS, PACKET_MS, TurnTimes
from callm_voice.probes.wire import Wire

SPAN_NAME = "agent"


def heard_only(events: Sequence[Event]) -> bool:
    """Whether the agent runs elsewhere, so that its sound alone tells of it."""
    return any(isinstance(event, AgentSpeechStarted) for event in events)


def outside_turn_latencies(events: Sequence[Event], left: Wire, right: Wire) -> TurnTimes:
    """V2V of each utterance of the caller's that was answered before the caller spoke again.

    Args:
        events: of one call, in any order.
        left: the caller, as the agent hears it.
        right: the agent, as the caller hears it.
    """
    spoken = _utterances(events)
    answered: list[TurnLatency] = []
    for n, (turn_id, start_ms, end_ms) in enumerate(spoken):
        next_ms = spoken[n + 1][1] if n + 1 < len(spoken) else math.inf
        speech_end_ms = left.last_audible_ms(start_ms - PACKET_MS, min(end_ms + LINE_SLACK_MS, next_ms))
        audible_ms = None if speech_end_ms is None else right.first_audible_ms(speech_end_ms, next_ms)
        if speech_end_ms is None or audible_ms is None or audible_ms <= speech_end_ms:
            continue  # not answered, or the agent was at it already: that is no answer to these words
        v2v_ms = round(audible_ms - speech_end_ms, 3)
        answered.append(
            TurnLatency(
                turn_id=turn_id,
                speech_end_ms=round(speech_end_ms, 3),
                audio_start_ms=round(audible_ms, 3),
                v2v_ms=v2v_ms,
                spans=(Span(name=SPAN_NAME, start_ms=round(speech_end_ms, 3), duration_ms=v2v_ms),),
            )
        )
    return TurnTimes(tuple(answered), len(spoken) - len(answered))


def outside_barge_ins(events: Sequence[Event], left: Wire, right: Wire) -> list[BargeInTiming]:
    """How long the agent spoke on when the caller spoke over it; its detection, if it took its sound back (`clear`)."""
    return [_timing(event, events, left, right) for event in events if isinstance(event, BargeIn)]


def _timing(event: BargeIn, events: Sequence[Event], left: Wire, right: Wire) -> BargeInTiming:
    spoken = _utterances(events)
    start_ms, end_ms = next(((s, e) for _, s, e in spoken if abs(s - event.t_ms) < PACKET_MS), (event.t_ms, math.inf))
    onset_ms = left.first_audible_ms(start_ms, end_ms)
    floors = [s for s in right.segments if onset_ms is not None and s.start_ms <= onset_ms < s.end_ms]
    silent_ms = floors[0].end_ms if floors else None
    reaction_ms = round(silent_ms - onset_ms, 3) if silent_ms is not None and onset_ms is not None else None
    cleared_ms = _cleared_ms(events, start_ms, end_ms)
    return BargeInTiming(
        turn_id=event.turn_id,
        detected_ms=next(ms for ms in (cleared_ms, onset_ms, event.t_ms) if ms is not None),
        onset_ms=onset_ms,
        silent_ms=silent_ms,
        onset_to_detection_ms=_since(onset_ms, cleared_ms),
        detection_to_stop_ms=None,
        detection_to_silence_ms=_since(cleared_ms, silent_ms),
        onset_to_stop_ms=reaction_ms,
    )


def _cleared_ms(events: Sequence[Event], start_ms: float, end_ms: float) -> float | None:
    """When the agent first took its sound back because of an utterance; None: it never did."""
    return min((e.t_ms for e in events if isinstance(e, AgentCleared) and start_ms <= e.t_ms <= end_ms), default=None)


def _since(from_ms: float | None, until_ms: float | None) -> float | None:
    return None if from_ms is None or until_ms is None else round(max(0.0, until_ms - from_ms), 3)


def _utterances(events: Sequence[Event]) -> list[tuple[int, float, float]]:
    """Id, start and end of each, in order; the end of one that never ended is infinite."""
    ends = {e.utterance_id: e.t_ms for e in events if isinstance(e, UtteranceEnded)}
    started = sorted((e for e in events if isinstance(e, UtteranceStarted)), key=lambda e: e.t_ms)
    return [(e.utterance_id, e.t_ms, ends.get(e.utterance_id, math.inf)) for e in started]
