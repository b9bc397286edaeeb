"""A caller whose lines are rehearsed: the ratio of its speech to the noise is the set one from the first word on."""

from __future__ import annotations

import numpy as np
import pytest
from support.line_sounds import phrase
from support.speech_levels import active_level

from callm_voice.audio.pcm import Pcm, level_dbov, split_frames
from callm_voice.core.events import EventLog
from callm_voice.core.fastloop import FastClock
from callm_voice.line.channel import Channel, known_level, rehearsed_level
from callm_voice.line.line import PhoneLine
from callm_voice.line.profile import LineProfile, load_profile

pytestmark = pytest.mark.unit

RATE_HZ = 8000
LINES = [phrase(RATE_HZ, 1.5 + 0.4 * n, seed=n, level_dbov=-17.0 - n % 3) for n in range(6)]
SEED = 4


def pauses(seconds: float) -> Pcm:
    return np.zeros(round(seconds * RATE_HZ), np.int16)


def said(lines: list[Pcm]) -> Pcm:
    """They come one by one, with the other side's turns between them."""
    return np.concatenate([part for line in lines for part in (pauses(1.0), line, pauses(1.0))])


def through(profile: LineProfile, pcm: Pcm, speech_dbov: float | None) -> Pcm:
    channel = Channel(profile, SEED, speech_dbov=speech_dbov)
    return np.concatenate([channel.process(frame) for frame in split_frames(pcm, profile.frame_samples)])


def quiet(profile: LineProfile) -> LineProfile:
    """The line without codec and noise."""
    assert profile.microphone is not None
    return profile.model_copy(
        update={"codec": "l16", "microphone": profile.microphone.model_copy(update={"noise": None})}
    )


def ratio_db(profile: LineProfile, pcm: Pcm, speech_dbov: float | None) -> float:
    """Of the speech alone and of the noise alone."""
    speech = through(quiet(profile), pcm, speech_dbov)
    both = through(profile.model_copy(update={"codec": "l16"}), pcm, speech_dbov)
    return active_level(speech, RATE_HZ)[0] - level_dbov((both.astype(int) - speech).astype(np.int16))


@pytest.mark.parametrize("name", ["noise-street-10", "noise-cafe-10", "noise-car-10"])
def test_10_db_are_10_db_within_half_a_db(name: str) -> None:
    """Over four of the noise's periods; shorter ones are louder or weaker by themselves."""
    profile = load_profile(name)
    level = rehearsed_level(LINES, profile, SEED)
    assert ratio_db(profile, said(3 * LINES), level) == pytest.approx(10, abs=0.5)


def test_the_order_of_the_lines_does_not_matter() -> None:
    profile = load_profile("noise-street-10")
    there, back = (rehearsed_level(lines, profile, SEED) for lines in (LINES, LINES[::-1]))
    assert there is not None
    assert there == pytest.approx(back, abs=0.02)
    assert there == pytest.approx(known_level(said(LINES), profile, SEED), abs=0.1)


def test_the_first_word_has_its_level_already() -> None:
    """ITU-T P.830: -26 dBov. Without the rehearsal it is off by what the assumption is."""
    profile = quiet(load_profile("noise-street-10"))
    loud = [phrase(RATE_HZ, 1.0, seed=9, level_dbov=-14.0)]
    known, unknown = (
        active_level(through(profile, said(loud), level), RATE_HZ)[0]
        for level in (rehearsed_level(loud, profile, SEED), None)
    )
    assert known == pytest.approx(-26, abs=0.2)
    assert unknown > known + 1.5


def test_nothing_rehearsed_or_no_microphone_leaves_it_to_the_meter() -> None:
    assert rehearsed_level([], load_profile("noise-street-10"), SEED) is None
    assert rehearsed_level([pauses(1.0)], load_profile("noise-street-10"), SEED) is None
    assert rehearsed_level(LINES, load_profile("pstn-g711u"), SEED) is None


def test_the_phone_line_hands_the_level_on_to_the_callers_direction() -> None:
    clock = FastClock()
    try:
        profile = load_profile("noise-street-10")
        line = PhoneLine(_Silent(), _Silent(), profile, clock, EventLog(clock), SEED, speech_dbov=-21.5)
        assert line.speech_dbov == -21.5
        microphone = line._to_agent.microphone
        assert microphone is not None
        assert microphone._leveller._gain == pytest.approx(10 ** ((-26 + 21.5) / 20))
    finally:
        clock.close()


class _Silent:
    def pull(self) -> Pcm | None:
        return None

    def push(self, frame: Pcm) -> None: ...

    def clear(self) -> None: ...
