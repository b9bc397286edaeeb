"""Whole-turn transcription, begun in the caller's pause and used at the endpoint; one decoding at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np

from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import EventLog, SpeculationDropped
from callm_voice.speech.engines import Pcm, SttEngine, Transcript


@dataclass(frozen=True)
class Segment:
    """What is transcribed: a turn, or what there is of it in a pause."""

    turn_id: int
    pcm: Pcm
    rate_hz: int
    start_ms: float
    end_ms: float

    def begins(self, whole: Segment) -> bool:
        """Whether `whole` is this audio, or this audio and what came behind it."""
        same_start = (self.turn_id, self.start_ms, self.rate_hz) == (whole.turn_id, whole.start_ms, whole.rate_hz)
        return same_start and np.array_equal(self.pcm, whole.pcm[: len(self.pcm)])


@dataclass(frozen=True)
class Decoded:
    """A transcript, when its decoding began and ended (seconds of the clock), and whether it was made ahead."""

    transcript: Transcript
    started_s: float
    ended_s: float
    speculative: bool


@dataclass(eq=False)
class _Ahead:
    segment: Segment
    wanted: bool = True
    decoded: Decoded | None = None


class Transcriber:
    """Runs the recogniser off the event loop.

    A decoding cannot be stopped once it runs. One that is not wanted any more delays the next by no more than its own
    rest, and never begins if another one was still running.
    """

    def __init__(self, engine: SttEngine, *, clock: Clock, log: EventLog) -> None:
        self._engine, self._clock, self._log = engine, clock, log
        self._decoding = asyncio.Lock()
        self._ahead: _Ahead | None = None
        self._tasks: dict[_Ahead, asyncio.Task[None]] = {}
        self._broken: CallmError | None = None
        self.work = {"speculations": 0.0, "used": 0.0, "dropped": 0.0, "wasted_ms": 0.0}
        """For the record."""

    def speculate(self, segment: Segment) -> None:
        """The caller pauses: begin with what there is."""
        self.drop()
        self.work["speculations"] += 1
        self._ahead = ahead = _Ahead(segment)
        self._tasks[ahead] = asyncio.create_task(self._decode_ahead(ahead), name=f"stt-ahead-{segment.turn_id}")

    def drop(self) -> None:
        """The caller speaks on: what was begun is of no use."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.wanted = False
            if ahead not in self._tasks:
                self._dropped(ahead)

    async def transcribe(self, segment: Segment) -> Decoded:
        """The transcript of a whole turn; the one that was begun ahead if it is of the same audio.

        Raises:
            EngineError: decoding failed.
        """
        ahead = self._ahead
        if ahead is not None and ahead.segment.begins(segment):
            self._ahead = None
            if ahead in self._tasks:
                await asyncio.wait({self._tasks[ahead]})
            self._raise_if_broken()
            assert ahead.decoded is not None
            self.work["used"] += 1
            return ahead.decoded
        self.drop()
        async with self._decoding:
            self._raise_if_broken()
            return await self._decode(segment, speculative=False)

    async def aclose(self) -> None:
        """Give up what runs. Its thread ends by itself."""
        tasks = set(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _decode_ahead(self, ahead: _Ahead) -> None:
        try:
            async with self._decoding:
                if ahead.wanted:
                    ahead.decoded = await self._decode(ahead.segment, speculative=True)
        except CallmError as error:
            self._broken = error  # whoever wants the next transcript is told
        finally:
            del self._tasks[ahead]
        if not ahead.wanted:
            self._dropped(ahead)

    async def _decode(self, segment: Segment, *, speculative: bool) -> Decoded:
        """Only with `_decoding` held."""
        started_s = self._clock.now_s()
        transcript = await self._clock.in_thread(
            "stt",
            self._engine.transcribe,
            segment.pcm,
            segment.rate_hz,
            start_ms=segment.start_ms,
            end_ms=segment.end_ms,
        )
        if self._engine.info.scripted and transcript.decode_ms > 0:  # its delay is set, not spent: let it pass
            await self._clock.sleep_until(self._clock.now_s() + transcript.decode_ms / 1000)
        return Decoded(transcript, started_s, self._clock.now_s(), speculative)

    def _dropped(self, ahead: _Ahead) -> None:
        decoded = ahead.decoded
        wasted_ms = round((decoded.ended_s - decoded.started_s) * 1000, 3) if decoded else 0.0
        self.work["dropped"] += 1
        self.work["wasted_ms"] = round(self.work["wasted_ms"] + wasted_ms, 3)
        self._log.emit(
            SpeculationDropped,
            turn_id=ahead.segment.turn_id,
            started_ms=self._log.to_ms(decoded.started_s) if decoded else None,
            wasted_ms=wasted_ms,
        )

    def _raise_if_broken(self) -> None:
        if self._broken is not None:
            raise self._broken
