"""The caller's ears: the agent's words as they were played, or what a recogniser makes of the sound on the wire."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np

from callm_voice.caller.listen import SpeechStarted
from callm_voice.core.clock import Clock
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.speech.engines import SttEngine, Transcript

PRE_ROLL_MS = 300
"""Sound from before the start that goes to the recogniser: weak first sounds are below the ear's threshold."""
TAIL_MS = 200
"""Sound from after the last loud frame that goes to it."""


class Ears(Protocol):
    """Gathers the agent's words since the caller last spoke."""

    def frame(self, frame: Frame, started: SpeechStarted | None) -> bool:
        """One frame from the wire; whether there is now something new to hear."""
        ...

    def played(self, words: str) -> bool:
        """The pipeline says what it played; whether there is now something new to hear."""
        ...

    async def text(self, last_loud_ms: int) -> str:
        """All words since `forget`. `last_loud_ms`: when the agent was last loud."""
        ...

    def forget(self, *, speaking: bool) -> bool:
        """What comes from now on is another floor; whether it has begun already, the agent being at it (`speaking`)."""
        ...


class PlayedEars:
    """Hears exactly what was played."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def frame(self, frame: Frame, started: SpeechStarted | None) -> bool:
        return False

    def played(self, words: str) -> bool:
        if words.strip():
            self._words.append(words.strip())
        return bool(words.strip())

    async def text(self, last_loud_ms: int) -> str:
        return " ".join(self._words)

    def forget(self, *, speaking: bool) -> bool:
        self._words.clear()
        return False


class SttEars:
    """Hears what a recogniser makes of the wire: one segment from the first sound of a floor to its end.

    Args:
        stt: a recogniser of its own or the pipeline's; it is run through the clock's threads.
        rate_hz: of the line.
        on_heard: called with each stretch that was recognised, empty words included.
    """

    def __init__(
        self,
        stt: SttEngine,
        clock: Clock,
        *,
        rate_hz: int,
        on_heard: Callable[[Transcript, float, float], None] | None = None,
    ) -> None:
        self._stt, self._clock, self._rate_hz, self._on_heard = stt, clock, rate_hz, on_heard
        self._pre_roll: deque[Frame] = deque(maxlen=PRE_ROLL_MS // PTIME_MS)
        self._segment: list[Frame] | None = None
        self._start_ms = 0
        self._frames = 0
        self._words: list[str] = []

    def frame(self, frame: Frame, started: SpeechStarted | None) -> bool:
        self._frames += 1
        if self._segment is None and started is not None:
            self._segment = list(self._pre_roll)
            self._start_ms = (self._frames - 1 - len(self._segment)) * PTIME_MS
        if self._segment is not None:
            self._segment.append(frame.copy())
        self._pre_roll.append(frame.copy())
        return started is not None

    def played(self, words: str) -> bool:
        return False

    async def text(self, last_loud_ms: int) -> str:
        segment, self._segment = self._segment, None
        if segment:
            frames = max(1, (last_loud_ms + TAIL_MS - self._start_ms) // PTIME_MS)
            pcm = np.concatenate(segment[:frames])
            start_ms = float(self._start_ms)
            end_ms = start_ms + len(pcm) * 1000 / self._rate_hz
            heard = await self._clock.in_thread(
                "stt", self._stt.transcribe, pcm, self._rate_hz, start_ms=start_ms, end_ms=end_ms
            )
            if self._stt.info.scripted:
                await self._clock.sleep_until(self._clock.now_s() + heard.decode_ms / 1000)
            if self._on_heard is not None:
                self._on_heard(heard, start_ms, end_ms)
            if heard.text.strip():
                self._words.append(heard.text.strip())
        return " ".join(self._words)

    def forget(self, *, speaking: bool) -> bool:
        self._words.clear()
        self._segment = list(self._pre_roll) if speaking else None
        self._start_ms = (self._frames - len(self._pre_roll)) * PTIME_MS
        return speaking
