"""From the line to text: the transport's input side and the recogniser."""

from __future__ import annotations

import asyncio
from typing import Any

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    StartFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import EventLog, TranscriptReady
from callm_voice.core.keypad import marker
from callm_voice.pipeline.control import CallControl
from callm_voice.pipeline.frames import (
    CallerAudioFrame,
    CallerPauseFrame,
    CallerResumedFrame,
    CallerTextFrame,
    GreetFrame,
)
from callm_voice.pipeline.leg import CallerPause, CallerTurn, Happening, Interrupted
from callm_voice.pipeline.transcriber import Segment, Transcriber
from callm_voice.speech.engines import SttEngine


class LineInput(FrameProcessor):
    """The transport's input: turns what the leg noticed on a tick into Pipecat frames, in the same order."""

    def __init__(self, *, rate_hz: int) -> None:
        super().__init__()
        self._rate_hz = rate_hz
        self._inbox: asyncio.Queue[Happening | GreetFrame] = asyncio.Queue()
        self._pump: asyncio.Task[None] | None = None

    def deliver(self, happening: Happening | GreetFrame) -> None:
        """From the leg, on the line's tick; never blocks."""
        self._inbox.put_nowait(happening)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, StartFrame):
            self._pump = self.create_task(self._run(), "line-input")
        elif isinstance(frame, (EndFrame, CancelFrame)):
            await self._stop()
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        await self._stop()
        await super().cleanup()

    async def _stop(self) -> None:
        if self._pump is not None:
            pump, self._pump = self._pump, None
            await self.cancel_task(pump)

    async def _run(self) -> None:
        while True:
            happening = await self._inbox.get()
            if isinstance(happening, GreetFrame):
                await self.push_frame(happening)
            elif isinstance(happening, Interrupted):
                await self.push_frame(UserStartedSpeakingFrame())
                await self.broadcast_interruption()
            elif isinstance(happening, CallerTurn):
                await self.push_frame(UserStoppedSpeakingFrame())
                await self.push_frame(CallerAudioFrame(**self._audio(happening), keys=happening.keys))
            elif isinstance(happening, CallerPause):
                await self.push_frame(CallerPauseFrame(**self._audio(happening)))
            else:
                await self.push_frame(CallerResumedFrame())

    def _audio(self, of: CallerTurn | CallerPause) -> dict[str, Any]:
        """The fields of an audio frame."""
        return {
            "turn_id": of.turn_id,
            "pcm": of.pcm,
            "rate_hz": self._rate_hz,
            "start_ms": of.start_ms,
            "end_ms": of.end_ms,
        }


class Recogniser(FrameProcessor):
    """Whole-turn transcription; a turn that paused was begun then. Its text leaves at the endpoint, never before.

    Keys that were pressed in a turn stand behind its words as `[keypad: 1 2 #]`; a turn of keys alone is not decoded.
    """

    def __init__(self, engine: SttEngine, *, clock: Clock, log: EventLog, control: CallControl) -> None:
        super().__init__()
        self._log, self._control = log, control
        self._transcriber = Transcriber(engine, clock=clock, log=log)

    @property
    def work(self) -> dict[str, float]:
        """What became of the transcriptions that were begun ahead."""
        return dict(self._transcriber.work)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, CallerPauseFrame):
            self._transcriber.speculate(_segment(frame))
        elif isinstance(frame, CallerResumedFrame):
            self._transcriber.drop()
        elif isinstance(frame, CallerAudioFrame):
            if frame.keys and not len(frame.pcm):
                await self._keys_alone(frame.turn_id, marker(frame.keys))
            else:
                await self._transcribe(_segment(frame), marker(frame.keys) if frame.keys else "")
        else:
            await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        await self._transcriber.aclose()
        await super().cleanup()

    async def _keys_alone(self, turn_id: int, keys: str) -> None:
        self._transcriber.drop()
        self._log.emit(TranscriptReady, turn_id=turn_id, heard=keys)
        await self.push_frame(CallerTextFrame(turn_id=turn_id, heard=keys))

    async def _transcribe(self, segment: Segment, keys: str) -> None:
        try:
            decoded = await self._transcriber.transcribe(segment)
        except CallmError as error:
            self._control.fail(error)
            return
        transcript = decoded.transcript
        heard = " ".join(filter(None, (transcript.text, keys)))
        self._log.emit(
            TranscriptReady,
            turn_id=segment.turn_id,
            heard=heard,
            raw=transcript.raw,
            rejected=transcript.rejected,
            decode_ms=round(transcript.decode_ms, 3),
            audio_ms=round(len(segment.pcm) * 1000 / segment.rate_hz, 3),
            speculative=decoded.speculative,
            started_ms=self._log.to_ms(decoded.started_s),
        )
        await self.push_frame(CallerTextFrame(turn_id=segment.turn_id, heard=heard))


def _segment(frame: CallerAudioFrame | CallerPauseFrame) -> Segment:
    return Segment(frame.turn_id, frame.pcm, frame.rate_hz, frame.start_ms, frame.end_ms)
