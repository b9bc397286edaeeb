"""The caller's ear: speech and noise from levels, with times of the frames."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.caller.listen import Listener, SpeechEnded, SpeechStarted
from callm_voice.line.leg import Frame

pytestmark = pytest.mark.unit

SAMPLES = 160
RNG = np.random.default_rng(3)


def noise(dbov: float) -> Frame:
    """A frame of white noise at a level."""
    return np.clip(RNG.normal(0, 32768 * 10 ** (dbov / 20), SAMPLES), -32768, 32767).astype(np.int16)


def changes(*stretches: tuple[float, int]) -> list[SpeechStarted | SpeechEnded]:
    """What the ear reports for stretches of (level in dBov, milliseconds)."""
    ear = Listener()
    found = [ear.push(noise(dbov)) for dbov, ms in stretches for _ in range(ms // 20)]
    return [change for change in found if change is not None]


def test_speech_begins_with_its_first_loud_frame_and_ends_with_its_last() -> None:
    assert changes((-80, 500), (-25, 700), (-80, 500)) == [SpeechStarted(500), SpeechEnded(1200)]


def test_one_loud_frame_is_a_click() -> None:
    assert changes((-80, 500), (-20, 20), (-80, 500)) == []


def test_a_gap_shorter_than_the_hangover_is_part_of_the_speech() -> None:
    assert changes((-80, 500), (-25, 300), (-80, 180), (-25, 300), (-80, 400)) == [
        SpeechStarted(500),
        SpeechEnded(1280),
    ]


def test_softer_sound_keeps_speech_going_that_would_not_begin_it() -> None:
    assert changes((-80, 500), (-53, 400)) == []
    assert changes((-80, 500), (-25, 300), (-53, 300), (-80, 400)) == [SpeechStarted(500), SpeechEnded(1100)]


def test_steady_noise_is_the_floor_and_speech_stands_out_of_it() -> None:
    assert changes((-45, 3000)) == []
    assert changes((-45, 1000), (-22, 600), (-45, 600)) == [SpeechStarted(1000), SpeechEnded(1600)]


def test_noise_that_comes_up_later_is_speech_only_until_the_floor_has_risen() -> None:
    found = changes((-80, 500), (-48, 30_000))
    assert found[-1:] == [] or isinstance(found[-1], SpeechEnded)


def test_digital_silence_is_silence() -> None:
    ear = Listener()
    assert [ear.push(np.zeros(SAMPLES, np.int16)) for _ in range(50)] == [None] * 50
    assert not ear.speaking


def test_long_speech_does_not_turn_into_the_floor() -> None:
    assert changes((-80, 500), (-25, 20_000), (-80, 400)) == [SpeechStarted(500), SpeechEnded(20_500)]
