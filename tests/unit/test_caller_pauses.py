"""Pauses of a synthesised utterance: cut where they are long, untouched elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.caller.pauses import EDGE_MS, MAX_PAUSE_MS, shorten_pauses
from callm_voice.speech.engines import Pcm

pytestmark = pytest.mark.unit

RATE_HZ = 16000
RNG = np.random.default_rng(11)


def ms(samples: int) -> float:
    return samples * 1000 / RATE_HZ


def speech(length_ms: int) -> Pcm:
    return RNG.normal(0, 3000, RATE_HZ * length_ms // 1000).astype(np.int16)


def hush(length_ms: int) -> Pcm:
    return RNG.integers(-6, 7, RATE_HZ * length_ms // 1000).astype(np.int16)


def test_a_long_pause_is_cut_to_the_limit() -> None:
    first, second = speech(500), speech(300)
    out = shorten_pauses(np.concatenate([first, hush(800), second]), RATE_HZ)
    assert ms(out.size) == 500 + MAX_PAUSE_MS + 300
    assert np.array_equal(out[: first.size], first)
    assert np.array_equal(out[-second.size :], second)


def test_a_short_pause_stays_sample_by_sample() -> None:
    pcm = np.concatenate([speech(500), hush(300), speech(300)])
    assert np.array_equal(shorten_pauses(pcm, RATE_HZ), pcm)


def test_silence_at_the_ends_is_trimmed() -> None:
    out = shorten_pauses(np.concatenate([hush(330), speech(500), hush(470)]), RATE_HZ)
    assert ms(out.size) == EDGE_MS + 500 + EDGE_MS


def test_the_cut_makes_no_click() -> None:
    out = shorten_pauses(np.concatenate([speech(200), hush(900), speech(200)]), RATE_HZ)
    pause = out[RATE_HZ * 200 // 1000 : -RATE_HZ * 200 // 1000].astype(int)
    assert np.abs(np.diff(pause)).max() <= 12


@pytest.mark.parametrize("pcm", [np.zeros(8000, np.int16), np.zeros(0, np.int16)])
def test_a_signal_without_sound_is_returned_as_it_is(pcm: Pcm) -> None:
    assert np.array_equal(shorten_pauses(pcm, RATE_HZ), pcm)


def test_a_length_that_is_no_whole_number_of_blocks_keeps_its_tail() -> None:
    pcm = speech(505)[:-3]
    assert np.array_equal(shorten_pauses(pcm, RATE_HZ), pcm)
