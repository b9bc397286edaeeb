"""The independent detector: known sounds found in a recording, on sounds that it did not make."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import callm_voice.bench.calibrate_sounds as calibrate_sounds
from callm_voice.bench.calibrate_sounds import MIN_MATCH, Found, TooShort, find, through_line
from callm_voice.line.profile import LineProfile, load_profile
from callm_voice.speech.settings import ScriptedTtsSettings
from callm_voice.speech.tts_scripted import ScriptedTts

pytestmark = pytest.mark.unit
RATE_HZ = 8000
CLEAN = LineProfile(id="clean", title="8 kHz, changes nothing", rate_hz=RATE_HZ, codec="l16", band_hz=None)
VOICE = ScriptedTts(ScriptedTtsSettings(engine="scripted", rate_hz=8000))


def burst(ms: float, *, seed: int = 1, lead_ms: float = 0.0) -> np.ndarray:
    """Noise that begins and ends at once, after silence of `lead_ms`."""
    noise = np.random.default_rng(seed).normal(0, 4000, int(ms * 8)).astype(np.int16)
    noise[[0, -1]] = 5000
    return np.concatenate([np.zeros(int(lead_ms * 8), np.int16), noise])


def recording(*at_ms: tuple[float, np.ndarray], length_ms: float = 4000) -> np.ndarray:
    pcm = np.zeros(int(length_ms * 8), np.int16)
    for start_ms, sound in at_ms:
        first = round(start_ms * 8)
        pcm[first : first + sound.size] = sound
    return pcm


def test_a_sound_is_found_to_the_sample() -> None:
    sound = burst(700)
    found = find(recording((1003.125, sound)), sound, RATE_HZ, near_ms=1000)
    assert isinstance(found, Found)
    assert (found.onset_ms, found.end_ms, found.match) == (1003.125, 1703.125, 1.0)


def test_silence_that_a_sound_begins_with_is_not_its_onset() -> None:
    sound = burst(700, lead_ms=80)
    found = find(recording((1000, sound)), sound, RATE_HZ, near_ms=1000)
    assert isinstance(found, Found)
    assert (found.onset_ms, found.end_ms) == (1080, 1780)


def test_a_sound_that_was_cut_ends_where_the_recording_stops_following_it() -> None:
    sound = burst(1500)
    found = find(recording((1000, sound[: 640 * 8])), sound, RATE_HZ, near_ms=1000)
    assert isinstance(found, Found)
    assert found.end_ms == pytest.approx(1640, abs=1)


def test_a_sound_of_which_little_was_played_is_found_by_that_little() -> None:
    sound = burst(1500, lead_ms=40)
    found = find(recording((1000, sound[: 240 * 8])), sound, RATE_HZ, near_ms=1000, played_ms=240)
    assert isinstance(found, Found)
    assert (found.onset_ms, found.end_ms) == (1040, pytest.approx(1240, abs=1))


def test_of_less_than_that_nothing_is_claimed() -> None:
    sound = burst(1500, lead_ms=40)
    found = find(recording((1000, sound[: 100 * 8])), sound, RATE_HZ, near_ms=1000, played_ms=100)
    assert found == TooShort()


def test_another_sound_right_after_it_does_not_make_it_longer() -> None:
    sound, other = burst(700, seed=1), burst(700, seed=2)
    found = find(recording((1000, sound), (1700, other)), sound, RATE_HZ, near_ms=1000)
    assert isinstance(found, Found)
    assert found.end_ms == 1700


def test_a_cut_sound_before_another_one_ends_at_the_cut() -> None:
    sound, other = burst(1500, seed=1), burst(700, seed=2)
    found = find(recording((1000, sound[: 600 * 8]), (1600, other)), sound, RATE_HZ, near_ms=1000)
    assert isinstance(found, Found)
    assert found.end_ms == pytest.approx(1600, abs=calibrate_sounds.BLOCK_MS + 1)


def test_a_louder_sound_nearby_is_not_taken_for_it() -> None:
    sound, other = burst(500, seed=1) // 8, burst(240, seed=2)
    found = find(recording((800, other), (1100, sound)), sound, RATE_HZ, near_ms=1100)
    assert isinstance(found, Found)
    assert found.onset_ms == 1100


@pytest.mark.parametrize("pcm", [recording(), recording((1000, burst(700, seed=2)))], ids=["silence", "another sound"])
def test_what_is_not_there_is_not_found(pcm: np.ndarray) -> None:
    assert find(pcm, burst(700, seed=1), RATE_HZ, near_ms=1000) is None


def test_a_sound_far_from_its_place_is_not_found() -> None:
    sound = burst(700)
    assert find(recording((2500, sound)), sound, RATE_HZ, near_ms=1000) is None


def test_silence_has_no_place() -> None:
    assert find(recording(), np.zeros(800, np.int16), RATE_HZ, near_ms=0) is None


def test_speech_through_a_telephone_line_is_found_in_its_own_recording() -> None:
    """The line is entered mid-stream here, after other speech: its filter remembers, and the match is still exact."""
    profile = load_profile("pstn-g711u")
    before = VOICE.synthesise("Something that was said before this.")
    said = VOICE.synthesise("One moment, please, I am looking.")
    gap = np.zeros(160 * 25 - before.size % 160, np.int16)
    stream = np.concatenate([before, gap, said])
    at_ms = (before.size + gap.size) / 8
    found = find(through_line(stream, profile), through_line(said, profile), RATE_HZ, near_ms=at_ms)
    assert isinstance(found, Found)
    assert found.match > 0.99
    assert found.onset_ms == pytest.approx(at_ms, abs=2)
    assert found.end_ms == pytest.approx(at_ms + said.size / 8, abs=5)


def test_a_line_that_changes_nothing_gives_the_sound_back_in_whole_packets() -> None:
    sound = burst(101)
    out = through_line(sound, CLEAN)
    assert out.size % 160 == 0
    assert np.array_equal(out[: sound.size], sound)
    assert not out[sound.size :].any()


def test_the_limit_of_a_match_is_far_from_what_another_sound_reaches() -> None:
    assert 0.5 < MIN_MATCH < 1


def test_it_shares_no_code_with_the_probes() -> None:
    for name in ("calibrate_sounds.py", "calibrate_truth.py"):
        tree = ast.parse((Path(calibrate_sounds.__file__).parent / name).read_text(encoding="utf-8"))
        modules = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        assert not [m for m in modules if "probes" in m]
