"""Every caller voice over a real G.711 line into real Whisper: what a caller must be able to say arrives.

Weights must be there: `callm-voice models pull kokoro-82m kokoro-styles` beside the default ones. Audio is kept in the
caller-audio cache, as in a call.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from callm_voice.audio.pcm import split_frames
from callm_voice.audio.resample import resample_whole
from callm_voice.caller.pauses import shorten_pauses
from callm_voice.core.paths import cache_dir
from callm_voice.line.channel import Channel
from callm_voice.line.profile import load_profile
from callm_voice.speech import tts_kokoro
from callm_voice.speech.engines import Pcm, SttEngine
from callm_voice.speech.factory import make_stt, make_tts
from callm_voice.speech.settings import KokoroSettings, WhisperSettings
from callm_voice.speech.spoken import to_spoken
from callm_voice.speech.tts_cache import CachedTts
from callm_voice.speech.tts_kokoro import KokoroTts
from callm_voice.speech.voices import VOICES, CallerVoice

pytestmark = [pytest.mark.models, pytest.mark.timeout(600)]

RATE_HZ = 8000
LINES = {
    "My phone number is 212-555-0133.": ("212", "555", "0133"),
    "I was born on June 30, 1972, and my zip code is 97214.": ("june 30", "1972", "97214"),
    "I'd like to pay the $48.10 today, please.": ("pay", "forty eight", "ten", "today"),
}
"""Line → what must be in the transcript."""
WER_CEILING = 0.15
"""Over the three lines of one voice, both texts in spoken form. Measured: 0.00 for each of the ten."""


@pytest.fixture(scope="module")
def whisper() -> SttEngine:
    return make_stt(WhisperSettings(cpu_threads=2))


def over_the_line(tts: CachedTts, text: str) -> Pcm:
    speech = shorten_pauses(tts.synthesise(to_spoken(text), seed=1), tts.rate_hz)
    padded = np.pad(resample_whole(speech, tts.rate_hz, RATE_HZ) // 2, (RATE_HZ * 3 // 10, RATE_HZ // 5))
    channel = Channel(load_profile("pstn-g711u"), 1)
    return np.concatenate([channel.process(frame) for frame in split_frames(padded, RATE_HZ // 50)])


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", to_spoken(text).lower())


def word_errors(said: list[str], heard: list[str]) -> int:
    """Levenshtein distance in words."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1]


@pytest.mark.parametrize("voice", VOICES, ids=lambda voice: voice.id)
def test_numbers_dates_and_money_arrive_in_this_voice(voice: CallerVoice, whisper: SttEngine) -> None:
    tts = CachedTts(make_tts(voice.settings), cache_dir() / "caller-audio")
    errors = total = 0
    for text, phrases in LINES.items():
        heard = whisper.transcribe(over_the_line(tts, text), RATE_HZ).text
        print(f"{voice.id}: {heard}")
        plain, digits = f"{heard.lower()} {' '.join(words(heard))}", re.sub(r"\D", "", heard)
        assert [phrase for phrase in phrases if phrase not in (digits if phrase.isdigit() else plain)] == [], heard
        errors += word_errors(words(text), words(heard))
        total += len(words(text))
    print(f"{voice.id}: WER {errors / total:.3f}")
    assert errors / total <= WER_CEILING


def test_kokoro_says_the_same_samples_with_more_threads() -> None:
    one, two = (KokoroTts(KokoroSettings(voice="am_michael", threads=n)).synthesise("Good morning.") for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_faster_voice_is_shorter_and_a_long_sentence_is_said_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, quick = (KokoroTts(KokoroSettings(speed=speed)) for speed in (1.0, 1.25))
    clause = "I would like to move it, "
    once = plain.synthesise(clause).size
    assert quick.synthesise(clause).size < once
    monkeypatch.setattr(tts_kokoro, "MAX_TOKENS", 40)
    assert plain.synthesise(clause * 3).size > 2 * once
    assert plain.synthesise("...").size == 0
