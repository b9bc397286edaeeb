"""A voice that is a Pipecat TTS service: one sentence in, its whole audio out."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
from pipecat.frames.frames import Frame, TTSAudioRawFrame, TTSSpeakFrame

from callm_voice.audio.resample import resample_whole
from callm_voice.core.errors import EngineError
from callm_voice.pipeline.foreign_class import arguments, find_class, from_environment, parameters
from callm_voice.pipeline.foreign_host import ServiceHost
from callm_voice.pipeline.foreign_info import engine_info
from callm_voice.pipeline.foreign_request import DoneFrame, Request
from callm_voice.speech.engines import Pcm
from callm_voice.speech.settings import ForeignTtsSettings

WARM_UP = "Hello."
QUIET_LIMIT = "stop_frame_timeout_s"


class _Sentence(Request):
    """Over when the frame that was sent behind the text comes out, which is behind the text's audio."""

    def __init__(self) -> None:
        super().__init__()
        self.audio: list[TTSAudioRawFrame] = []

    def take(self, frame: Frame) -> None:
        if isinstance(frame, TTSAudioRawFrame):
            self.audio.append(frame)
        super().take(frame)


class ForeignTts:
    """See `TtsEngine`. Made warm; `close` it.

    Raises:
        UsageError: the class or a setting does not fit, or an environment variable is not set.
        SetupError: the service's package cannot be imported.
        EngineError: it does not start, or fails on its first sentence.
    """

    def __init__(self, settings: ForeignTtsSettings) -> None:
        service = find_class(settings.engine, "tts")
        values, secrets = from_environment(settings.settings, what=settings.engine)
        self._settings = settings
        self.rate_hz = settings.rate_hz
        self._host = ServiceHost(
            service,
            arguments(service, _patient(service, values, settings.timeout_s)),
            stage="tts",
            method="run_tts",
            rate_hz=settings.rate_hz,
            limit_s=settings.timeout_s,
            secrets=secrets,
        )
        self._host.open(settings.start_timeout_s)
        self.info = engine_info(settings, self._host.service, secrets)
        try:
            self._synthesise(WARM_UP, settings.start_timeout_s)
        except BaseException:  # Ctrl-C too: the service has a thread of its own, which would outlive us
            self.close()
            raise

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        """See `TtsEngine`. The service has no seed of ours: two syntheses may differ."""
        return self._synthesise(text)

    def close(self) -> None:
        """End the service."""
        self._host.close()

    def _synthesise(self, text: str, limit_s: float | None = None) -> Pcm:
        frames = [TTSSpeakFrame(text=text, append_to_context=False), DoneFrame()]
        request = self._host.ask(_Sentence, frames, limit_s)
        runs = [(rate, list(run)) for rate, run in groupby(request.audio, key=lambda frame: frame.sample_rate)]
        pcm = [resample_whole(self._mono(run), rate, self.rate_hz) for rate, run in runs]
        sound = np.concatenate(pcm) if pcm else np.zeros(0, np.int16)
        if not sound.size:
            raise EngineError(f"{self._host.what} gave no sound for {text[:60]!r}", stage="tts")
        return sound

    def _mono(self, frames: list[TTSAudioRawFrame]) -> Pcm:
        """The samples of frames of one rate, channels averaged; a sample may lie across two frames."""
        data = b"".join(frame.audio for frame in frames)
        channels = max(1, frames[0].num_channels)
        if len(data) % (2 * channels):
            raise EngineError(f"{self._host.what} gave {len(data)} bytes, not whole samples of 16 bits", stage="tts")
        samples = np.frombuffer(data, "<i2").reshape(-1, channels)
        return samples[:, 0].copy() if channels == 1 else samples.mean(axis=1).round().astype(np.int16)


def _patient(service: type, values: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """The settings, with Pipecat's wait for sound as long as ours where the service itself says when it is done.

    After 3 s without sound Pipecat takes a sentence for finished and calls it an error; a slow voice on a busy machine
    is not wrong. A voice on a websocket may have no other way to say that it is done, so it keeps that.
    """
    from pipecat.services.tts_service import WebsocketTTSService  # warns on import, which `find_class` has seen to

    if issubclass(service, WebsocketTTSService) or QUIET_LIMIT not in parameters(service):
        return values
    return {QUIET_LIMIT: timeout_s, **values}
