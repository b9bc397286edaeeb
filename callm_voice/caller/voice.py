"""The caller's voice: written text to audio at the line's rate, each line synthesised once, keys as tones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from callm_voice.audio.resample import resample_whole
from callm_voice.audio.tones import dtmf
from callm_voice.caller.pauses import shorten_pauses
from callm_voice.core.clock import Clock
from callm_voice.core.errors import EngineError
from callm_voice.core.keypad import Keys, marker, parts
from callm_voice.line.leg import PTIME_MS
from callm_voice.speech.engines import Pcm, TtsEngine

TONE_MS, TONE_GAP_MS = 100, 80
"""One key and the pause behind it; ITU-T Q.24 wants at least 40 ms of each."""
TONE_DBOV = -9.0
BEFORE_KEYS_MS = 300
"""Between the last word and the first key, at least: the first tone begins with a packet. (Behind AMR 4.75 a tone that
begins in the middle of one is not always recognised.)"""


@dataclass(frozen=True)
class Stretch:
    """A part of a line: words that were said or keys that were pressed."""

    text: str
    """The words as written, or the keys."""
    pressed: bool
    start: int
    end: int
    """In samples of the line's audio."""

    def keys_played(self, samples: int, rate_hz: int) -> str:
        """Of its keys, those whose tone lies whole in the first `samples` of the line."""
        each, tone = (rate_hz * ms // 1000 for ms in (TONE_MS + TONE_GAP_MS, TONE_MS))
        return "".join(key for n, key in enumerate(self.text) if self.start + n * each + tone <= samples)

    def key_at(self, sample: int, rate_hz: int) -> str | None:
        """The key whose tone lies over this sample of the line; None: none."""
        each, tone = (rate_hz * ms // 1000 for ms in (TONE_MS + TONE_GAP_MS, TONE_MS))
        n, within = divmod(sample - self.start, each)
        return self.text[n] if 0 <= n < len(self.text) and within < tone else None


@dataclass(frozen=True)
class SpokenLine:
    """One line ready to be played."""

    said: str
    """As it is written."""
    spoken: str
    """As it was synthesised."""
    pcm: Pcm
    """At the line's rate."""
    stretches: tuple[Stretch, ...]
    """In order; without any pressed key one of words."""


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
        return all(isinstance(part, Keys) or self._to_spoken(part) in self._cache for part in parts(text))

    @property
    def rehearsed(self) -> list[Pcm]:
        """The audio of all words so far, without tones of keys; each (samples,) int16 at the line's rate."""
        return list(self._cache.values())

    async def line(self, text: str) -> SpokenLine:
        """`text` as audio.

        Raises:
            EngineError: synthesis failed or gave no sound.
        """
        spoken: list[str] = []
        audio: list[Pcm] = []
        stretches: list[Stretch] = []
        at = 0
        for part in parts(text) or [text]:
            pressed = isinstance(part, Keys)
            if pressed and audio:
                packet, before = (self._rate_hz * ms // 1000 for ms in (PTIME_MS, BEFORE_KEYS_MS))
                audio.append(np.zeros(before + -(at + before) % packet, np.int16))
                at += audio[-1].size
            words = part.keys if isinstance(part, Keys) else part
            spoken.append(marker(words) if pressed else self._to_spoken(words))
            audio.append(self._tones(words) if pressed else await self._said(spoken[-1]))
            stretches.append(Stretch(words, pressed, at, at + audio[-1].size))
            at += audio[-1].size
        return SpokenLine(text, " ".join(spoken), np.concatenate(audio), tuple(stretches))

    async def _said(self, spoken: str) -> Pcm:
        if spoken not in self._cache:
            self._cache[spoken] = await self._clock.in_thread("tts", self._synthesise, spoken)
        return self._cache[spoken]

    def _tones(self, keys: str) -> Pcm:
        return dtmf(keys, self._rate_hz, tone_ms=TONE_MS, gap_ms=TONE_GAP_MS, level_dbov=TONE_DBOV)

    def _synthesise(self, spoken: str) -> Pcm:
        pcm = self._tts.synthesise(spoken, seed=self._seed)
        if pcm.size == 0:
            raise EngineError(f"the caller's voice {self.name!r} made no sound of {spoken!r}")
        return resample_whole(shorten_pauses(pcm, self._tts.rate_hz), self._tts.rate_hz, self._rate_hz)
