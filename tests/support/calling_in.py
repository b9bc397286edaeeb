"""Who calls in: a WebRTC end of the test's own that speaks sound and keys, and the server's side of its call."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from callm_voice.audio.pcm import Pcm
from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.person_calls import PersonCalls
from callm_voice.core.clock import RealClock
from callm_voice.line.leg import PTIME_MS
from callm_voice.pipeline.rtc_peer import SILENT_LIMIT_S, RtcPeer

LIMIT_S = 240.0
"""For a process that loads its modules on a busy machine, and a call of some seconds."""


def speech_shaped(seconds: float, rate_hz: int = 8000) -> Pcm:
    """Noise at the level of speech, which the scripted pipeline takes for it."""
    noise = np.random.default_rng(11).normal(0, 3000, round(seconds * rate_hz))
    return np.clip(noise, -32768, 32767).astype(np.int16)


class CallerIn:
    """A person with a telephone. Use as an async context manager.

    Args:
        calls: the server's.
        spec: of the call.
    """

    def __init__(self, calls: PersonCalls, spec: CallSpec, call_id: str = "one") -> None:
        self._calls, self._spec, self.id = calls, spec, call_id
        self._clock = RealClock()
        self.closed = ""
        self.vanished = False
        self.longest_gap_s = 0.0
        """Between two packets that were sent: the test's own lateness."""
        self.peer = RtcPeer(rate_hz=8000, codec=None, clock=self._clock, on_closed=self._on_closed)
        self._speaks: list[Pcm] = []
        self._presses = ""
        self.heard: list[Pcm] = []
        self.events: list[dict[str, Any]] = []
        self.done: dict[str, Any] | None = None
        self.error = ""
        self._news = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> CallerIn:
        answer = await self._calls.start(self.id, self._spec, await self.peer.offer())
        await self.peer.accept(answer)
        await self.peer.connected(LIMIT_S)
        self._tasks = [asyncio.create_task(self._talk()), asyncio.create_task(self._follow())]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._calls.hang_up(self.id, "the test is over")
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self.peer.aclose()
        self._clock.close()

    def say(self, sound: Pcm) -> None:
        """Speak from the next packet on, (samples,) int16 at 8 kHz."""
        self._speaks += np.split(sound, range(160, sound.size, 160))

    def press(self, key: str) -> None:
        """Press a key for 100 ms."""
        self._presses += key * 5

    async def until(self, what: str, **fields: Any) -> dict[str, Any]:
        """The first event of this type with these fields."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                for event in self.events:
                    if event["type"] == what and fields.items() <= event.items():
                        return event
                assert not self.error, self.error
                self._check_going_on(what)
                await self._wait()

    def _check_going_on(self, what: str) -> None:
        if self.done is None:
            return
        given_up = "no more packets came" in self.done["detail"] and not self.vanished
        if given_up and self.longest_gap_s > SILENT_LIMIT_S / 2:
            pytest.skip(f"inconclusive: the test's own end sent nothing for {self.longest_gap_s:.1f} s")
        raise AssertionError(f"no {what} before the call ended: {self.done}")

    async def finished(self) -> dict[str, Any]:
        """What the worker said of the finished call."""
        async with asyncio.timeout(LIMIT_S):
            while self.done is None:
                assert not self.error, self.error
                await self._wait()
        return self.done

    async def stop_sending(self) -> None:
        """Vanish without a word: no packet, no goodbye."""
        self.vanished = True
        self._tasks[0].cancel()
        with suppress(asyncio.CancelledError):
            await self._tasks[0]

    def _on_closed(self, why: str) -> None:
        self.closed = why

    async def _wait(self) -> None:
        news, self._news = self._news, asyncio.Event()
        del news
        await self._news.wait()

    async def _talk(self) -> None:
        zero_s, tick = self._clock.now_s(), 0
        sent_s = zero_s
        while True:
            await self._clock.sleep_until(zero_s + tick * PTIME_MS / 1000)
            tick += 1
            gap_s, sent_s = self._clock.now_s() - sent_s, self._clock.now_s()
            self.longest_gap_s = max(self.longest_gap_s, gap_s)
            self.heard.append(self.peer.pull())
            frame = np.zeros(160, np.int16)
            if self._speaks:
                part = self._speaks.pop(0)
                frame[: part.size] = part
            key, self._presses = self._presses[:1] or None, self._presses[1:]
            self.peer.send(frame, key)

    async def _follow(self) -> None:
        call = self._calls.get(self.id)
        assert call is not None
        async for _, message in call.follow():
            if "event" in message:
                self.events.append(message["event"])
            self.done = message.get("done", self.done)
            self.error = message.get("error", self.error)
            self._news.set()
        self._news.set()
