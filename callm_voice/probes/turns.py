"""The events of one call, joined by turn: what each caller turn led to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from callm_voice.core.events import (
    Event,
    InferenceEnded,
    InferenceMark,
    InferenceStarted,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    TranscriptReady,
    TtsFirstAudio,
    TurnEnded,
    VadStopped,
)


@dataclass
class TurnInference:
    """One inference of a turn; line clock."""

    started_ms: float
    first_token_ms: float | None = None
    interrupted: bool = False


@dataclass
class AgentSentence:
    """One sentence that began to play; line clock."""

    inference_id: int
    ready_ms: float | None
    first_audio_ms: float | None
    playout_ms: float
    playout_ended_ms: float
    """Infinite: it never ended."""


@dataclass
class CallerTurn:
    """One turn of the caller that endpointing ended, and all that the agent did because of it."""

    turn_id: int
    ended_ms: float
    by_timer: bool
    """The maximum-turn timer ended it: the caller may still have been speaking."""
    vad_stopped_ms: float | None = None
    last_speech_ms: float | None = None
    """End of the last frame that the VAD took for speech, by its own account, before it stopped."""
    transcript_ms: float | None = None
    heard: bool = False
    """Something was recognised."""
    inferences: dict[int, TurnInference] = field(default_factory=dict)
    """By id, in the order of their start."""
    sentences: list[AgentSentence] = field(default_factory=list)
    """In the order of their playout."""

    def first_inference(self, speaking_id: int) -> TurnInference | None:
        """The first that was not given up; the one that spoke counts even if it was cut later."""
        for inference_id, inference in self.inferences.items():
            if not inference.interrupted or inference_id == speaking_id:
                return inference
        return None


def collect_turns(ordered: Sequence[Event]) -> list[CallerTurn]:
    """The caller turns (turn id 1 and up) that were ended, in the order of their end. `ordered` is ordered by time."""
    ends = {e.turn_id: e for e in ordered if isinstance(e, TurnEnded) and e.turn_id > 0}
    turns = {i: CallerTurn(i, e.t_ms, by_timer=e.why == "max_turn") for i, e in ends.items()}
    for event in ordered:
        if isinstance(event, VadStopped) and event.turn_id in turns:
            turn = turns[event.turn_id]
            if event.t_ms <= turn.ended_ms or turn.vad_stopped_ms is None:
                turn.vad_stopped_ms, turn.last_speech_ms = event.t_ms, event.last_speech_ms
        elif isinstance(event, TranscriptReady) and event.turn_id in turns:
            turn = turns[event.turn_id]
            turn.transcript_ms, turn.heard = event.t_ms, turn.heard or bool(event.heard)
    _add_inferences(turns, ordered)
    _add_sentences(turns, ordered)
    return sorted(turns.values(), key=lambda t: (t.ended_ms, t.turn_id))


def _add_inferences(turns: dict[int, CallerTurn], ordered: Iterable[Event]) -> None:
    by_id: dict[int, TurnInference] = {}
    for event in ordered:
        if isinstance(event, InferenceStarted) and event.turn_id in turns:
            inference = by_id[event.inference_id] = TurnInference(event.t_ms)
            turns[event.turn_id].inferences[event.inference_id] = inference
    for event in ordered:
        if isinstance(event, InferenceMark | InferenceEnded) and event.inference_id in by_id:
            inference = by_id[event.inference_id]
            if isinstance(event, InferenceEnded):
                inference.interrupted = event.interrupted
            elif event.mark == "first_token" and inference.first_token_ms is None:
                inference.first_token_ms = event.t_ms


def _add_sentences(turns: dict[int, CallerTurn], ordered: Iterable[Event]) -> None:
    ready: dict[int, SentenceReady] = {}
    audio_ms: dict[int, float] = {}
    ended_ms: dict[int, float] = {}
    for event in ordered:
        if isinstance(event, SentenceReady):
            ready[event.sentence_id] = event
        elif isinstance(event, TtsFirstAudio):
            audio_ms.setdefault(event.sentence_id, event.t_ms)
        elif isinstance(event, PlayoutEnded):
            ended_ms[event.sentence_id] = event.t_ms
    for event in ordered:
        if isinstance(event, PlayoutStarted) and event.turn_id in turns:
            sentence = ready.get(event.sentence_id)
            turns[event.turn_id].sentences.append(
                AgentSentence(
                    inference_id=sentence.inference_id if sentence else -1,
                    ready_ms=sentence.t_ms if sentence else None,
                    first_audio_ms=audio_ms.get(event.sentence_id),
                    playout_ms=event.t_ms,
                    playout_ended_ms=ended_ms.get(event.sentence_id, math.inf),
                )
            )
