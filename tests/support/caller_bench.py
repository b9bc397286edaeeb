"""A caller's leg on a hand-driven line: the agent is noise bursts and the words it played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from callm_voice.caller.base import Caller
from callm_voice.caller.leg import CallerLeg
from callm_voice.core.errors import CallmError
from callm_voice.core.events import Event, EventLog
from callm_voice.core.record import EngineInfo
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.speech.engines import Pcm, Transcript

from .manual_clock import ManualClock

RATE_HZ = 8000
SAMPLES = RATE_HZ * PTIME_MS // 1000
MS_PER_WORD = 100
_NOISE = np.random.default_rng(7)


def loud() -> Frame:
    """One frame of noise at about -26 dBov."""
    return np.asarray(_NOISE.normal(0, 1600, SAMPLES), np.int16)


def quiet() -> Frame:
    """One frame of an idle line, about -76 dBov."""
    return np.asarray(_NOISE.integers(-8, 9, SAMPLES), np.int16)


class CountedTts:
    """A steady sound of 100 ms a word; counts what it was asked for, and fails on words that it was told to fail on."""

    info = EngineInfo(engine="counted", model="beep", scripted=True)
    rate_hz = RATE_HZ

    def __init__(self, fails_on: str = "") -> None:
        self.asked: list[str] = []
        self.fails_on = fails_on

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        self.asked.append(text)
        if self.fails_on and self.fails_on in text:
            return np.zeros(0, np.int16)
        return np.full(len(text.split()) * MS_PER_WORD * RATE_HZ // 1000, 9000, np.int16)


class ListedStt:
    """Gives one listed text after the other and keeps what it was given; fails when the list runs out."""

    info = EngineInfo(engine="listed")

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)
        self.segments: list[tuple[float, float, int]] = []

    def transcribe(self, pcm: Pcm, rate_hz: int, *, start_ms: float = 0.0, end_ms: float = 0.0) -> Transcript:
        self.segments.append((start_ms, end_ms, len(pcm)))
        return Transcript(self._texts.pop(0))


class Bench:
    """Ticks a leg by hand. Times are milliseconds since tick 0."""

    def __init__(self, mind: Caller, *, tts: CountedTts | None = None, **settings: Any) -> None:
        self.clock = ManualClock()
        self.log = EventLog(self.clock)
        self.tts = tts or CountedTts()
        self.hung_up: list[tuple[int, str]] = []
        self.errors: list[CallmError] = []
        self.mind = mind
        self.wire: list[bool] = []
        """Per tick: whether the caller was on the line."""
        self.leg = CallerLeg(
            mind,
            self.tts,
            clock=self.clock,
            log=self.log,
            rate_hz=RATE_HZ,
            to_spoken=lambda text: text,
            on_hang_up=lambda why: self.hung_up.append((self.now_ms, why)),
            on_error=self.errors.append,
            **settings,
        )

    @property
    def now_ms(self) -> int:
        return len(self.wire) * PTIME_MS

    async def start(self) -> Bench:
        await self.leg.prepare()
        self.log.start_line(self.clock.now_s())
        return self

    async def tick(self, frame: Frame) -> None:
        out = self.leg.pull()
        self.wire.append(out is not None)
        self.leg.push(frame)
        await self.clock.settle()
        await self.clock.advance(PTIME_MS / 1000)

    async def silence(self, ms: int) -> None:
        """The agent is silent."""
        for _ in range(ms // PTIME_MS):
            await self.tick(quiet())

    async def agent(self, words: str, ms: int = 600) -> None:
        """The agent speaks for `ms`; then its pipeline says what was played."""
        for _ in range(ms // PTIME_MS):
            await self.tick(loud())
        if words:
            self.leg.agent_played(words)

    async def until(self, done: Callable[[], bool], limit_ms: int = 60_000) -> None:
        """Silence until `done`; fails after `limit_ms`."""
        end_ms = self.now_ms + limit_ms
        while not done():
            assert self.now_ms < end_ms, f"not within {limit_ms} ms"
            await self.tick(quiet())

    async def until_said(self) -> None:
        """Silence until the caller has begun and ended an utterance."""
        ended = self.count("utterance_ended")
        await self.until(lambda: self.count("utterance_ended") > ended)

    def count(self, kind: str) -> int:
        return len(self.of(kind))

    def of(self, kind: str) -> Sequence[Event]:
        return [e for e in self.log.events if getattr(e, "type", "") == kind]

    @property
    def said(self) -> list[str]:
        return [e.said for e in self.of("utterance_started")]  # type: ignore[attr-defined]

    @property
    def notes(self) -> str:
        return "\n".join(e.note for e in self.of("caller_note"))  # type: ignore[attr-defined]
