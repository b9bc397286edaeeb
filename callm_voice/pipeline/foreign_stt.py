"""A recogniser that is a Pipecat STT service: one utterance in, its words out."""

from __future__ import annotations

import asyncio
from typing import Any

from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.services.stt_service import SegmentedSTTService

from callm_voice.audio.resample import resample_whole
from callm_voice.core.clock import stopwatch
from callm_voice.pipeline.foreign_class import arguments, find_class, from_environment
from callm_voice.pipeline.foreign_host import ServiceHost
from callm_voice.pipeline.foreign_info import engine_info
from callm_voice.pipeline.foreign_request import Request
from callm_voice.speech.engines import Pcm, Transcript
from callm_voice.speech.settings import ForeignSttSettings

CHUNK_MS = 100
"""Audio is handed over in frames of this length, as fast as they are taken."""
WARM_UP_S = 1


class _Utterance(Request):
    """For a service that transcribes a whole segment: over when its `run_stt` is."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def take(self, frame: Frame) -> None:
        if isinstance(frame, TranscriptionFrame):
            self.texts.append(frame.text)
        super().take(frame)


class _Stream(_Utterance):
    """For a service that transcribes while it listens: over with the final mark, or when nothing comes any more.

    Words that come later still belong to the next utterance, as they would on a line.
    """

    def __init__(self, settle_ms: int) -> None:
        super().__init__()
        self._settle_s = settle_ms / 1000
        self._heard_all = False
        self._came = asyncio.Event()

    def take(self, frame: Frame) -> None:
        if isinstance(frame, TranscriptionFrame):
            self.texts.append(frame.text)
            if frame.finalized and self._heard_all:
                self.end()
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            self._heard_all = True
        if isinstance(frame, (VADUserStoppedSpeakingFrame, TranscriptionFrame, InterimTranscriptionFrame)):
            self._came.set()

    async def wait(self) -> None:
        settling = asyncio.create_task(self._settled(), name="stt-settling")
        try:
            await super().wait()
        finally:
            settling.cancel()
            await asyncio.wait({settling})

    async def _settled(self) -> None:
        while not self._heard_all:
            await self._came.wait()
            self._came.clear()
        while True:
            try:
                await asyncio.wait_for(self._came.wait(), self._settle_s)
            except TimeoutError:
                self.end()
                return
            self._came.clear()


class ForeignStt:
    """See `SttEngine`. Made warm; `close` it.

    Raises:
        UsageError: the class or a setting does not fit, or an environment variable is not set.
        SetupError: the service's package cannot be imported.
        EngineError: it does not start, or fails on its first utterance.
    """

    def __init__(self, settings: ForeignSttSettings) -> None:
        service = find_class(settings.engine, "stt")
        values, secrets = from_environment(settings.settings, what=settings.engine)
        self._settings = settings
        self._segmented = issubclass(service, SegmentedSTTService)
        self._host = ServiceHost(
            service,
            arguments(service, values),
            stage="stt",
            method="run_stt",
            rate_hz=settings.rate_hz,
            limit_s=settings.timeout_s,
            secrets=secrets,
        )
        self._host.open(settings.start_timeout_s)
        self.info = engine_info(settings, self._host.service, secrets)
        try:
            self._transcribe(b"\0\0" * settings.rate_hz * WARM_UP_S, settings.start_timeout_s)
        except BaseException:  # Ctrl-C too: the service has a thread of its own, which would outlive us
            self.close()
            raise

    def transcribe(self, pcm: Pcm, rate_hz: int, *, start_ms: float = 0.0, end_ms: float = 0.0) -> Transcript:
        """See `SttEngine`. A streaming service gets the utterance at once, not as it is spoken."""
        elapsed_s = stopwatch()
        audio = resample_whole(pcm, rate_hz, self._settings.rate_hz).tobytes()
        text = self._transcribe(audio)
        rejected = None if text else "no_speech"
        return Transcript(text, raw=text, rejected=rejected, decode_ms=elapsed_s() * 1000)

    def close(self) -> None:
        """End the service."""
        self._host.close()

    def _transcribe(self, audio: bytes, limit_s: float | None = None) -> str:
        size = self._settings.rate_hz * CHUNK_MS // 1000 * 2
        frames: list[Any] = [
            InputAudioRawFrame(audio=audio[at : at + size], sample_rate=self._settings.rate_hz, num_channels=1)
            for at in range(0, len(audio), size)
        ]
        request = self._host.ask(
            self._request, [VADUserStartedSpeakingFrame(), *frames, VADUserStoppedSpeakingFrame()], limit_s
        )
        return " ".join(" ".join(request.texts).split())

    def _request(self) -> _Utterance:
        return _Utterance() if self._segmented else _Stream(self._settings.settle_ms)
