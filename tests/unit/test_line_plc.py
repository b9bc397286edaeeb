"""Concealment after ITU-T G.711 Appendix I: what a listener gets for a missing packet."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.audio.pcm import Pcm, level_dbov
from callm_voice.line.plc import Concealer

pytestmark = pytest.mark.unit


def vowel(rate_hz: int = 8000, pitch_hz: float = 131.0, seconds: float = 1.0) -> Pcm:
    """A buzz with ten partials."""
    t = np.arange(round(rate_hz * seconds)) / rate_hz
    return sum(2500 / k * np.sin(2 * np.pi * pitch_hz * k * t + k) for k in range(1, 11)).astype(np.int16)


def through(pcm: Pcm, lost: set[int], rate_hz: int = 8000) -> Pcm:
    concealer, size = Concealer(rate_hz), rate_hz // 50
    frames = pcm.reshape(-1, size)
    return np.concatenate([concealer.conceal(size) if i in lost else concealer.heard(f) for i, f in enumerate(frames)])


def test_nothing_is_changed_and_nothing_delayed_where_nothing_is_lost() -> None:
    assert np.array_equal(through(vowel(), set()), vowel())


@pytest.mark.parametrize("rate_hz", [8000, 16_000])
@pytest.mark.parametrize("pitch_hz", [80.0, 131.0, 190.0])
def test_a_lost_packet_of_a_vowel_goes_on_at_its_pitch(rate_hz: int, pitch_hz: float) -> None:
    pcm, size = vowel(rate_hz, pitch_hz), rate_hz // 50
    part = slice(20 * size, 20 * size + size // 2)
    made = through(pcm, {20}, rate_hz)[part].astype(float)
    assert np.corrcoef(made, pcm[part])[0, 1] > 0.9


def test_it_is_far_nearer_to_the_lost_sound_than_silence_is() -> None:
    pcm = vowel()
    error = through(pcm, {20})[3200:3360].astype(float) - pcm[3200:3360]
    assert np.mean(error**2) < 0.35 * np.mean(pcm[3200:3360].astype(float) ** 2)


def test_it_fades_from_10_ms_on_and_is_silence_after_60() -> None:
    out = through(vowel(), set(range(20, 30)))
    level = [level_dbov(out[3200 + 80 * k : 3280 + 80 * k]) for k in range(8)]
    assert level[0] == pytest.approx(level_dbov(vowel()[3120:3200]), abs=1.0)
    assert level[0] > level[2] > level[3] > level[4] > level[5]
    assert not out[3200 + 480 : 30 * 160].any()


def test_after_a_loss_the_real_sound_is_back_within_10_ms() -> None:
    pcm = vowel()
    out = through(pcm, {20, 21, 22})
    begin = 23 * 160
    assert np.array_equal(out[begin + 80 :], pcm[begin + 80 :])
    assert not np.array_equal(out[begin : begin + 79], pcm[begin : begin + 79])


def test_silence_is_concealed_by_silence() -> None:
    assert not through(np.zeros(8000, np.int16), {3, 4, 5, 20}).any()


def test_what_was_left_out_is_joined_without_a_click() -> None:
    pcm, concealer = vowel(pitch_hz=117.0), Concealer(8000)
    frames = pcm.reshape(-1, 160)
    before = [concealer.heard(f) for f in frames[:10]][-1]
    joined = concealer.heard(frames[11], joins=False)
    raw_step = abs(int(frames[11][0]) - int(before[-1]))
    largest = int(np.abs(np.diff(pcm.astype(int))).max())
    assert abs(int(joined[0]) - int(before[-1])) <= largest
    assert raw_step != abs(int(joined[0]) - int(before[-1]))
    assert np.array_equal(joined[32:], frames[11][32:])


def test_loss_from_the_first_packet_on_is_silence() -> None:
    out = through(vowel(), {0, 1})
    assert not out[:320].any()
