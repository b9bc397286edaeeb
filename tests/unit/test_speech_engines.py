"""Scripted engines, the caller-audio cache, detectors and the factory, without any weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from callm_voice.audio.pcm import level_dbov, split_frames
from callm_voice.core.errors import DiskError, EngineError, HarnessError, MissingDependencyError, MissingWeightError
from callm_voice.core.record import EngineInfo
from callm_voice.speech import boundary
from callm_voice.speech.boundary import engine_errors
from callm_voice.speech.engines import Pcm
from callm_voice.speech.factory import make_stt, make_tts, make_vad
from callm_voice.speech.pcm import at_peak, trimmed
from callm_voice.speech.said import SaidLog
from callm_voice.speech.settings import (
    EnergyVadSettings,
    PiperSettings,
    ScriptedSttSettings,
    ScriptedTtsSettings,
    SileroVadSettings,
    SttSettings,
    TtsSettings,
    VadSettings,
    WebrtcVadSettings,
    WhisperSettings,
)
from callm_voice.speech.tts_cache import CachedTts

pytestmark = pytest.mark.unit

TEXT = "I would like to move my appointment to Thursday morning please."


def test_scripted_speech_has_the_length_of_speech() -> None:
    voice = make_tts(ScriptedTtsSettings(words_per_min=150))
    seconds = voice.synthesise(" ".join([TEXT] * 5)).size / voice.rate_hz
    assert 15 < seconds < 32  # 55 words: 22 s at 150 a minute
    assert voice.info.scripted


def test_scripted_speech_depends_on_text_and_seed_alone() -> None:
    voice, other = make_tts(ScriptedTtsSettings()), make_tts(ScriptedTtsSettings())
    np.testing.assert_array_equal(voice.synthesise(TEXT, seed=3), other.synthesise(TEXT, seed=3))
    assert not np.array_equal(voice.synthesise(TEXT, seed=3), voice.synthesise(TEXT, seed=4))


def test_scripted_speech_lies_in_the_telephone_band() -> None:
    voice = make_tts(ScriptedTtsSettings(rate_hz=16000))
    spectrum = np.abs(np.fft.rfft(voice.synthesise(TEXT).astype(float))) ** 2
    hz = np.fft.rfftfreq(voice.synthesise(TEXT).size, 1 / voice.rate_hz)
    assert spectrum[hz > 3600].sum() < 0.01 * spectrum.sum()


def test_scripted_speech_of_no_words_is_no_sound() -> None:
    assert make_tts(ScriptedTtsSettings()).synthesise("...").size == 0


@pytest.mark.parametrize("settings", [EnergyVadSettings(), WebrtcVadSettings(), SileroVadSettings()])
@pytest.mark.parametrize("rate_hz", [8000, 16000])
def test_every_detector_calls_digital_silence_silence(settings: object, rate_hz: int) -> None:
    vad = make_vad(settings)  # type: ignore[arg-type]
    silence = np.zeros(rate_hz * vad.frame_ms // 1000, np.int16)
    assert [vad.confidence(silence, rate_hz) < 0.5 for _ in range(20)] == [True] * 20


@pytest.mark.parametrize("settings", [EnergyVadSettings(), WebrtcVadSettings()])
def test_scripted_speech_is_speech_to_the_level_gate_and_to_webrtc(settings: object) -> None:
    voice, vad = make_tts(ScriptedTtsSettings(rate_hz=8000)), make_vad(settings)  # type: ignore[arg-type]
    frames = split_frames(voice.synthesise(TEXT), 8 * vad.frame_ms)
    assert np.mean([vad.confidence(frame, 8000) >= 0.5 for frame in frames]) > 0.7


@pytest.mark.parametrize("settings", [WebrtcVadSettings(), SileroVadSettings()])
def test_a_frame_of_the_wrong_length_is_our_own_fault(settings: object) -> None:
    with pytest.raises(HarnessError, match="ms"):
        make_vad(settings).confidence(np.zeros(123, np.int16), 8000)  # type: ignore[arg-type]


def test_silero_gives_the_same_confidences_after_a_reset() -> None:
    vad = make_vad(SileroVadSettings())
    noise = np.random.default_rng(1).normal(0, 2000, (12, 256)).astype(np.int16)
    first = [vad.confidence(frame, 8000) for frame in noise]
    vad.reset()
    assert [vad.confidence(frame, 8000) for frame in noise] == first


def stt(lookup: object = None, **settings: object) -> str:
    engine = make_stt(ScriptedSttSettings(**settings), lookup or (lambda start, end: TEXT))  # type: ignore[arg-type]
    return engine.transcribe(np.zeros(8, np.int16), 8000, start_ms=0, end_ms=1).text


def test_scripted_recognition_is_what_was_said() -> None:
    assert stt() == TEXT


def test_scripted_recognition_errs_at_the_set_rate_and_always_alike() -> None:
    said = " ".join(f"word{i}" for i in range(2000))
    heard = stt(lambda start, end: said, word_error_rate=0.2, seed=7)
    kept = sum(word.startswith("word") for word in heard.split())
    assert 0.76 < kept / 2000 < 0.84
    assert heard == stt(lambda start, end: said, word_error_rate=0.2, seed=7)


def test_scripted_recognition_mishears_the_set_phrases() -> None:
    assert stt(replace={"Thursday": "Tuesday"}) == TEXT.replace("Thursday", "Tuesday")


def test_scripted_recognition_of_silence_is_rejected_as_no_speech() -> None:
    engine = make_stt(ScriptedSttSettings(delay_ms=250), lambda start, end: "")
    transcript = engine.transcribe(np.zeros(8, np.int16), 8000)
    assert (transcript.text, transcript.rejected, transcript.decode_ms) == ("", "no_speech", 250)


def test_scripted_recognition_without_a_script_is_our_own_fault() -> None:
    with pytest.raises(HarnessError):
        make_stt(ScriptedSttSettings())


def test_the_log_of_what_was_said_gives_whole_utterances_within_a_segment() -> None:
    said = SaidLog()
    said.add("first one here", 1000, 2000)
    said.add("and the second", 3000, 4000)
    assert said.lookup(900, 2200) == "first one here"
    assert said.lookup(900, 4100) == "first one here and the second"
    assert said.lookup(2100, 2900) == ""


def test_an_utterance_that_was_cut_in_two_gives_each_word_once() -> None:
    said = SaidLog()
    said.add("a b c d e f g h i j", 0, 1000)
    assert f"{said.lookup(0, 500)} {said.lookup(500, 1000)}" == "a b c d e f g h i j"


class CountingVoice:
    rate_hz = 8000

    def __init__(self, **settings: object) -> None:
        self.info = EngineInfo(engine="counting", settings=settings)
        self.calls = 0

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        self.calls += 1
        return np.arange(seed, seed + len(text), dtype=np.int16)


def test_cached_audio_is_the_same_audio_and_is_synthesised_once(tmp_path: Path) -> None:
    engine = CountingVoice()
    for _ in range(2):
        voice = CachedTts(engine, tmp_path)
        np.testing.assert_array_equal(voice.synthesise("hello", seed=5), np.arange(5, 10))
    assert engine.calls == 1
    assert [p.suffix for p in tmp_path.iterdir()] == [".pcm"]


@pytest.mark.parametrize("damage", [b"", b"CVT1", b"not audio at all, but long enough to be"])
def test_a_damaged_cache_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    engine = CountingVoice()
    voice = CachedTts(engine, tmp_path)
    voice.synthesise("hello")
    next(tmp_path.iterdir()).write_bytes(damage)
    np.testing.assert_array_equal(voice.synthesise("hello"), np.arange(5))
    assert engine.calls == 2


def test_the_cache_key_holds_text_seed_and_settings() -> None:
    one, other = (CachedTts(CountingVoice(speed=s), Path("unused")) for s in (1.0, 1.2))
    keys = {one.key("a", 0), one.key("b", 0), one.key("a", 1), other.key("a", 0)}
    assert len(keys) == 4


def test_a_cache_that_cannot_be_written_is_a_disk_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DiskError):
        CachedTts(CountingVoice(), tmp_path / "file").synthesise("hello")


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(boundary.importlib, "import_module", absent)
    with pytest.raises(MissingDependencyError) as caught:
        make_tts(PiperSettings())
    assert caught.value.hint == "pip install 'callm-voice[cpu]'"


def test_a_voice_or_model_path_that_is_not_there_is_a_missing_weight(tmp_path: Path) -> None:
    with pytest.raises(MissingWeightError, match="no_such"):
        make_tts(PiperSettings(voice=str(tmp_path / "no_such.onnx")))
    with pytest.raises(MissingWeightError, match=r"model\.bin"):
        make_stt(WhisperSettings(model=str(tmp_path)))


@pytest.mark.parametrize(
    ("union", "data"),
    [
        (TtsSettings, {"engine": "piper", "noize": 1.0}),
        (TtsSettings, {"engine": "whisper"}),
        (SttSettings, {"engine": "whisper", "beam_size": 0}),
        (VadSettings, {"engine": "webrtc", "mode": 4}),
        (VadSettings, {"mode": 2}),
    ],
)
def test_settings_refuse_what_they_do_not_know(union: object, data: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(union).validate_python(data)


def test_settings_are_told_apart_by_engine() -> None:
    assert isinstance(TypeAdapter(VadSettings).validate_python({"engine": "silero"}), SileroVadSettings)
    assert isinstance(TypeAdapter(SttSettings).validate_python({"engine": "whisper"}), WhisperSettings)


def test_scripted_speech_is_loud_enough_for_a_line() -> None:
    voice = make_tts(ScriptedTtsSettings())
    assert -35 < level_dbov(voice.synthesise(TEXT)) < -10


def test_whatever_an_engine_raises_becomes_one_line_of_ours() -> None:
    class Foreign(Exception):
        """An error without any base class that we know."""

    with pytest.raises(EngineError) as caught, engine_errors("Piper failed on 'x'", "tts"):
        raise Foreign("bad graph\n  at node 7\n  at node 8")
    assert caught.value.message == "Piper failed on 'x': bad graph"
    assert caught.value.stage == "tts"


def test_our_own_errors_pass_through_an_engine_unchanged() -> None:
    with pytest.raises(MissingWeightError, match="not here"), engine_errors("Piper failed", "tts"):
        raise MissingWeightError("not here")


def test_a_voice_file_that_is_damaged_is_an_engine_error(tmp_path: Path) -> None:
    (tmp_path / "voice.onnx").write_bytes(b"garbage")
    (tmp_path / "voice.onnx.json").write_text("{}")
    with pytest.raises(EngineError, match=r"Piper cannot load .*voice\.onnx"):
        make_tts(PiperSettings(voice=str(tmp_path / "voice.onnx")))


def test_trimming_takes_the_silence_at_the_ends_and_none_of_the_sound() -> None:
    rate_hz = 8000
    sound = np.sin(np.arange(rate_hz) / 3).astype(np.float32)
    quiet = np.full(rate_hz // 2, 1e-4, np.float32)
    kept = trimmed(np.concatenate([quiet, sound, quiet]), rate_hz)
    assert rate_hz <= kept.size <= rate_hz + rate_hz // 25
    assert np.isclose(np.square(kept).sum(), np.square(sound).sum(), rtol=1e-4)


def test_trimming_pure_silence_leaves_nothing() -> None:
    assert trimmed(np.zeros(8000, np.float32), 8000).size == 0


def test_the_peak_is_where_the_settings_want_it() -> None:
    pcm = at_peak(np.array([0.1, -0.5, 0.2], np.float32), -6.0)
    assert np.abs(pcm.astype(int)).max() == round(32768 * 10 ** (-6 / 20))
    assert at_peak(np.zeros(4, np.float32), -6.0).tolist() == [0, 0, 0, 0]
