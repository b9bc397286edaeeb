"""Active speech level, noise level and SNR of signals that were made to have them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.audio_speech import speech_like
from support.speech_levels import active_level, measure, noise_level, snr_db

from callm_voice.audio.pcm import Pcm, apply_gain, level_dbov, to_int16

pytestmark = pytest.mark.unit

RATES_HZ = [8000, 16_000]
NOTHING = np.zeros(0, np.int16)


def tone(rate_hz: int, seconds: float, level: float) -> Pcm:
    """A 1 kHz tone of `level` dBov."""
    t = np.arange(round(rate_hz * seconds)) / rate_hz
    return to_int16(math.sqrt(2) * 10 ** (level / 20) * np.sin(2 * np.pi * 1000 * t))


def noise(rate_hz: int, seconds: float, level: float, seed: int = 4) -> Pcm:
    """White noise of `level` dBov."""
    size = round(rate_hz * seconds)
    return to_int16(10 ** (level / 20) * np.random.default_rng(seed).standard_normal(size))


def gated(rate_hz: int, share: float, level: float) -> Pcm:
    """A tone that sounds for `share` of each of four periods of ten seconds."""
    on = tone(rate_hz, 10 * share, level)
    return np.tile(np.concatenate([on, np.zeros(rate_hz * 10 - on.size, np.int16)]), 4)


def spoken(rate_hz: int, seconds: float = 20.0) -> Pcm:
    """Speech-like sound, two seconds of it and one of pause."""
    pcm = speech_like(rate_hz, seconds)
    pcm[np.arange(pcm.size) // rate_hz % 3 == 2] = 0
    return pcm


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("level", [-10.0, -26.0, -45.0])
def test_a_tone_without_a_pause_is_active_all_the_time(rate_hz: int, level: float) -> None:
    found, activity = active_level(tone(rate_hz, 10, level), rate_hz)
    assert found == pytest.approx(level, abs=0.1)
    assert activity == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("share", [0.2, 0.4, 0.7])
def test_a_gated_tone_has_the_level_of_the_tone_and_not_that_of_everything(rate_hz: int, share: float) -> None:
    """The hangover adds its 200 ms to each stretch, and the decay of the envelope some tenths more."""
    pcm = gated(rate_hz, share, -20.0)
    found, activity = active_level(pcm, rate_hz)
    assert level_dbov(pcm) == pytest.approx(-20 + 10 * math.log10(share), abs=0.1)
    assert share + 0.02 <= activity <= share + 0.05
    assert found == pytest.approx(-20 + 10 * math.log10(share / activity), abs=0.05)


def test_gaps_shorter_than_the_hangover_belong_to_the_speech() -> None:
    """P.56: 100 ms of tone and 100 ms of silence are one stretch, at half the power."""
    pcm = np.tile(np.concatenate([tone(8000, 0.1, -20), np.zeros(800, np.int16)]), 50)
    found, activity = active_level(pcm, 8000)
    assert activity == pytest.approx(1.0, abs=0.02)
    assert found == pytest.approx(-23, abs=0.15)


def test_the_active_level_follows_the_gain_and_the_activity_does_not() -> None:
    """Thresholds lie 6 dB apart and are interpolated between: a tenth of a dB is left."""
    pcm = spoken(8000)
    level, activity = active_level(pcm, 8000)
    for gain_db in (-3.0, -7.0, -12.0, -20.0):
        lower, same = active_level(apply_gain(pcm, gain_db), 8000)
        assert lower - level == pytest.approx(gain_db, abs=0.2)
        assert same == pytest.approx(activity, abs=0.03)


def test_a_longer_pause_lowers_the_long_term_level_but_not_the_active_one() -> None:
    pcm = spoken(8000)
    longer = np.concatenate([pcm, np.zeros(8000 * 60, np.int16)])
    assert level_dbov(longer) < level_dbov(pcm) - 5
    assert active_level(longer, 8000)[0] == pytest.approx(active_level(pcm, 8000)[0], abs=0.1)


@pytest.mark.parametrize("pcm", [NOTHING, np.zeros(8000, np.int16)])
def test_silence_has_no_level(pcm: Pcm) -> None:
    assert active_level(pcm, 8000) == (-math.inf, 0.0)
    assert noise_level(pcm, 8000) == -math.inf
    found = measure(pcm, 8000)
    assert (found.speech_dbov, found.activity, found.noise_dbov, found.snr_db) == (-math.inf, 0.0, -math.inf, math.inf)


@pytest.mark.parametrize("size", [1, 10, 500])
def test_less_than_the_envelope_needs_still_has_a_level(size: int) -> None:
    level, activity = active_level(np.full(size, 8000, np.int16), 8000)
    assert math.isfinite(level)
    assert 0 < activity <= 1


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("level", [-30.0, -50.0, -65.0])
def test_the_noise_level_is_that_of_the_pauses(rate_hz: int, level: float) -> None:
    pcm = spoken(rate_hz)
    mixed = pcm + noise(rate_hz, 20, level)
    assert noise_level(mixed, rate_hz) == pytest.approx(level, abs=0.5)


def test_noise_alone_holds_no_speech() -> None:
    found = measure(noise(8000, 10, -40), 8000)
    assert found.noise_dbov == pytest.approx(-40, abs=0.5)
    assert (found.speech_dbov, found.activity, found.snr_db) == (-math.inf, 0.0, -math.inf)


@pytest.mark.parametrize("snr", [0.0, 5.0, 10.0, 20.0])
def test_the_snr_of_known_parts_is_the_one_that_was_set(snr: float) -> None:
    speech = spoken(8000)
    level, _ = active_level(speech, 8000)
    assert snr_db(speech, noise(8000, 20, level - snr), 8000) == pytest.approx(snr, abs=0.1)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("snr", [10.0, 20.0, 30.0])
def test_the_snr_of_a_recording_is_found(rate_hz: int, snr: float) -> None:
    speech = spoken(rate_hz)
    level, activity = active_level(speech, rate_hz)
    found = measure(speech + noise(rate_hz, 20, level - snr), rate_hz)
    assert found.snr_db == pytest.approx(snr, abs=1.5)
    if snr >= 20:
        assert found.activity == pytest.approx(activity, abs=0.12)
    else:  # the faint syllables lie under the noise
        assert 0.5 * activity < found.activity < activity
