"""The caller's voice: written text to audio at the line's rate, each line synthesised once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from callm_voice.audio.resample import resample_whole
from callm_voice.caller.pauses import shorten_pauses
from callm_voice.core.clock import Clock
from callm_voice.core.errors import EngineError
from callm_voice.speech.engines import Pcm, TtsEngine


@dataclass(frozen=True)
class SpokenLine:
    """One line ready to be played."""

    said: str
    """As it is written."""
    spoken: str
    """As it was synthesised."""
    pcm: Pcm
    """At the line's rate."""


class Voice:
    """Synthesises through the clock's threads and remembers every line.

    Args:
        tts: the engine; pauses of its output are shortened (see `pauses`), and it is resampled as a whole.
        rate_hz: of the line.
        to_spoken: written to spoken form.
        seed: given to the engine for every line, so that a line always sounds the same.
    """

    def __init__(
        self, tts: TtsEngine, clock: Clock, *, rate_hz: int, to_spoken: Callable[[str], str], seed: int
    ) -> None:
        self.name = tts.info.model or tts.info.engine
        self._tts, self._clock, self._rate_hz, self._to_spoken, self._seed = tts, clock, rate_hz, to_spoken, seed
        self._cache: dict[str, Pcm] = {}

    def has(self, text: str) -> bool:
        """Whether `text` needs no synthesis any more."""
        return self._to_spoken(text) in self._cache

    async def line(self, text: str) -> SpokenLine:
        """`text` as audio.

        Raises:
            EngineError: synthesis failed or gave no sound.
        """
        spoken = self._to_spoken(text)
        if spoken not in self._cache:
            self._cache[spoken] = await self._clock.in_thread("tts", self._synthesise, spoken)
        return SpokenLine(text, spoken, self._cache[spoken])

    def _synthesise(self, spoken: str) -> Pcm:
        pcm = self._tts.synthesise(spoken, seed=self._seed)
        if pcm.size == 0:
            raise EngineError(f"the caller's voice {self.name!r} made no sound of {spoken!r}")
        return resample_whole(shorten_pauses(pcm, self._tts.rate_hz), self._tts.rate_hz, self._rate_hz)
