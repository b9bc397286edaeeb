"""Wire truth: who is audible when, from samples."""

from __future__ import annotations

import numpy as np
import pytest
from support.probes_call import channel

from callm_voice.core.errors import HarnessError
from callm_voice.probes.wire import Gate, Segment, Wire, speech_segments

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("rate_hz", [8000, 16000])
def test_edges_of_a_tone_on_silence_are_exact_to_the_sample(rate_hz: int) -> None:
    pcm = channel((1000.5, 1800.25), (2500, 2600), rate_hz=rate_hz, length_ms=3000)
    assert speech_segments(pcm, rate_hz) == [Segment(1000.5, 1800.25), Segment(2500, 2600)]


@pytest.mark.parametrize("idle", [8, -8])
def test_a_law_idle_noise_moves_no_edge(idle: int) -> None:
    """ITU-T G.711 A-law has no code for 0: silence decodes to +8 or -8."""
    assert speech_segments(channel((500, 900), idle=idle), 8000) == [Segment(500, 900)]


def test_silence_has_no_speech() -> None:
    assert speech_segments(np.zeros(8000, np.int16), 8000) == []


def test_an_empty_channel_has_no_speech() -> None:
    assert speech_segments(np.zeros(0, np.int16), 8000) == []


def test_speech_up_to_the_last_sample_is_closed_there() -> None:
    pcm = channel((900, 1000), length_ms=1000)
    assert speech_segments(pcm, 8000) == [Segment(900, 1000)]


def test_pauses_shorter_than_the_gap_join_and_longer_ones_part() -> None:
    pcm = channel((500, 600), (700, 800), (960, 1100), length_ms=3000)
    assert speech_segments(pcm, 8000) == [Segment(500, 800), Segment(960, 1100)]


def test_a_click_is_not_speech() -> None:
    assert speech_segments(channel((500, 510)), 8000) == []


def test_sound_between_the_off_and_the_on_level_prolongs_but_does_not_begin_speech() -> None:
    pcm = channel((1000, 1500), length_ms=3000)
    pcm[500 * 8 : 800 * 8] = 80  # -52 dBov: over off, under on
    pcm[1500 * 8 : 1700 * 8] = 80
    assert speech_segments(pcm, 8000) == [Segment(1000, 1700)]


def test_stationary_noise_alone_is_not_speech() -> None:
    noise = np.random.default_rng(1).normal(0, 300, 8000 * 20).astype(np.int16)
    assert speech_segments(noise, 8000) == []


def test_edges_on_noise_of_15_db_snr_are_within_a_window() -> None:
    """Abrupt edges; soft ones of real speech drown earlier (see the module)."""
    rng = np.random.default_rng(2)
    pcm = channel((3000, 4000)).astype(np.float64)
    pcm += rng.normal(0, 4000 / 10 ** (15 / 20), len(pcm))
    (segment,) = speech_segments(np.rint(pcm).astype(np.int16), 8000)
    assert segment.start_ms == pytest.approx(3000, abs=6)
    assert segment.end_ms == pytest.approx(4000, abs=6)


def test_the_noise_floor_is_reported_in_dbov() -> None:
    noise = np.random.default_rng(3).normal(0, 32768 * 10 ** (-40 / 20), 8000 * 5).astype(np.int16)
    assert Wire(noise, 8000).floor_dbov == pytest.approx(-40, abs=1.5)


def test_first_audible_is_the_onset_in_the_window_asked_for() -> None:
    wire = Wire(channel((1000, 1200), (2000, 2300)), 8000)
    assert wire.first_audible_ms(1300) == 2000


def test_first_audible_inside_a_sound_is_the_moment_asked_for() -> None:
    assert Wire(channel((1000, 1200)), 8000).first_audible_ms(1100) == 1100


def test_first_audible_is_none_if_the_sound_begins_at_the_limit() -> None:
    assert Wire(channel((1000, 1200)), 8000).first_audible_ms(0, 1000) is None


def test_last_audible_is_the_end_in_the_window_asked_for() -> None:
    wire = Wire(channel((1000, 1200), (2000, 2300)), 8000)
    assert (wire.last_audible_ms(900, 1900), wire.last_audible_ms(900), wire.last_audible_ms(2400)) == (
        1200,
        2300,
        None,
    )


def test_a_wider_gap_setting_joins_more() -> None:
    pcm = channel((1000, 1200), (1700, 2300))
    assert speech_segments(pcm, 8000, Gate(min_gap_ms=600)) == [Segment(1000, 2300)]


@pytest.mark.parametrize(
    ("pcm", "rate_hz"),
    [(np.zeros((2, 80), np.int16), 8000), (np.zeros(80, np.float32), 8000), (np.zeros(80, np.int16), 22050)],
)
def test_another_form_of_audio_is_refused(pcm: np.ndarray, rate_hz: int) -> None:
    with pytest.raises(HarnessError, match="channel"):
        Wire(pcm, rate_hz)
