"""Speech-shaped sound without a model: voiced syllables of about the right length, the same for the same text."""

from __future__ import annotations

import hashlib
import re

import numpy as np
from numpy.typing import NDArray

from callm_voice.core.record import EngineInfo
from callm_voice.speech.engines import Pcm
from callm_voice.speech.pcm import at_peak
from callm_voice.speech.settings import ScriptedTtsSettings

PITCH_HZ = (95.0, 210.0)
FORMANTS_HZ = ((300.0, 800.0), (900.0, 2200.0))
PEAK_DBOV = -6.0
PAUSE_WORDS = 0.6
"""Length of the pause at a comma or full stop, in words."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:.!?]")
_VOWELS = re.compile(r"[aeiouy]+")


class ScriptedTts:
    """Says nothing, for the right time. A figure that came from it says so (`info.scripted`).

    Args:
        settings: see `ScriptedTtsSettings`.
    """

    def __init__(self, settings: ScriptedTtsSettings) -> None:
        self.rate_hz = int(settings.rate_hz)
        self._word_s = 60.0 / settings.words_per_min
        self.info = EngineInfo(
            engine="scripted", model="pulses", scripted=True, settings=settings.model_dump(exclude={"engine"})
        )

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        """See `TtsEngine`. Never fails."""
        digest = hashlib.sha256(f"{seed}:{text}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        pitch_hz = rng.uniform(*PITCH_HZ)
        pieces = [self._piece(token, pitch_hz, rng) for token in _WORD.findall(text.lower())]
        while pieces and not pieces[-1].any():
            pieces.pop()
        return at_peak(np.concatenate(pieces), PEAK_DBOV) if pieces else np.zeros(0, np.int16)

    def _piece(self, token: str, pitch_hz: float, rng: np.random.Generator) -> NDArray[np.float32]:
        if not token[0].isalnum():
            return np.zeros(int(PAUSE_WORDS * self._word_s * self.rate_hz), np.float32)
        syllables = max(1, len(_VOWELS.findall(token)), len(token) if token.isdigit() else 0)
        word_s = self._word_s * (0.55 + 0.3 * syllables)
        size = int(word_s * self.rate_hz) // syllables
        return np.concatenate([self._syllable(size, pitch_hz * rng.uniform(0.9, 1.1), rng) for _ in range(syllables)])

    def _syllable(self, size: int, pitch_hz: float, rng: np.random.Generator) -> NDArray[np.float32]:
        """Harmonics of the pitch weighted by two formants, under one swell: band-limited to 3.4 kHz by construction."""
        t_s = np.arange(size) / self.rate_hz
        formants_hz = [rng.uniform(low, high) for low, high in FORMANTS_HZ]
        harmonics_hz = np.arange(pitch_hz, 3400.0, pitch_hz)
        weights = np.exp(-(((harmonics_hz[:, None] - np.array(formants_hz)) / 180.0) ** 2)).sum(axis=1) + 0.02
        wave = np.sin(
            2 * np.pi * harmonics_hz[:, None] * t_s[None, :] + rng.uniform(0, 6.28, harmonics_hz.size)[:, None]
        )
        swell = np.sin(np.pi * (np.arange(size) + 0.5) / max(1, size)) ** 0.5
        return np.asarray((weights[:, None] * wave).sum(axis=0) * swell, np.float32)
