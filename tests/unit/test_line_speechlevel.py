"""The active level of a stream against that of a finished signal: two programs, one Recommendation (ITU-T P.56)."""

from __future__ import annotations

import numpy as np
import pytest
from support.audio_speech import speech_like
from support.line_sounds import turns
from support.speech_levels import active_level

from callm_voice.audio.pcm import Pcm, apply_gain
from callm_voice.line.speechlevel import THRESHOLDS_DBOV, SpeechLevelMeter

pytestmark = pytest.mark.unit


def streamed(pcm: Pcm, rate_hz: int) -> tuple[float, float]:
    """(active level in dBov, activity 0 to 1), packet by packet."""
    meter = SpeechLevelMeter(rate_hz)
    whole = pcm[: pcm.size - pcm.size % (rate_hz // 50)]
    for packet in whole.reshape(-1, rate_hz // 50):
        meter.push(packet.astype(float))
    assert meter.level is not None
    level, active_s = meter.level
    return level, active_s * rate_hz / whole.size


@pytest.mark.parametrize("rate_hz", [8000, 16_000])
@pytest.mark.parametrize("gain_db", [0.0, -3.0, -10.0, -20.0, -30.0])
def test_both_say_the_same_of_the_same_sound(rate_hz: int, gain_db: float) -> None:
    spoken = speech_like(rate_hz, 8.0)
    pcm = apply_gain(np.concatenate([spoken, np.zeros(5 * rate_hz, np.int16), spoken]), gain_db)
    level, activity = streamed(pcm, rate_hz)
    expected, expected_activity = active_level(pcm, rate_hz)
    assert level == pytest.approx(expected, abs=0.05)
    assert activity == pytest.approx(expected_activity, rel=0.02)


def test_both_say_the_same_of_turns_with_long_pauses() -> None:
    pcm = turns(8000)
    assert streamed(pcm, 8000)[0] == pytest.approx(active_level(pcm, 8000)[0], abs=0.05)


def test_the_thresholds_are_those_of_the_finished_signal() -> None:
    """From -6 to -90 dB, halves of full scale."""
    assert np.allclose(10 ** (THRESHOLDS_DBOV / 20), 2.0 ** -np.arange(15, 0, -1))
