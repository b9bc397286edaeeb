"""Keys over the line profiles that ship: each arrives once, and speech is not taken for keys."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.audio.resample import resample_whole
from callm_voice.audio.tones import KEYS, DtmfDetector, dtmf
from callm_voice.caller.voice import TONE_DBOV, TONE_GAP_MS, TONE_MS
from callm_voice.core import paths
from callm_voice.core.ids import derive_seed
from callm_voice.line.channel import Channel
from callm_voice.line.profile import load_profile
from callm_voice.pipeline.keypad import Keypad
from callm_voice.speech.settings import ScriptedTtsSettings
from callm_voice.speech.tts_scripted import ScriptedTts

pytestmark = pytest.mark.unit

PROFILES = paths.known_names("audio_profiles")
WITHOUT_LOSS = [name for name in PROFILES if load_profile(name).network is None]


def heard(name: str, pcm: np.ndarray, *, pressed: bool, seed: int = 1) -> Keypad:
    """A keypad that has heard the sound behind the line, a second of silence before and after it."""
    profile = load_profile(name)
    size, rest = profile.frame_samples, np.zeros(profile.rate_hz, np.int16)
    sound = np.concatenate([rest, pcm, rest])
    channel = Channel(profile, seed)
    keypad = Keypad(DtmfDetector(profile.rate_hz), rate_hz=profile.rate_hz, interdigit_ms=1000)
    for n, i in enumerate(range(0, sound.size - size + 1, size)):
        inside = pressed and rest.size <= i < rest.size + pcm.size
        keypad.push(channel.process(sound[i : i + size], past_microphone=inside), (n + 1) * 20.0)
    return keypad


@pytest.mark.parametrize("name", WITHOUT_LOSS)
def test_every_key_arrives_once(name: str) -> None:
    tones = dtmf(KEYS, load_profile(name).rate_hz, tone_ms=TONE_MS, gap_ms=TONE_GAP_MS, level_dbov=TONE_DBOV)
    assert heard(name, tones, pressed=True).keys == KEYS


def test_keys_do_not_pass_the_room_and_the_microphone() -> None:
    """Through a reverberant room the tones would run into each other."""
    profile = load_profile("speakerphone")
    tones = dtmf("55", profile.rate_hz)
    packets = [tones[i : i + 160] for i in range(0, tones.size, 160)]
    past, through, plain = (Channel(profile, 3), Channel(profile, 3), Channel(load_profile("pstn-g711u"), 3))
    keys = np.concatenate([past.process(p, past_microphone=True) for p in packets])
    np.testing.assert_array_equal(keys, np.concatenate([plain.process(p) for p in packets]))
    assert not np.array_equal(keys, np.concatenate([through.process(p) for p in packets]))


@pytest.mark.parametrize("rate_hz", [8000, 16000])
def test_speech_shaped_sound_presses_no_key(rate_hz: int) -> None:
    voice = ScriptedTts(ScriptedTtsSettings(rate_hz=rate_hz))  # type: ignore[arg-type]
    pcm = np.concatenate([voice.synthesise("One, two, three. My number is 212-555-0133.", seed=n) for n in range(5)])
    name = "pstn-g711u" if rate_hz == 8000 else "clean-16k"
    assert heard(name, pcm, pressed=False).keys == ""


def test_a_vowel_that_looks_like_a_key_is_none() -> None:
    """Scripted speech of which the detector alone takes a syllable for the key 5."""
    voice = ScriptedTts(ScriptedTtsSettings(rate_hz=16000, words_per_min=220.0))
    pcm = resample_whole(voice.synthesise("Okay, one second.", seed=derive_seed(1, "caller")), 16000, 8000)
    detector = DtmfDetector(8000)
    assert [key for i in range(0, pcm.size, 160) for key in detector.push(pcm[i : i + 160])] == ["5"]
    assert heard("pstn-g711u", pcm, pressed=False).keys == ""
