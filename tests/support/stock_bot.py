"""A voice bot as somebody writes it with Pipecat alone. It knows nothing of the product that calls it.

    MODEL_URL=http://127.0.0.1:8000/v1 WHISPER_DIR=... PIPER_DIR=... PIPER_VOICE=... python stock_bot.py

It answers two ways: a Twilio media stream at `/ws`, and WebRTC with its offer posted to `/api/offer`. Its tools come
from the MCP server that whoever calls it names (`customParameters.mcp_url`, or `request_data.mcp_url` of the offer), or
that the environment does (`MCP_URL`). Its ears and its voice are Whisper and Piper; with `ENGINES=toy` it hears nothing
but that somebody spoke, and speaks in tones, for tests without weights. It prints one JSON line with its port when it
listens, and ends when its stdin ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import uvicorn
from fastapi import BackgroundTasks, FastAPI, WebSocket
from loguru import logger
from mcp.client.session_group import StreamableHttpParameters
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import Frame, LLMRunFrame, TranscriptionFrame, TTSAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.runner.utils import parse_telephony_websocket
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.services.llm_service import FunctionCallParams
from pipecat.services.mcp_service import MCPClient
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.settings import STTSettings, TTSSettings
from pipecat.services.stt_service import SegmentedSTTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_transport import BaseTransport, TransportParams
from pipecat.transports.smallwebrtc.connection import SmallWebRTCConnection
from pipecat.transports.smallwebrtc.request_handler import SmallWebRTCRequest, SmallWebRTCRequestHandler
from pipecat.transports.smallwebrtc.transport import SmallWebRTCTransport
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.turns.user_mute import MuteUntilFirstBotCompleteUserMuteStrategy
from pipecat.turns.user_start import VADUserTurnStartStrategy
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.time import time_now_iso8601
from pipecat.workers.runner import WorkerRunner

TOY = os.environ.get("ENGINES") == "toy"
PROMPT = os.environ.get("PROMPT", "You answer the phone of a front desk. Be brief, and use the tools.")
WHISPER_RATE_HZ = 16000


class Whisper(SegmentedSTTService):
    """faster-whisper on the processor; telephone sound is brought to the rate that it wants."""

    wants_wav_segments = False

    def __init__(self, model: Any) -> None:
        super().__init__(settings=STTSettings(model="base", language=None), ttfs_p99_latency=1.5)
        self._model = model

    async def run_stt(self, audio: bytes) -> AsyncIterator[Frame]:
        text = await asyncio.to_thread(self._transcribe, audio)
        if text:
            yield TranscriptionFrame(text, self._user_id, time_now_iso8601())

    def _transcribe(self, audio: bytes) -> str:
        import soxr

        sound = np.frombuffer(audio, np.int16).astype(np.float32) / 32768
        if self.sample_rate != WHISPER_RATE_HZ:
            sound = soxr.resample(sound, self.sample_rate, WHISPER_RATE_HZ)
        segments, _ = self._model.transcribe(
            sound, language="en", beam_size=1, temperature=0.0, condition_on_previous_text=False,
            without_timestamps=True,
        )  # fmt: skip
        return " ".join(segment.text.strip() for segment in segments if segment.no_speech_prob < 0.6)


class ToyEars(SegmentedSTTService):
    """Takes whatever was said for a yes."""

    wants_wav_segments = False

    def __init__(self) -> None:
        super().__init__(settings=STTSettings(model="toy", language=None), ttfs_p99_latency=0.3)

    async def run_stt(self, audio: bytes) -> AsyncIterator[Frame]:
        yield TranscriptionFrame("Yes, that is right.", self._user_id, time_now_iso8601())


class ToyVoice(TTSService):
    """A tone of 60 ms a word's length."""

    def __init__(self) -> None:
        super().__init__(
            push_start_frame=True, push_stop_frames=True, sample_rate=8000,
            settings=TTSSettings(model=None, voice=None, language=None),
        )  # fmt: skip

    async def run_tts(self, text: str, context_id: str) -> AsyncIterator[Frame]:
        t = np.arange(len(text) * 8 * 60) / 8000
        sound = (6000 * np.sin(2 * np.pi * 300 * t)).astype(np.int16)
        yield TTSAudioRawFrame(sound.tobytes(), 8000, 1, context_id=context_id)


def load_whisper() -> Any:
    """Once, before anybody calls."""
    from faster_whisper import WhisperModel

    return WhisperModel(os.environ["WHISPER_DIR"], device="cpu", compute_type="int8", cpu_threads=1)


def make_voice() -> TTSService:
    if TOY:
        return ToyVoice()
    from pathlib import Path

    from pipecat.services.piper.tts import PiperTTSService

    return PiperTTSService(
        download_dir=Path(os.environ["PIPER_DIR"]), sample_rate=22050,
        settings=PiperTTSService.Settings(voice=os.environ["PIPER_VOICE"]),
    )  # fmt: skip


async def tools_of(mcp: MCPClient) -> ToolsSchema:
    """The tools that may be used now. After a transfer they may be others, so a transfer reads them again."""
    return ToolsSchema(standard_tools=[_moving(mcp, tool) for tool in (await mcp.tools()).standard_tools])


def _moving(mcp: MCPClient, tool: FunctionSchema) -> FunctionSchema:
    if not tool.name.startswith("transfer_to_"):
        return tool
    handler = partial(transfer, mcp, tool.handler)
    return FunctionSchema(tool.name, tool.description, tool.properties, tool.required, handler)


async def transfer(mcp: MCPClient, call_tool: Any, params: FunctionCallParams) -> None:
    """Hand the call over, and have the new list of tools in place before the model goes on."""
    results: list[Any] = []

    async def hold(result: Any, **_: Any) -> None:
        results.append(result)

    await call_tool(replace(params, result_callback=hold))
    params.context.set_tools(await tools_of(mcp))
    await params.result_callback(results[0])


async def run_bot(transport: BaseTransport, about: dict[str, Any], whisper: Any, rate_hz: int) -> None:
    """One call, from its first word to its end."""
    llm = OpenAILLMService(
        api_key="none", base_url=os.environ["MODEL_URL"],
        settings=OpenAILLMService.Settings(model=os.environ.get("MODEL", "oracle"), system_instruction=PROMPT),
    )  # fmt: skip
    mcp = MCPClient(StreamableHttpParameters(url=about.get("mcp_url") or os.environ["MCP_URL"]))
    context = LLMContext(tools=await tools_of(mcp))
    turns = UserTurnStrategies(
        start=[VADUserTurnStartStrategy()], stop=[SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=0.4)]
    )
    user, assistant = LLMContextAggregatorPair(
        context,
        user_params=LLMUserAggregatorParams(
            user_turn_strategies=turns,
            user_mute_strategies=[MuteUntilFirstBotCompleteUserMuteStrategy()],
            user_turn_stop_timeout=15.0,
            vad_analyzer=SileroVADAnalyzer(params=VADParams(stop_secs=0.2, min_volume=0.0)),
        ),
    )
    ears = ToyEars() if TOY else Whisper(whisper)
    pipeline = Pipeline([transport.input(), ears, user, llm, make_voice(), transport.output(), assistant])
    worker = PipelineWorker(
        pipeline, enable_rtvi=False, params=PipelineParams(audio_in_sample_rate=rate_hz, audio_out_sample_rate=rate_hz)
    )

    @transport.event_handler("on_client_connected")
    async def answered(*_: Any) -> None:
        await worker.queue_frames([LLMRunFrame()])

    @transport.event_handler("on_client_disconnected")
    async def hung_up(*_: Any) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


def make_app() -> FastAPI:
    app = FastAPI()
    whisper = None if TOY else load_whisper()
    offers = SmallWebRTCRequestHandler()

    @app.websocket("/ws")
    async def media_stream(websocket: WebSocket) -> None:
        await websocket.accept()
        _, call = await parse_telephony_websocket(websocket)
        serializer = TwilioFrameSerializer(
            stream_sid=call["stream_id"],
            call_sid=call["call_id"],
            params=TwilioFrameSerializer.InputParams(auto_hang_up=False),
        )
        transport = FastAPIWebsocketTransport(
            websocket,
            FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=serializer),
        )
        await run_bot(transport, dict(call["body"]), whisper, 8000)

    @app.post("/api/offer")
    async def offer(body: dict[str, Any], background: BackgroundTasks) -> Any:
        request = SmallWebRTCRequest.from_dict(body)

        async def connected(connection: SmallWebRTCConnection) -> None:
            params = TransportParams(audio_in_enabled=True, audio_out_enabled=True, audio_out_10ms_chunks=2)
            transport = SmallWebRTCTransport(connection, params)
            background.add_task(run_bot, transport, dict(request.request_data or {}), whisper, 16000)

        return await offers.handle_web_request(request, connected)

    return app


def main() -> None:
    logger.remove()
    logger.add(sys.stderr, level=os.environ.get("LOG_LEVEL", "WARNING"))
    listening = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    server = uvicorn.Server(uvicorn.Config(make_app(), log_level="warning", loop="asyncio"))

    def watch() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=watch, daemon=True).start()
    print(json.dumps({"port": listening.getsockname()[1]}), flush=True)
    server.run(sockets=[listening])


if __name__ == "__main__":
    main()
