"""A recogniser that is told what was said, with set errors and delays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np

from callm_voice.core.record import EngineInfo
from callm_voice.speech.engines import Pcm, Transcript
from callm_voice.speech.settings import ScriptedSttSettings

Lookup = Callable[[float, float], str]
"""What was said between two times of the line's clock (ms); empty for nothing."""
MISHEARD = ("the", "a", "uh", "that", "there", "no", "it")


class ScriptedStt:
    """Returns the said text.

    Args:
        settings: see `ScriptedSttSettings`.
        lookup: `(start_ms, end_ms) -> text`.
    """

    def __init__(self, settings: ScriptedSttSettings, lookup: Lookup) -> None:
        self._settings, self._lookup = settings, lookup
        self.info = EngineInfo(
            engine="scripted", model="lookup", scripted=True, settings=settings.model_dump(exclude={"engine"})
        )

    def transcribe(self, pcm: Pcm, rate_hz: int, *, start_ms: float = 0.0, end_ms: float = 0.0) -> Transcript:
        """See `SttEngine`. `decode_ms` is the set delay; the caller of the engine lets that time pass."""
        said = self._lookup(start_ms, end_ms)
        heard = self._misheard(said)
        rejected = None if heard else "no_speech"
        return Transcript(heard, raw=said, rejected=rejected, decode_ms=self._settings.delay_ms)

    def _misheard(self, said: str) -> str:
        for phrase, other in self._settings.replace.items():
            said = said.replace(phrase, other)
        rate = self._settings.word_error_rate
        if rate == 0:
            return said
        digest = hashlib.sha256(f"{self._settings.seed}:{said}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        heard: list[str] = []
        for word in said.split():
            if rng.random() >= rate:
                heard.append(word)
            elif rng.random() < 0.5:
                heard.append(str(rng.choice(MISHEARD)))
        return " ".join(heard)
