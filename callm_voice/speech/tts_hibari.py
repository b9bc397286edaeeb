"""Hibari, in-process: the caller's voice. Seeded, so the same text and seed give the same samples."""

from __future__ import annotations

import numpy as np

from callm_voice.core import weights
from callm_voice.core.record import EngineInfo
from callm_voice.speech.boundary import engine_errors, load
from callm_voice.speech.engines import Pcm
from callm_voice.speech.pcm import at_peak, trimmed
from callm_voice.speech.settings import HibariSettings

WEIGHT = "hibari-af_heart"


class HibariTts:
    """The voice that the hibari-tts library carries; its other voices would be downloaded and are not used.

    Args:
        settings: see `HibariSettings`.

    Raises:
        MissingDependencyError: hibari-tts is not installed.
        BadWeightError: the installed voice is not the listed one.
    """

    def __init__(self, settings: HibariSettings) -> None:
        hibari = load("hibari", package="hibari-tts", extra="cpu")
        model = weights.path(WEIGHT)
        with engine_errors(f"Hibari cannot load {model}", "tts"):
            self._voice = hibari.Hibari(voice="heart", model=str(model), threads=1)
        self._settings = settings
        self.rate_hz = int(hibari.SAMPLE_RATE)
        self.info = EngineInfo(
            engine="hibari",
            model=settings.voice,
            sha256=weights.weight(WEIGHT).files[0].sha256,
            settings=settings.model_dump(exclude={"engine", "voice"}),
        )
        self.synthesise("Hello.")

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        """See `TtsEngine`."""
        if not any(character.isalnum() for character in text):
            return np.zeros(0, np.int16)
        with engine_errors(f"Hibari failed on {text[:60]!r}", "tts"):
            sentences = [
                np.asarray(s, np.float32) for s in self._voice.stream(text, speed=self._settings.speed, seed=seed)
            ]
        pause = np.zeros(self.rate_hz * self._settings.sentence_pause_ms // 1000, np.float32)
        spoken = [piece for s in sentences for piece in (pause, trimmed(s, self.rate_hz))][1:]
        return at_peak(np.concatenate(spoken), self._settings.peak_dbov) if spoken else np.zeros(0, np.int16)
