"""A sound through a profile: what comes back and what is measured of it."""

from __future__ import annotations

import numpy as np
import pytest
from support.line_sounds import turns
from support.speech_levels import active_level

from callm_voice.audio.pcm import level_dbov
from callm_voice.line.apply import apply_profile, measure, measured_band, response
from callm_voice.line.profile import LineProfile, all_profiles, load_profile

pytestmark = pytest.mark.unit

SOUND = turns(16_000, phrases=3, seed=2)


def test_the_band_of_a_swept_sine_is_within_1_db_of_the_mask() -> None:
    """The mask of `band_hz`: 1.8 dB down at its edges (ITU-T G.712 at 3400 Hz), flat from a third above the lower edge
    to an eighth below the upper one."""
    banded = {p.band_hz: p for p in all_profiles() if p.band_hz}
    assert set(banded) == {(300, 3400), (50, 7000)}
    for (low_hz, high_hz), profile in banded.items():
        hz, gain_db = response(profile)
        flat = (hz >= 1.34 * low_hz) & (hz <= high_hz * 7 / 8)
        assert np.abs(gain_db[flat]).max() < 1.0
        for edge_hz in (max(low_hz, hz[0]), high_hz):
            assert float(np.interp(edge_hz, hz, gain_db)) == pytest.approx(-1.8, abs=1.0)
        assert gain_db[hz >= 1.09 * high_hz].max() < -10


def test_a_measured_band_is_the_set_one() -> None:
    low_hz, high_hz = measured_band(load_profile("pstn-g711u"))
    assert low_hz == pytest.approx(300, abs=25)
    assert high_hz == pytest.approx(3400, abs=50)


def test_a_line_without_a_filter_has_the_whole_band() -> None:
    low_hz, high_hz = measured_band(load_profile("clean-16k"))
    assert low_hz <= 40
    assert high_hz > 7800


@pytest.mark.parametrize(("name", "snr_db"), [("noise-street-10", 10), ("noise-cafe-5", 5), ("speakerphone", 25)])
def test_the_ratio_that_is_measured_is_the_one_that_was_set(name: str, snr_db: float) -> None:
    found = measure(SOUND, 16_000, load_profile(name))
    assert found.snr_db == pytest.approx(snr_db, abs=0.5)
    assert found.level_out_dbov == pytest.approx(-26, abs=0.1)


def test_the_ratio_holds_by_the_other_meter_too() -> None:
    """`support.speech_levels` shares no code with the line's own meter."""
    profile = load_profile("noise-car-10")
    linear = profile.model_copy(update={"codec": "l16"})
    quiet = linear.model_copy(update={"microphone": linear.microphone.model_copy(update={"noise": None})})
    loud_pcm, quiet_pcm = (apply_profile(SOUND, 16_000, p, seed=4).pcm for p in (linear, quiet))
    speech_dbov, _ = active_level(quiet_pcm, 8000)
    noise = (loud_pcm.astype(int) - quiet_pcm).astype(np.int16)
    assert speech_dbov - level_dbov(noise) == pytest.approx(10, abs=0.5)


def test_a_quiet_profile_has_no_noise_to_measure() -> None:
    found = measure(SOUND, 16_000, load_profile("clean-16k"))
    assert (found.noise_dbov, found.snr_db) == (None, None)
    assert found.level_out_dbov == found.level_in_dbov
    assert found.peak_out_dbov is not None


def test_silence_has_no_level() -> None:
    found = measure(np.zeros(16_000, np.int16), 16_000, load_profile("noise-car-10"))
    assert (found.level_in_dbov, found.level_out_dbov, found.snr_db) == (None, None, None)


def test_what_goes_in_comes_out_whole_and_at_the_lines_rate() -> None:
    done = apply_profile(SOUND, 16_000, load_profile("loss-bad"), seed=2)
    assert done.rate_hz == 8000
    assert done.pcm.size >= SOUND.size // 2 + round(done.delay_ms * 8) - 1
    assert done.counts is not None
    assert sum(b.packets for b in done.bursts) == done.counts.concealed > 0


def test_the_clean_line_gives_the_sound_back() -> None:
    done = apply_profile(SOUND, 16_000, load_profile("clean-16k"))
    assert np.array_equal(done.pcm[: SOUND.size], SOUND)
    assert (done.delay_ms, done.counts, done.bursts, done.gain_error_db) == (0.0, None, (), None)


def test_a_gain_error_is_reported_as_drawn() -> None:
    done = apply_profile(SOUND, 16_000, load_profile("speakerphone"), seed=3)
    assert done.gain_error_db is not None
    assert 0 < abs(done.gain_error_db) <= 6


def test_a_profile_of_a_users_own_works_as_a_shipped_one() -> None:
    own = LineProfile.model_validate(
        {"id": "own", "title": "own", "rate_hz": 16_000, "codec": "g722", "band_hz": [100, 6000], "gain_db": -6}
    )
    assert apply_profile(SOUND, 16_000, own).delay_ms > 0
