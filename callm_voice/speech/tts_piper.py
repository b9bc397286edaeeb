"""Piper, in-process: the agent's voice."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from callm_voice.core import weights
from callm_voice.core.errors import MissingWeightError
from callm_voice.core.record import EngineInfo
from callm_voice.speech.boundary import engine_errors, load
from callm_voice.speech.engines import Pcm
from callm_voice.speech.pcm import at_peak
from callm_voice.speech.settings import PiperSettings

WARM_UP = "One moment please."


class PiperTts:
    """A Piper voice. Warm once constructed. With both noises at 0 (the default) the same text gives the same samples.

    Args:
        settings: see `PiperSettings`.

    Raises:
        MissingDependencyError: piper-tts is not installed.
        MissingWeightError: the voice is not here.
        EngineError: it cannot be loaded.
    """

    def __init__(self, settings: PiperSettings) -> None:
        piper = load("piper", package="piper-tts", extra="cpu")
        model, sha256 = _voice(settings.voice)
        with engine_errors(f"Piper cannot load {model}", "tts"):
            self._voice = piper.PiperVoice.load(model)
        self._config = piper.SynthesisConfig(
            length_scale=1.0 / settings.speed,
            noise_scale=settings.noise,
            noise_w_scale=settings.noise_w,
            normalize_audio=False,
        )
        self._peak_dbov = settings.peak_dbov
        self.rate_hz = int(self._voice.config.sample_rate)
        self.info = EngineInfo(
            engine="piper",
            model=model.stem,
            sha256=sha256,
            settings=settings.model_dump(exclude={"engine", "voice"}),
        )
        self.synthesise(WARM_UP)

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        """See `TtsEngine`. Piper has no seed: with noise above 0 two syntheses differ."""
        with engine_errors(f"Piper failed on {text[:60]!r}", "tts"):
            chunks = [chunk.audio_float_array for chunk in self._voice.synthesize(text, self._config)]
        if not chunks:
            return np.zeros(0, np.int16)
        return at_peak(np.concatenate(chunks), self._peak_dbov)


def _voice(name: str) -> tuple[Path, str]:
    """Path and listed SHA-256 (empty for a file of the user's) of a voice."""
    if name.endswith(".onnx") or os.sep in name:
        path = Path(name).expanduser()
        for needed in (path, path.with_name(path.name + ".json")):
            if not needed.is_file():
                raise MissingWeightError(f"there is no {needed}", hint="a Piper voice is NAME.onnx and NAME.onnx.json")
        return path, ""
    weight = f"piper-{name}"
    return weights.path(weight), weights.weight(weight).files[0].sha256
