"""Real voices over a real G.711 line through the real endpointer into real Whisper: key phrases, no error rates.

Weights must be there (`make models` pulls them); without them these tests fail with the error that says so.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from callm_voice.audio.pcm import split_frames
from callm_voice.audio.resample import resample_whole
from callm_voice.line.channel import Channel
from callm_voice.line.profile import load_profile
from callm_voice.speech.endpointing import Endpointer, EndpointEvent, TurnEnded
from callm_voice.speech.engines import Pcm, SttEngine, TtsEngine
from callm_voice.speech.factory import make_stt, make_tts, make_vad
from callm_voice.speech.settings import (
    EndpointingSettings,
    HibariSettings,
    PiperSettings,
    SileroVadSettings,
    WebrtcVadSettings,
    WhisperSettings,
)
from callm_voice.speech.spoken import to_spoken

pytestmark = [pytest.mark.models, pytest.mark.timeout(300)]

RATE_HZ = 8000
FRAME = RATE_HZ // 50


@pytest.fixture(scope="module")
def caller() -> TtsEngine:
    return make_tts(HibariSettings())


@pytest.fixture(scope="module")
def agent() -> TtsEngine:
    return make_tts(PiperSettings())


@pytest.fixture(scope="module")
def whisper() -> SttEngine:
    return make_stt(WhisperSettings(cpu_threads=2))


def over_the_line(voice: TtsEngine, text: str, *, before_ms: int = 600, after_ms: int = 1200, seed: int = 1) -> Pcm:
    """The text as the far end of a G.711 µ-law line hears it, with silence around it."""
    speech = resample_whole(voice.synthesise(to_spoken(text), seed=seed), voice.rate_hz, RATE_HZ)
    padded = np.pad(speech // 2, (RATE_HZ * before_ms // 1000, RATE_HZ * after_ms // 1000))
    channel = Channel(load_profile("pstn-g711u"), seed)
    return np.concatenate([channel.process(frame) for frame in split_frames(padded, FRAME)])


def turns(pcm: Pcm, vad: WebrtcVadSettings | SileroVadSettings | None = None) -> list[TurnEnded]:
    endpointer = Endpointer(make_vad(vad or WebrtcVadSettings()), EndpointingSettings(), rate_hz=RATE_HZ)
    events: list[EndpointEvent] = []
    for i, frame in enumerate(split_frames(pcm, FRAME)):
        events += endpointer.push(frame, (i + 1) * 20.0)
    return [e for e in events if isinstance(e, TurnEnded)]


def heard(whisper: SttEngine, pcm: Pcm) -> str:
    (turn,) = turns(pcm)
    return whisper.transcribe(turn.pcm, RATE_HZ, start_ms=turn.start_ms, end_ms=turn.end_ms).text


def digits_of(text: str) -> str:
    return re.sub(r"\D", "", text)


@pytest.mark.parametrize("voice_name", ["caller", "agent"])
def test_a_date_of_birth_and_a_phone_number_arrive_exactly(
    voice_name: str, whisper: SttEngine, request: pytest.FixtureRequest
) -> None:
    voice: TtsEngine = request.getfixturevalue(voice_name)
    born = heard(whisper, over_the_line(voice, "My date of birth is June 30, 1972."))
    assert "June 30" in born
    assert "1972" in born
    phone = heard(whisper, over_the_line(voice, "My phone number is 212-555-0133."))
    assert digits_of(phone) == "2125550133"


def test_money_and_times_arrive_in_the_callers_voice(caller: TtsEngine, whisper: SttEngine) -> None:
    assert digits_of(heard(whisper, over_the_line(caller, "The balance was $48.00, right?"))).startswith("48")
    text = heard(whisper, over_the_line(caller, "Can I move it to Thursday at 9:30 AM?"))
    assert "Thursday" in text
    assert digits_of(text) == "930"


@pytest.mark.parametrize("vad", [WebrtcVadSettings(), SileroVadSettings()])
@pytest.mark.parametrize("word", ["Yes.", "No."])
def test_a_single_short_word_survives_endpointing(
    word: str, vad: WebrtcVadSettings | SileroVadSettings, caller: TtsEngine, whisper: SttEngine
) -> None:
    (turn,) = turns(over_the_line(caller, word), vad)
    text = whisper.transcribe(turn.pcm, RATE_HZ).text
    assert text.lower().strip(" .!") == word.lower().strip(" .")


def test_a_run_of_equal_digits_is_not_taken_for_a_loop(agent: TtsEngine, whisper: SttEngine) -> None:
    text = heard(whisper, over_the_line(agent, "My code is 555555, okay?"))
    assert digits_of(text).startswith("555555")
    text = heard(whisper, over_the_line(agent, "My phone is 646-777-7777."))
    assert digits_of(text).startswith("6467777777")  # Whisper itself may count one seven too many


@pytest.mark.parametrize("text", ["ha " * 13, "so " * 10])
def test_a_loop_is_cut(text: str, caller: TtsEngine, whisper: SttEngine) -> None:
    (turn,) = turns(over_the_line(caller, text))
    transcript = whisper.transcribe(turn.pcm, RATE_HZ)
    assert transcript.details["windows"][0]["loop"] in {"redecoded", "trimmed", "rejected"}
    assert len(transcript.text.split()) <= 8


@pytest.mark.parametrize("dbfs", [-60, -40, -20])
def test_noise_gives_no_text(dbfs: int, whisper: SttEngine) -> None:
    noise = np.random.default_rng(3).normal(0, 32768 * 10 ** (dbfs / 20), 3 * RATE_HZ)
    transcript = whisper.transcribe(np.clip(noise, -32768, 32767).astype(np.int16), RATE_HZ)
    assert transcript.text == ""
    assert transcript.rejected is not None


def test_digital_silence_and_a_ringing_tone_give_no_text(whisper: SttEngine) -> None:
    t_s = np.arange(2 * RATE_HZ) / RATE_HZ
    ringing = 3000 * (np.sin(2 * np.pi * 440 * t_s) + np.sin(2 * np.pi * 480 * t_s))
    assert whisper.transcribe(np.zeros(RATE_HZ, np.int16), RATE_HZ).rejected == "no_speech"
    assert whisper.transcribe(ringing.astype(np.int16), RATE_HZ).text == ""


def test_a_pause_in_the_middle_of_a_line_does_not_lose_the_second_half(caller: TtsEngine, whisper: SttEngine) -> None:
    one = over_the_line(caller, "I would like to change my appointment.", after_ms=300)
    two = over_the_line(caller, "Thursday would be best.", before_ms=0)
    text = " ".join(whisper.transcribe(t.pcm, RATE_HZ).text for t in turns(np.concatenate([one, two])))
    assert "appointment" in text
    assert "Thursday" in text


@pytest.mark.parametrize(
    "text",
    ["Perfect. Thank you so much. Goodbye.", "Okay. And what is the charge for? Why is it there?"],
)
def test_the_callers_sentences_are_one_turn(text: str, caller: TtsEngine) -> None:
    assert len(turns(over_the_line(caller, text))) == 1


def test_a_short_phrase_that_the_short_window_is_unsure_of_is_heard_whole(
    caller: TtsEngine, whisper: SttEngine
) -> None:
    assert "Park Avenue" in heard(whisper, over_the_line(caller, "Park Avenue, please."))


def test_the_agents_voice_says_the_same_samples_again(agent: TtsEngine) -> None:
    np.testing.assert_array_equal(agent.synthesise("One moment."), agent.synthesise("One moment."))


def test_the_callers_voice_says_the_same_samples_for_the_same_seed(caller: TtsEngine) -> None:
    np.testing.assert_array_equal(caller.synthesise("Hello.", seed=4), caller.synthesise("Hello.", seed=4))
    assert not np.array_equal(caller.synthesise("Hello.", seed=4), caller.synthesise("Hello.", seed=5))


def test_what_was_loaded_is_named_with_its_hash(caller: TtsEngine, agent: TtsEngine, whisper: SttEngine) -> None:
    assert [len(engine.info.sha256) for engine in (caller, agent, whisper)] == [64, 64, 64]
    assert whisper.info.settings["biased"] is False


def test_a_bias_is_recorded() -> None:
    engine = make_stt(WhisperSettings(model="base", hotwords="Alvarez"))
    assert engine.info.settings["biased"] is True
    assert engine.info.settings["hotwords"] == "Alvarez"
