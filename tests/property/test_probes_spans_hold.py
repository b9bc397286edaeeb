"""Whatever the order, the times and the absence of events: spans are non-negative, contiguous, and sum to V2V."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

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
from callm_voice.probes.percentiles import percentiles
from callm_voice.probes.spans import turn_latencies
from callm_voice.probes.wire import Segment, Wire, speech_segments

pytestmark = pytest.mark.property

JITTER_MS = st.one_of(st.just(0.0), st.floats(-700, 700), st.floats(-3000, 3000))


def tone(*sounds_ms: tuple[int, int]) -> np.ndarray:
    pcm = np.zeros(10_000 * 8, np.int16)
    for start_ms, end_ms in sounds_ms:
        pcm[start_ms * 8 : end_ms * 8] = 4000
    return pcm


CALLER = Wire(tone((1000, 2000), (5000, 5600)), 8000)
AGENT = Wire(tone((100, 900), (2600, 4000), (6400, 9000)), 8000)


@st.composite
def call_events(draw: st.DrawFn) -> list[Event]:
    """Two turns whose events are moved from their natural times, some left out, in any order."""
    events: list[Event] = []
    for turn, end_ms in ((1, 2000), (2, 5600)):

        def at(after_ms: float, end_ms: int = end_ms) -> float:
            return round(end_ms + after_ms + draw(JITTER_MS), 3)

        events += [
            VadStopped(t_ms=at(150), turn_id=turn, last_speech_ms=0),
            TurnEnded(t_ms=at(300), turn_id=turn, why=draw(st.sampled_from(["silence", "max_turn"])), audio_ms=1),
            TranscriptReady(t_ms=at(350), turn_id=turn, heard="x"),
        ]
        for number in range(draw(st.integers(1, 2))):
            key, later = turn * 10 + number, number * 100
            events += [
                InferenceStarted(
                    t_ms=at(360 + later), inference_id=key, turn_id=turn, cause="caller_turn", role="r", model="m",
                    messages=1, tools=0,
                ),
                InferenceMark(t_ms=at(400 + later), inference_id=key, mark="first_token"),
                InferenceEnded(t_ms=at(450 + later), inference_id=key, interrupted=draw(st.booleans())),
                SentenceReady(t_ms=at(450 + later), sentence_id=key, turn_id=turn, inference_id=key, text="x"),
                TtsFirstAudio(t_ms=at(500 + later), sentence_id=key, turn_id=turn),
                PlayoutStarted(t_ms=at(550 + later), sentence_id=key, turn_id=turn),
                PlayoutEnded(t_ms=at(1500 + later), sentence_id=key, turn_id=turn, played="x"),
            ]  # fmt: skip
    kept = [e for e in events if draw(st.integers(0, 19)) > 0]
    return draw(st.permutations(kept))


@settings(deadline=None)
@given(call_events())
def test_spans_are_contiguous_non_negative_and_sum_to_v2v(events: list[Event]) -> None:
    turns = turn_latencies(events, CALLER, AGENT).turns
    event(f"{len(turns)} answered")
    for turn in turns:
        at_us = round(turn.speech_end_ms * 1000)
        for span in turn.spans:
            assert span.duration_ms >= 0
            assert round(span.start_ms * 1000) == at_us
            at_us += round(span.duration_ms * 1000)
        assert at_us == round(turn.audio_start_ms * 1000)
        assert round(turn.v2v_ms * 1000) == at_us - round(turn.speech_end_ms * 1000)


@settings(deadline=None)
@given(call_events())
def test_every_ended_turn_is_answered_counted_or_noise(events: list[Event]) -> None:
    found = turn_latencies(events, CALLER, AGENT)
    ended = {e.turn_id for e in events if isinstance(e, TurnEnded)}
    assert {t.turn_id for t in found.turns} <= ended
    assert len(found.turns) + found.unanswered <= len(ended)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(200, 600), st.integers(40, 400)), min_size=1, max_size=6))
def test_the_wire_finds_every_sound_that_is_apart_from_the_others(gaps_and_lengths: list[tuple[int, int]]) -> None:
    at_ms, sounds = 1500, []
    for gap_ms, length_ms in gaps_and_lengths:
        sounds.append((at_ms + gap_ms, at_ms + gap_ms + length_ms))
        at_ms = sounds[-1][1]
    assert speech_segments(tone(*sounds), 8000) == [Segment(float(a), float(b)) for a, b in sounds]


@settings(deadline=None)
@given(st.lists(st.floats(0, 60_000, allow_nan=False), min_size=1, max_size=60))
def test_percentiles_are_numpy_s_to_the_microsecond(values: list[float]) -> None:
    found = percentiles(values)
    expected = np.quantile(values, [0.5, 0.95, 0.99])
    assert [found.p50, found.p95, found.p99] == pytest.approx(expected.tolist(), abs=0.00051)
