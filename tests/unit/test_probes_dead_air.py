"""Silences that the speech engines made, and from where on an overloaded harness leaves a call without a verdict."""

from __future__ import annotations

import pytest
from support.probes_call import line_ended, plain_answer

from callm_voice.core.events import (
    BargeIn,
    CallEnded,
    Event,
    InferenceStarted,
    PlayoutEnded,
    PlayoutStarted,
    SentenceReady,
    TranscriptReady,
    TtsFirstAudio,
    TurnEnded,
    UtteranceEnded,
    UtteranceStarted,
)
from callm_voice.probes.dead_air import DeadAir, dead_airs
from callm_voice.probes.harness import BROKEN_LATE_SHARE, why_broken

pytestmark = pytest.mark.unit


def said(number: int, start_ms: float, end_ms: float) -> list[Event]:
    return [
        UtteranceStarted(t_ms=start_ms, utterance_id=number, said="Hello?", spoken="Hello?"),
        UtteranceEnded(t_ms=end_ms, utterance_id=number),
    ]


def turn(number: int, ended_ms: float, transcript_ms: float | None) -> list[Event]:
    ended = TurnEnded(t_ms=ended_ms, turn_id=number, why="silence", audio_ms=1000)
    if transcript_ms is None:
        return [ended]
    return [ended, TranscriptReady(t_ms=transcript_ms, turn_id=number, heard="Hello?")]


def asked_again(transcript_ms: float | None, *more: Event) -> list[Event]:
    """The caller speaks until 1,000, its turn ends at 1,300, and it speaks up at 9,000."""
    return [*said(1, 0, 1000), *turn(1, 1300, transcript_ms), *more, *said(2, 9000, 10_000)]


def test_a_recogniser_that_takes_most_of_a_silence_is_to_blame_for_it() -> None:
    assert dead_airs(asked_again(8000)) == [DeadAir(1000, 9000, 6700)]


def test_a_transcript_that_never_comes_counts_to_the_end_of_the_silence() -> None:
    assert dead_airs(asked_again(None)) == [DeadAir(1000, 9000, 7700)]


def test_recogniser_and_voice_add_up_and_what_overlaps_counts_once() -> None:
    sentences = [
        SentenceReady(t_ms=3800, sentence_id=1, turn_id=1, inference_id=1, text="Sure."),
        SentenceReady(t_ms=4000, sentence_id=2, turn_id=1, inference_id=1, text="Sure."),
        TtsFirstAudio(t_ms=8900, sentence_id=1, turn_id=1),
    ]
    assert dead_airs(asked_again(3700, *sentences)) == [DeadAir(1000, 9000, 2400 + 5200)]


def test_a_slow_model_is_the_model_s_own() -> None:
    started = InferenceStarted(
        t_ms=2000, inference_id=1, turn_id=1, cause="caller_turn", role="router", model="m", messages=2, tools=1
    )
    assert dead_airs(asked_again(2000, started)) == []


def test_a_caller_that_speaks_soon_or_over_the_agent_waited_for_nobody() -> None:
    playing = PlayoutStarted(t_ms=8500, sentence_id=1, turn_id=1)
    assert dead_airs(asked_again(8000, playing)) == []
    assert dead_airs([*said(1, 0, 1000), *turn(1, 1300, 4500), *said(2, 4600, 5000)]) == []


def test_a_caller_that_leaves_because_of_the_silence_counts_too() -> None:
    left = CallEnded(t_ms=9000, reason="caller_hangup", detail="gives up")
    assert dead_airs([*said(1, 0, 1000), *turn(1, 1300, 8000), left]) == [DeadAir(1000, 9000, 6700)]
    ours = CallEnded(t_ms=9000, reason="max_duration")
    assert dead_airs([*said(1, 0, 1000), *turn(1, 1300, 8000), ours]) == []


def test_a_sentence_that_was_cut_does_not_count_into_the_next_silence() -> None:
    cut = [
        SentenceReady(t_ms=100, sentence_id=1, turn_id=0, inference_id=1, text="Sure."),
        BargeIn(t_ms=200, turn_id=0),
    ]
    assert dead_airs([*cut, *asked_again(1400)]) == []


def test_the_silence_begins_when_the_agent_has_played() -> None:
    played = [
        PlayoutStarted(t_ms=2000, sentence_id=1, turn_id=1),
        PlayoutEnded(t_ms=7000, sentence_id=1, turn_id=1, played="Sure."),
    ]
    assert dead_airs(asked_again(1900, *played)) == []


def test_such_a_silence_leaves_a_call_without_a_verdict_and_the_reason_has_its_figures() -> None:
    why = why_broken([*asked_again(8000), line_ended()])
    assert "at 9.0 s the caller had waited 8.0 s, 6.7 s of it for the recogniser and the voice" in str(why)


def test_a_punctual_call_a_late_one_and_one_by_text_keep_their_verdict() -> None:
    ticks = 500
    assert why_broken([*plain_answer(), line_ended()]) is None
    assert why_broken([*plain_answer(), line_ended(late_ticks=int(ticks * BROKEN_LATE_SHARE), ticks=ticks)]) is None
    assert why_broken(asked_again(8000)) is None


def test_a_call_that_was_late_most_of_the_time_or_had_holes_in_the_caller_s_speech_has_none() -> None:
    assert "251 of 500 ticks" in str(why_broken([*plain_answer(), line_ended(late_ticks=251, ticks=500)]))
    holes = line_ended().model_copy(update={"caller_underruns": 1})
    assert "1 holes" in str(why_broken([*plain_answer(), holes]))
