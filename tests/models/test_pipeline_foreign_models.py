"""Pipecat's own Piper and Whisper services, with our weights, in the place of our engines: real audio, key phrases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.cli import LIMIT_S, callm

from callm_voice.audio.resample import resample_whole
from callm_voice.core import weights
from callm_voice.core.paths import installed_data_dir
from callm_voice.core.runfolder import find_calls
from callm_voice.pipeline.foreign_stt import ForeignStt
from callm_voice.pipeline.foreign_tts import ForeignTts
from callm_voice.speech.settings import ForeignSttSettings, ForeignTtsSettings

pytestmark = [pytest.mark.models, pytest.mark.timeout(2 * LIMIT_S)]
PIPER = "pipecat.services.piper.tts.PiperTTSService"
WHISPER = "pipecat.services.whisper.stt.WhisperSTTService"
PIPER_HZ = 22_050
SENTENCE = "Good morning. I would like to move my appointment to Thursday afternoon."


def piper_settings() -> dict[str, str]:
    onnx = weights.path("piper-en_US-joe-medium")
    return {"voice": onnx.stem, "download_dir": str(onnx.parent)}


def whisper_settings() -> dict[str, str]:
    return {"model": str(weights.path("whisper-base")), "device": "cpu", "compute_type": "int8"}


@pytest.fixture(scope="module")
def mouth() -> Iterator[ForeignTts]:
    voice = ForeignTts(ForeignTtsSettings(engine=PIPER, rate_hz=PIPER_HZ, settings=piper_settings()))
    yield voice
    voice.close()


@pytest.fixture(scope="module")
def ears() -> Iterator[ForeignStt]:
    recogniser = ForeignStt(ForeignSttSettings(engine=WHISPER, settings=whisper_settings(), timeout_s=120))
    yield recogniser
    recogniser.close()


def test_what_piper_says_over_a_narrow_line_is_what_whisper_hears(mouth: ForeignTts, ears: ForeignStt) -> None:
    """Also the last word: a service at the voice's own rate loses nothing at the end of a sentence."""
    narrow = resample_whole(mouth.synthesise(SENTENCE), PIPER_HZ, 8000)
    heard = ears.transcribe(narrow, 8000).text.lower()
    for words in ("good morning", "appointment", "thursday", "afternoon"):
        assert words in heard
    assert mouth.info.model == "en_US-joe-medium"


def test_two_sentences_are_two_utterances(mouth: ForeignTts, ears: ForeignStt) -> None:
    texts = [
        ears.transcribe(mouth.synthesise(said), PIPER_HZ).text for said in ("My name is Maria.", "Thank you, goodbye.")
    ]
    assert re.search("Mari", texts[0]), texts
    assert re.search("goodbye|good bye|bye", texts[1].lower()), texts
    assert "Mari" not in texts[1]


def test_silence_is_no_speech(ears: ForeignStt) -> None:
    assert len(ears.transcribe(np.zeros(8000, np.int16), 8000).text.split()) <= 3


def test_a_whole_call_passes_with_both(tmp_path: Path) -> None:
    text = (installed_data_dir() / "pipelines" / "cpu.yaml").read_text("utf-8")
    mine = {
        "stt": {"engine": WHISPER, "counted": True, "timeout_s": 120, "settings": whisper_settings()},
        "tts": {"engine": PIPER, "counted": True, "timeout_s": 120, "rate_hz": PIPER_HZ, "settings": piper_settings()},
    }
    for part, settings in mine.items():  # JSON is YAML
        text, n = re.subn(rf"(?m)^{part}:\n(?:  .*\n)+", f"{part}: {json.dumps(settings)}\n", text)
        assert n == 1
    for wait in ("prod_after_ms", "give_up_after_ms"):  # the services are slow on a busy machine; the caller has time
        text = re.sub(rf"{wait}: \d+", f"{wait}: 60000", text)
    path = tmp_path / "stock.yaml"
    path.write_text(text, encoding="utf-8")
    ran = callm(
        "call", "--task", "healthcare/C1-E1", "--model", "oracle?ttft_ms=100&tokens_per_s=200", "--pipeline", str(path),
        "--pace", "fast", "--json", "--out", str(tmp_path / "runs"),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["verdict"]["passed"] is True
    assert ran.json["config"]["pace"] == "fast"
    assert [ran.json["engines"][part]["engine"] for part in ("stt", "tts")] == [WHISPER, PIPER]
    assert len(find_calls(tmp_path / "runs")) == 1
