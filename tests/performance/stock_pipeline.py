"""A stock Pipecat agent as an end of our line: its own services, turn strategy and detector, nothing of ours inside.

Whisper, Piper and the OpenAI-compatible service with their defaults (Whisper in int8, as ours), smart-turn as Pipecat
ships it, Silero. Only the transport is ours: it hands 20 ms packets over and lets the line pull what is to be played.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from loguru import logger

logger.disable("pipecat")

# ruff: noqa: E402 - the line above must come before these
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMRunFrame,
    OutputAudioRawFrame,
    StartFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner

from callm_voice.line.leg import PTIME_MS
from callm_voice.line.leg import Frame as Packet

QUEUED_PACKETS = 2
"""So many may wait for the line; then the writer waits, as it does for a socket."""


class _Input(BaseInputTransport):
    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)


class _Output(BaseOutputTransport):
    def __init__(self, params: TransportParams, leg: StockAgent) -> None:
        super().__init__(params)
        self._leg = leg

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        if isinstance(frame, InterruptionFrame):
            self._leg.clear()
        await super().process_frame(frame, direction)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        await self._leg.write(np.frombuffer(frame.audio, dtype=np.int16))
        return True


class StockAgent:
    """A `Leg`. `start`, then the line runs, then `stop`.

    Args:
        rate_hz: of the line, and of the whole pipeline but the voice.
        whisper: folder of the recogniser's weights.
        piper: the voice's .onnx file.
        base_url: the model server.
        messages: the system prompt and whatever else stands before the greeting.
    """

    def __init__(
        self, *, rate_hz: int, whisper: Path, piper: Path, base_url: str, messages: Sequence[dict[str, Any]]
    ) -> None:
        self._packet_samples = rate_hz * PTIME_MS // 1000
        self._rate_hz = rate_hz
        self._to_play = np.zeros(0, dtype=np.int16)
        self._room = asyncio.Event()
        self._room.set()
        self._heard: asyncio.Queue[Packet] = asyncio.Queue()
        params = TransportParams(audio_in_enabled=True, audio_out_enabled=True, audio_out_10ms_chunks=PTIME_MS // 10)
        self._input = _Input(params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pipecat warns of defaults of its own
            stt = WhisperSTTService(
                device="cpu", compute_type="int8", settings=WhisperSTTService.Settings(model=str(whisper))
            )
            tts = PiperTTSService(download_dir=piper.parent, settings=PiperTTSService.Settings(voice=piper.stem))
            llm = OpenAILLMService(
                api_key="none", base_url=base_url, settings=OpenAILLMService.Settings(model="oracle")
            )
            context = LLMContextAggregatorPair(
                LLMContext(messages=list(messages)),
                user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer()),
            )
        pipeline = Pipeline([self._input, stt, context.user(), llm, tts, _Output(params, self), context.assistant()])
        self._worker = PipelineWorker(
            pipeline, enable_rtvi=False, idle_timeout_secs=None,
            params=PipelineParams(audio_in_sample_rate=rate_hz, audio_out_sample_rate=rate_hz),
        )  # fmt: skip
        self._runner = WorkerRunner(handle_sigint=False, handle_sigterm=False)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Return when the pipeline takes frames."""
        started = asyncio.Event()

        async def on_started(*_: object) -> None:
            started.set()

        self._worker.add_event_handler("on_pipeline_started", on_started)
        await self._runner.add_workers(self._worker)
        self._tasks = [asyncio.create_task(self._runner.run()), asyncio.create_task(self._pump())]
        await asyncio.wait_for(started.wait(), 60)

    def greet(self) -> None:
        """Let the model speak first."""
        self._tasks.append(asyncio.create_task(self._worker.queue_frame(LLMRunFrame())))

    async def stop(self) -> None:
        """End the pipeline and all its tasks."""
        await self._worker.cancel(reason="over")
        self._room.set()
        self._tasks[1].cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task

    def push(self, frame: Packet) -> None:
        self._heard.put_nowait(frame)

    def pull(self) -> Packet | None:
        n = self._packet_samples
        if not self._to_play.size:
            return None
        packet = np.zeros(n, dtype=np.int16)
        part = self._to_play[:n]
        packet[: part.size] = part
        self._to_play = self._to_play[n:]
        if self._to_play.size <= QUEUED_PACKETS * n:
            self._room.set()
        return packet

    def clear(self) -> None:
        self._to_play = self._to_play[:0]
        self._room.set()

    async def write(self, pcm: Packet) -> None:
        """From the output transport: waits while enough is queued."""
        await self._room.wait()
        self._to_play = np.concatenate([self._to_play, pcm])
        if self._to_play.size > QUEUED_PACKETS * self._packet_samples:
            self._room.clear()

    async def _pump(self) -> None:
        while True:
            packet = await self._heard.get()
            await self._input.push_audio_frame(
                InputAudioRawFrame(audio=packet.tobytes(), sample_rate=self._rate_hz, num_channels=1)
            )
