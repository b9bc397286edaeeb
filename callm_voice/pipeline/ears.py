"""From the line to text: the transport's input side and the recogniser."""

from __future__ import annotations

import asyncio

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
from callm_voice.pipeline.control import CallControl
from callm_voice.pipeline.frames import CallerAudioFrame, CallerTextFrame, GreetFrame
from callm_voice.pipeline.leg import CallerTurn, Interrupted
from callm_voice.speech.engines import SttEngine


class LineInput(FrameProcessor):
    """The transport's input: turns what the leg noticed on a tick into Pipecat frames, in the same order."""

    def __init__(self, *, rate_hz: int) -> None:
        super().__init__()
        self._rate_hz = rate_hz
        self._inbox: asyncio.Queue[Interrupted | CallerTurn | GreetFrame] = asyncio.Queue()
        self._pump: asyncio.Task[None] | None = None

    def deliver(self, happening: Interrupted | CallerTurn | GreetFrame) -> None:
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
            else:
                await self.push_frame(UserStoppedSpeakingFrame())
                await self.push_frame(
                    CallerAudioFrame(
                        turn_id=happening.turn_id,
                        pcm=happening.pcm,
                        rate_hz=self._rate_hz,
                        start_ms=happening.start_ms,
                        end_ms=happening.end_ms,
                    )
                )


class Recogniser(FrameProcessor):
    """Whole-turn transcription, off the event loop."""

    def __init__(self, engine: SttEngine, *, clock: Clock, log: EventLog, control: CallControl) -> None:
        super().__init__()
        self._engine, self._clock, self._log, self._control = engine, clock, log, control

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, CallerAudioFrame):
            await self.push_frame(frame, direction)
            return
        try:
            transcript = await self._clock.in_thread(
                "stt", self._engine.transcribe, frame.pcm, frame.rate_hz, start_ms=frame.start_ms, end_ms=frame.end_ms
            )
        except CallmError as error:
            self._control.fail(error)
            return
        if self._engine.info.scripted and transcript.decode_ms > 0:  # its delay is set, not spent: let it pass
            await self._clock.sleep_until(self._clock.now_s() + transcript.decode_ms / 1000)
        self._log.emit(
            TranscriptReady,
            turn_id=frame.turn_id,
            heard=transcript.text,
            raw=transcript.raw,
            rejected=transcript.rejected,
            decode_ms=round(transcript.decode_ms, 3),
            audio_ms=round(len(frame.pcm) * 1000 / frame.rate_hz, 3),
        )
        await self.push_frame(CallerTextFrame(turn_id=frame.turn_id, heard=transcript.text))
