"""Voice to voice of each answered caller turn, cut into spans.

A turn's time runs on the wire: from the end of the caller's speech on the left channel to the first audible sample of
the agent's answer on the right one. Events cut it into pieces, in this order:

    vad                 speech end on the wire → VadStopped was decided: the VAD's own hangover included
    endpointing         → TurnEnded
    transcription       → TranscriptReady
    request             → InferenceStarted of the turn's first inference
    ttft                → its first token
    tools_and_handoffs  → the first token of the inference that produced the first sentence that was heard; only if that
                        is another one. The rest of the first answer, tools, handoffs, all inferences between and the
                        TTFT of the speaking one are in it.
    first_sentence      → SentenceReady of that sentence
    tts                 → TtsFirstAudio
    playout             → PlayoutStarted
    audible             → its first audible sample on the right: silence that the voice begins with, delay of the line

Spans are contiguous, never negative, and sum to V2V to the microsecond. A moment that lies before the one in front of
it (a transcript made while endpointing still waited) gives a span of 0 and the later ones count from there, so the
`ttft` span can be shorter than the inference's TTFT, which stands in `InferenceLatency`. A moment that never came makes
no span; its time is in the next one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callm_voice.core.events import Event, UtteranceEnded, UtteranceStarted
from callm_voice.core.latency import Span, TurnLatency
from callm_voice.probes.turns import AgentSentence, CallerTurn, collect_turns
from callm_voice.probes.wire import Wire

SPAN_NAMES = (
    "vad", "endpointing", "transcription", "request", "ttft", "tools_and_handoffs", "first_sentence", "tts", "playout",
    "audible",
)  # fmt: skip
"""In the order of time."""
PACKET_MS = 20.0
"""A frame is recorded where its tick begins, and its event is taken while that tick runs: the one may be this much
before the other."""
LINE_SLACK_MS = 300.0
"""By how much codec and jitter buffer may delay sound on the recording against its event."""


@dataclass(frozen=True)
class TurnTimes:
    """What became of the caller's turns."""

    turns: tuple[TurnLatency, ...]
    unanswered: int
    """Caller turns without a V2V: interrupted before the agent was heard, never answered, or ended by the timer while
    the caller spoke on. A turn that only noise opened (no speech on the wire, nothing heard) is not counted."""


def turn_latencies(events: Iterable[Event], left: Wire, right: Wire) -> TurnTimes:
    """V2V and its spans for each answered caller turn. The greeting (turn 0) has none.

    Args:
        events: of one call, in any order.
        left: the caller, as the agent hears it.
        right: the agent, as the caller hears it.
    """
    ordered = sorted(events, key=lambda e: e.t_ms)
    utterances = _utterances(ordered)
    answered: list[TurnLatency] = []
    unanswered = 0
    earlier_end_ms = -math.inf
    for turn in collect_turns(ordered):
        speech_end_ms = _speech_end_ms(turn, left, utterances, earlier_end_ms)
        earlier_end_ms = turn.ended_ms
        answer = _answer(turn, right, speech_end_ms) if speech_end_ms is not None else None
        if speech_end_ms is not None and answer is not None:
            answered.append(_latency(turn, speech_end_ms, *answer))
        elif speech_end_ms is not None or turn.heard or turn.by_timer:
            unanswered += 1
    return TurnTimes(tuple(answered), unanswered)


def _utterances(ordered: Sequence[Event]) -> list[tuple[float, float]]:
    """Start and end of each utterance by the caller's own account; the end of one that never ended is infinite."""
    ends = {e.utterance_id: e.t_ms for e in ordered if isinstance(e, UtteranceEnded)}
    return [(e.t_ms, ends.get(e.utterance_id, math.inf)) for e in ordered if isinstance(e, UtteranceStarted)]


def _speech_end_ms(
    turn: CallerTurn, left: Wire, utterances: Sequence[tuple[float, float]], earlier_end_ms: float
) -> float | None:
    """The last end of speech before the turn was ended, after the turn before, and within an utterance of the caller's.

    Without any utterance in the events (a person calls in) all sound on the channel is the caller's.
    """
    until_ms = turn.ended_ms + PACKET_MS
    for segment in reversed(left.segments):
        if segment.start_ms >= until_ms:
            continue
        if segment.end_ms <= earlier_end_ms:
            return None
        if utterances and not any(
            start <= segment.end_ms + PACKET_MS and segment.start_ms <= end + LINE_SLACK_MS for start, end in utterances
        ):
            continue
        if segment.end_ms <= until_ms:
            return segment.end_ms
        if turn.by_timer:
            return None
        paused_ms = left.last_end_ms(max(segment.start_ms, earlier_end_ms), until_ms)
        if paused_ms is not None:
            return paused_ms
    return None


def _answer(turn: CallerTurn, right: Wire, speech_end_ms: float) -> tuple[AgentSentence, float] | None:
    """The first sentence of the turn that is audible on the wire, and when it became so."""
    for sentence in turn.sentences:
        after_ms = max(sentence.playout_ms - PACKET_MS, speech_end_ms)
        audible_ms = right.first_audible_ms(after_ms, sentence.playout_ended_ms + LINE_SLACK_MS)
        if audible_ms is not None:
            return sentence, audible_ms
    return None


def _latency(turn: CallerTurn, speech_end_ms: float, sentence: AgentSentence, audible_ms: float) -> TurnLatency:
    first = turn.first_inference(sentence.inference_id)
    speaking = turn.inferences.get(sentence.inference_id)
    moments = [
        ("vad", turn.vad_stopped_ms),
        ("endpointing", turn.ended_ms),
        ("transcription", turn.transcript_ms),
        ("request", first.started_ms if first else None),
        ("ttft", first.first_token_ms if first else None),
        ("tools_and_handoffs", speaking.first_token_ms if speaking and speaking is not first else None),
        ("first_sentence", sentence.ready_ms),
        ("tts", sentence.first_audio_ms),
        ("playout", sentence.playout_ms),
        ("audible", audible_ms),
    ]
    start_us, end_us = _us(speech_end_ms), _us(audible_ms)
    return TurnLatency(
        turn_id=turn.turn_id,
        speech_end_ms=start_us / 1000,
        audio_start_ms=end_us / 1000,
        v2v_ms=(end_us - start_us) / 1000,
        spans=_chain(start_us, end_us, moments),
        vad_hangover_ms=_hangover_ms(turn),
    )


def _hangover_ms(turn: CallerTurn) -> float | None:
    if turn.vad_stopped_ms is None or turn.last_speech_ms is None:
        return None
    return round(max(0.0, turn.vad_stopped_ms - turn.last_speech_ms), 3)


def _chain(start_us: int, end_us: int, moments: Sequence[tuple[str, float | None]]) -> tuple[Span, ...]:
    """Contiguous spans from start to end; each moment is clamped between the one before and the end."""
    spans: list[Span] = []
    at_us = start_us
    for name, moment_ms in moments:
        if moment_ms is None:
            continue
        until_us = min(max(_us(moment_ms), at_us), end_us)
        spans.append(Span(name=name, start_ms=at_us / 1000, duration_ms=(until_us - at_us) / 1000))
        at_us = until_us
    return tuple(spans)


def _us(t_ms: float) -> int:
    return round(t_ms * 1000)
