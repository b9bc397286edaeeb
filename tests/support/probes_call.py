"""A hand-made call whose times are known exactly, for the tests of the probes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from callm_voice.core.events import (
    Event,
    InferenceEnded,
    InferenceMark,
    InferenceStarted,
    LineEnded,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    TranscriptReady,
    TtsFirstAudio,
    TurnEnded,
    UtteranceEnded,
    UtteranceStarted,
    VadStarted,
    VadStopped,
)

RATE_HZ = 8000
CALL_MS = 10_000


def channel(
    *sounds_ms: tuple[float, float], rate_hz: int = RATE_HZ, length_ms: float = CALL_MS, idle: int = 0
) -> NDArray:
    """One channel: a loud square wave of 1 kHz in each stretch, `idle` everywhere else."""
    pcm = np.full(int(length_ms * rate_hz / 1000), idle, dtype=np.int16)
    for start_ms, end_ms in sounds_ms:
        first, after = int(start_ms * rate_hz / 1000), int(end_ms * rate_hz / 1000)
        half = rate_hz // 2000
        pcm[first:after] = np.where(np.arange(after - first) // half % 2, -4000, 4000)
    return pcm


def line_ended(*, late_ticks: int = 0, late_p99_ms: float = 1.0, ticks: int = CALL_MS // 20) -> LineEnded:
    return LineEnded(
        t_ms=CALL_MS, ticks=ticks, late_ticks=late_ticks, late_p99_ms=late_p99_ms, late_max_ms=99, codec_delay_ms=0
    )


def inference(
    number: int, start_ms: float, token_ms: float | None, *, turn: int = 1, cause: str = "caller_turn", **ended: object
) -> list[Event]:
    """An inference with its first token, ended half a second after its start."""
    events: list[Event] = [
        InferenceStarted(
            t_ms=start_ms, inference_id=number, turn_id=turn, cause=cause, role="router", model="m", messages=2, tools=1
        ),
        InferenceEnded(t_ms=start_ms + 500, inference_id=number, **ended),
    ]
    if token_ms is not None:
        events.append(InferenceMark(t_ms=token_ms, inference_id=number, mark="first_token"))
    return events


def sentence(
    number: int,
    by: int,
    ready_ms: float,
    audio_ms: float,
    playout_ms: float,
    ended_ms: float,
    *,
    turn: int = 1,
    cut: bool = False,
) -> list[Event]:
    return [
        SentenceReady(t_ms=ready_ms, sentence_id=number, turn_id=turn, inference_id=by, text="Sure."),
        TtsFirstAudio(t_ms=audio_ms, sentence_id=number, turn_id=turn),
        PlayoutStarted(t_ms=playout_ms, sentence_id=number, turn_id=turn),
        PlayoutEnded(t_ms=ended_ms, sentence_id=number, turn_id=turn, played="Sure.", cut=cut),
    ]


def caller_turn(*, turn: int = 1, why: str = "silence", heard: str = "hello", at_ms: float = 0.0) -> list[Event]:
    """The caller speaks from 1,000 to 3,000 ms on the wire (then 40 ms of silence), all moved by `at_ms`."""
    return [
        UtteranceStarted(t_ms=at_ms + 1000, utterance_id=turn, said="hello", spoken="hello"),
        VadStarted(t_ms=at_ms + 1120, turn_id=turn),
        UtteranceEnded(t_ms=at_ms + 3040, utterance_id=turn),
        VadStopped(t_ms=at_ms + 3200, turn_id=turn, last_speech_ms=at_ms + 3000),
        TurnEnded(t_ms=at_ms + 3500, turn_id=turn, why=why, audio_ms=2300),
        TranscriptReady(t_ms=at_ms + 3900, turn_id=turn, heard=heard),
    ]


def plain_answer() -> list[Event]:
    """The caller's turn and an answer without tools: spoken from 4,300, audible from 4,340."""
    return [*caller_turn(), *inference(1, 3910, 4110), *sentence(1, 1, 4200, 4280, 4300, 6000)]


CALLER_WIRE = channel((1000, 3000))
AGENT_WIRE = channel((4340, 5980))
