"""Telephone keys: what is sent, what is recognised, and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from support.audio_speech import speech_like

from callm_voice.audio.codecs import make_codec
from callm_voice.audio.pcm import Pcm, level_dbov, split_frames, to_int16
from callm_voice.audio.tones import GAP_MS, HIGH_HZ, KEYS, LOW_HZ, TONE_MS, DtmfDetector, dtmf
from callm_voice.core.errors import NotFoundError

pytestmark = pytest.mark.unit

RATES_HZ = [8000, 16_000]
NOTHING = np.zeros(1600, np.int16)


def heard(pcm: Pcm, rate_hz: int = 8000) -> str:
    detector = DtmfDetector(rate_hz)
    padded = np.concatenate([pcm, np.zeros(rate_hz // 5, np.int16)])
    return "".join(key for frame in split_frames(padded, rate_hz // 50) for key in detector.push(frame))


def pair(low_hz: float, high_hz: float, ms: int, low_dbov: float = -15.0, high_dbov: float = -15.0) -> Pcm:
    t = np.arange(8 * ms) / 8000
    low, high = (10 ** (dbov / 20) * np.sqrt(2) for dbov in (low_dbov, high_dbov))
    return to_int16(low * np.sin(2 * np.pi * low_hz * t) + high * np.sin(2 * np.pi * high_hz * t))


def test_the_keypad_is_that_of_q_23() -> None:
    assert (LOW_HZ, HIGH_HZ) == ((697, 770, 852, 941), (1209, 1336, 1477, 1633))
    assert KEYS == "123A456B789C*0#D"


@pytest.mark.parametrize("rate_hz", RATES_HZ)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_its_two_tones(key: str, rate_hz: int) -> None:
    """The two highest peaks of the spectrum, the upper one 2 dB above the lower."""
    pcm = dtmf(key, rate_hz, tone_ms=1000, gap_ms=0).astype(float)
    spectrum = np.abs(np.fft.rfft(pcm))  # one bin is 1 Hz
    row, column = divmod(KEYS.index(key), 4)
    assert set(np.argsort(spectrum)[-2:]) == {LOW_HZ[row], HIGH_HZ[column]}
    assert 20 * np.log10(spectrum[HIGH_HZ[column]] / spectrum[LOW_HZ[row]]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("level_dbov", [-9.0, -20.0])
def test_the_level_is_that_of_both_tones(level_dbov: float) -> None:
    pcm = dtmf("5", 8000, tone_ms=1000, gap_ms=0, level_dbov=level_dbov)
    assert level_dbov == pytest.approx(level_dbov_of_middle(pcm), abs=0.1)


def level_dbov_of_middle(pcm: Pcm) -> float:
    return level_dbov(pcm[400:-400])


def test_keys_have_their_lengths() -> None:
    pcm = dtmf("12", 8000)
    each = 8 * (TONE_MS + GAP_MS)
    assert pcm.size == 2 * each
    assert not pcm[8 * TONE_MS : each].any()
    assert dtmf("", 8000).size == 0


def test_a_tone_begins_and_ends_without_a_click() -> None:
    pcm = dtmf("9", 8000).astype(int)
    assert abs(pcm[0]) < 400
    assert abs(pcm[8 * TONE_MS - 1]) < 400


def test_what_no_key_has_is_refused() -> None:
    with pytest.raises(NotFoundError, match="no telephone key named 'x'; known: #"):
        dtmf("1x", 8000)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_every_key_is_recognised_once(rate_hz: int) -> None:
    assert heard(dtmf(KEYS, rate_hz), rate_hz) == KEYS


@pytest.mark.parametrize(
    ("name", "rate_hz", "mode"),
    [
        ("pcmu", 8000, None),
        ("pcma", 8000, None),
        ("g722", 16_000, None),
        ("g726", 8000, "32"),
        ("gsm", 8000, None),
        ("amr", 8000, "12.2"),
        ("opus", 8000, "12000"),
    ],
)
def test_every_key_is_recognised_after_a_codec(name: str, rate_hz: int, mode: str | None) -> None:
    codec = make_codec(name, rate_hz, mode=mode)
    frames = split_frames(dtmf(KEYS + "00112", rate_hz), rate_hz // 50)
    assert heard(np.concatenate([codec.decode(codec.encode(f)) for f in frames]), rate_hz) == KEYS + "00112"


def test_the_same_key_twice_is_two_and_held_down_is_one() -> None:
    assert heard(dtmf("55", 8000)) == "55"
    assert heard(dtmf("5", 8000, tone_ms=3000)) == "5"


def test_a_key_is_told_while_it_still_sounds() -> None:
    detector = DtmfDetector(8000)
    frames = split_frames(dtmf("7", 8000, tone_ms=500), 160)
    assert [n for n, frame in enumerate(frames) if detector.push(frame)] in ([1], [2])


@pytest.mark.parametrize("offset", range(0, 160, 16))
def test_40_ms_are_a_key_wherever_they_begin_and_20_ms_are_none(offset: int) -> None:
    """ITU-T Q.24 table A-1."""
    before = np.zeros(800 + offset, np.int16)
    assert heard(np.concatenate([before, dtmf("147", 8000, tone_ms=40, gap_ms=40)])) == "147"
    assert heard(np.concatenate([before, dtmf("147", 8000, tone_ms=20, gap_ms=60)])) == ""


def test_a_gap_of_10_ms_does_not_make_two_keys() -> None:
    tone = dtmf("3", 8000, tone_ms=60, gap_ms=10)
    assert heard(np.concatenate([tone, tone])) == "3"


@pytest.mark.parametrize("off", [0.982, 1.018])
@pytest.mark.parametrize(("low_hz", "high_hz"), [(697, 1209), (941, 1633)])
def test_frequencies_that_are_off_by_as_much_as_allowed_are_a_key(low_hz: int, high_hz: int, off: float) -> None:
    """ITU-T Q.23: so far may a telephone be off, ± 1.8 %."""
    assert len(heard(pair(low_hz * off, high_hz * off, 100))) == 1


@pytest.mark.parametrize(
    "tones", [(730, 1209), (697, 1270), (400, 450), (1336, 1477), (440, 480), (350, 440), (480, 620)]
)
def test_two_other_tones_are_no_key(tones: tuple[int, int]) -> None:
    """Off by 5 %, two of one group, and the dial, ringing and busy tones of North America."""
    assert heard(pair(*tones, 400)) == ""


@pytest.mark.parametrize("hz", [*LOW_HZ, *HIGH_HZ])
def test_one_tone_is_no_key(hz: int) -> None:
    t = np.arange(4000) / 8000
    assert heard(to_int16(0.5 * np.sin(2 * np.pi * hz * t))) == ""


def test_a_twist_that_a_line_may_make_is_accepted_and_a_larger_one_is_not() -> None:
    assert heard(pair(770, 1336, 100, low_dbov=-12, high_dbov=-20)) == "5"
    assert heard(pair(770, 1336, 100, low_dbov=-20, high_dbov=-12)) == "5"
    assert heard(pair(770, 1336, 100, low_dbov=-12, high_dbov=-26)) == ""


def test_levels_from_full_scale_to_faint_are_keys_and_a_whisper_is_not() -> None:
    assert heard(dtmf("8", 8000, level_dbov=-3)) == "8"
    assert heard(dtmf("8", 8000, level_dbov=-40)) == "8"
    assert heard(dtmf("8", 8000, level_dbov=-60)) == ""


def test_a_key_is_recognised_over_noise() -> None:
    tones = dtmf(KEYS, 8000, level_dbov=-15)
    noise = to_int16(10 ** (-30 / 20) * np.random.default_rng(2).standard_normal(tones.size))
    assert heard(tones + noise) == KEYS


@pytest.mark.parametrize("seed", range(3))
def test_a_minute_of_speech_holds_no_key(seed: int) -> None:
    assert heard(speech_like(8000, 60.0, seed)) == ""


@pytest.mark.parametrize("size", [1, 37, 80, 160, 999])
def test_the_split_of_the_stream_changes_nothing(size: int) -> None:
    pcm = np.concatenate([NOTHING, dtmf("1234", 8000), NOTHING])
    detector = DtmfDetector(8000)
    keys = [key for start in range(0, pcm.size, size) for key in detector.push(pcm[start : start + size])]
    assert "".join(keys) == "1234"
