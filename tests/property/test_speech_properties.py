"""Properties of the pure parts of speech."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callm_voice.core.record import EngineInfo
from callm_voice.speech.endpointing import Endpointer, SilenceBegan, SpeechResumed, SpeechStarted, TurnEnded
from callm_voice.speech.engines import Pcm
from callm_voice.speech.sentences import SentenceSplitter
from callm_voice.speech.settings import EndpointingSettings
from callm_voice.speech.spoken import to_spoken
from callm_voice.speech.stt_guards import find_loop, trim_loop

pytestmark = pytest.mark.property

PIECES = [
    "Dr.",
    "Chen",
    "9 a.m.",
    "on",
    "$48.00",
    "St.",
    "John",
    "Yes!",
    "No?",
    "3.5",
    "ok,",
    "A.",
    "\n",
    "- item",
    "**b**",
    "It's",
    "you",
]
AGENT_TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)
ANY_TEXT = st.one_of(AGENT_TEXT, st.text(max_size=120))


def chunks(text: str, cuts: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(c % (len(text) + 1) for c in cuts)})
    return [text[a:b] for a, b in pairwise(edges)]


def split(pieces: list[str], early: int) -> list[str]:
    splitter = SentenceSplitter(early_clause_words=early)
    return [s for piece in pieces for s in splitter.feed(piece)] + splitter.flush()


@settings(deadline=None)
@given(ANY_TEXT, st.lists(st.integers(0, 500), max_size=30), st.sampled_from([0, 2, 5]))
def test_any_chunking_gives_the_same_sentences(text: str, cuts: list[int], early: int) -> None:
    assert split(chunks(text, cuts), early) == split([text], early)


@settings(deadline=None)
@given(ANY_TEXT, st.sampled_from([0, 3]))
def test_the_sentences_hold_all_words_in_order(text: str, early: int) -> None:
    assert re.findall(r"[^\W_]+", " ".join(split([text], early))) == re.findall(r"[^\W_]+", text)


@settings(deadline=None)
@given(ANY_TEXT)
def test_text_with_words_never_becomes_empty(text: str) -> None:
    assert any(c.isalnum() for c in to_spoken(text)) == any(c.isalnum() for c in text)


@settings(deadline=None)
@given(ANY_TEXT)
def test_the_spoken_form_has_no_markup_and_is_one_line(text: str) -> None:
    assert not re.search(r"[*#|`~\n\[\]{}<>]|\s\s", to_spoken(text))


NUMBERS = st.one_of(
    st.integers(0, 10**7).map(lambda n: f"${n / 100:,.2f}"),
    st.dates().map(lambda d: d.isoformat()),
    st.integers(0, 10**10 - 1).map(lambda n: f"{n:010d}"),
    st.tuples(st.integers(1, 12), st.integers(0, 59), st.sampled_from(["AM", "PM"])).map(
        lambda t: f"{t[0]}:{t[1]:02d} {t[2]}"
    ),
    st.integers(0, 99999).map(lambda n: f"MBR-{n:05d}"),
    st.decimals(0, 10**6, places=2).map(str),
)


@settings(deadline=None)
@given(NUMBERS)
def test_no_digit_is_left_and_a_second_pass_changes_nothing(written: str) -> None:
    spoken = to_spoken(f"It is {written}.")
    assert not re.search(r"\d", spoken)
    assert to_spoken(spoken) == spoken


SOME_WORDS = st.lists(st.sampled_from(["no", "yes", "5", "five", "that", "is"]), max_size=12)
UNIT = st.lists(st.sampled_from(["no", "yes", "that", "is"]), min_size=1, max_size=4)


@settings(deadline=None)
@given(SOME_WORDS, UNIT, st.integers(8, 20), SOME_WORDS, st.floats(0.5, 20))
def test_trimming_a_loop_only_ever_takes_from_the_end(
    before: list[str], unit: list[str], times: int, after: list[str], duration_s: float
) -> None:
    text = " ".join([*before, *unit * times, *after])
    loop = find_loop(text, duration_s)
    assert loop is not None
    kept = trim_loop(text, loop)
    assert text.startswith(kept)
    assert len(kept) < len(text)


class LoudVad:
    frame_ms = 20

    def __init__(self) -> None:
        self.info = EngineInfo(engine="test", scripted=True)

    def confidence(self, frame: Pcm, rate_hz: int) -> float:
        return float(frame.any())

    def reset(self) -> None:
        """Nothing to forget."""


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.booleans()), min_size=1, max_size=12),
    st.integers(0, 400),
    st.integers(0, 400),
    st.integers(1, 7),
)
def test_turns_never_overlap_and_their_samples_are_those_of_the_line(
    stretches: list[tuple[int, bool]], pre_ms: int, post_ms: int, smooth: int
) -> None:
    parameters = EndpointingSettings(
        pre_roll_ms=pre_ms,
        post_roll_ms=post_ms,
        smooth_frames=smooth,
        max_turn_ms=1000,
        silence_ms=300,
        min_speech_ms=40,
    )
    endpointer = Endpointer(LoudVad(), parameters, rate_hz=8000)
    speech = [loud for frames, loud in stretches for _ in range(frames)]
    line = np.arange(1, len(speech) * 160 + 1).reshape(-1, 160) % 30000 * np.array(speech)[:, None]
    line = line.astype(np.int16)
    events = [e for i, frame in enumerate(line) for e in endpointer.push(frame, (i + 1) * 20.0)]
    ended = [e for e in events if isinstance(e, TurnEnded)]
    starts = [e for e in events if isinstance(e, SpeechStarted)]
    assert 0 <= len(starts) - len(ended) <= 1
    last_ms = 0.0
    for turn in ended:
        assert last_ms <= turn.start_ms < turn.end_ms <= turn.t_ms
        np.testing.assert_array_equal(turn.pcm, line.reshape(-1)[round(turn.start_ms * 8) : round(turn.end_ms * 8)])
        last_ms = turn.end_ms


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1, max_size=14),
    st.integers(20, 400),
    st.integers(0, 400),
    st.integers(1, 7),
)
def test_a_segment_that_was_given_out_ahead_is_the_final_one_but_for_silence_behind_it(
    stretches: list[tuple[int, bool]], speculate_ms: int, post_ms: int, smooth: int
) -> None:
    """Equal where `speculate_ms` is at least `post_roll_ms`; else what follows came after the last speech."""
    parameters = EndpointingSettings(
        speculate_ms=speculate_ms, post_roll_ms=post_ms, smooth_frames=smooth, silence_ms=400, min_speech_ms=40
    )
    endpointer = Endpointer(LoudVad(), parameters, rate_hz=8000)
    speech = [loud for frames, loud in [*stretches, (40, False)] for _ in range(frames)]
    line = np.array([np.full(160, 100 * loud, np.int16) for loud in speech])
    line[:, 0] *= np.arange(1, len(speech) + 1, dtype=np.int16)
    ahead: SilenceBegan | None = None
    for i, frame in enumerate(line):
        for event in endpointer.push(frame, (i + 1) * 20.0):
            if isinstance(event, SilenceBegan):
                ahead = event
            elif isinstance(event, SpeechResumed):
                ahead = None
            elif isinstance(event, TurnEnded) and event.why == "silence":
                assert ahead is not None
                assert (ahead.start_ms, ahead.last_speech_ms) == (event.start_ms, event.last_speech_ms)
                np.testing.assert_array_equal(ahead.pcm, event.pcm[: ahead.pcm.size])
                assert ahead.pcm.size == event.pcm.size or speculate_ms < post_ms
                assert ahead.end_ms >= ahead.last_speech_ms
                ahead = None
