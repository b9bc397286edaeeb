"""Small Pipecat services for tests: they fail, hang or block when they are told to."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import aiohttp
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import STTSettings, TTSSettings
from pipecat.services.stt_service import SegmentedSTTService, STTService
from pipecat.utils.time import time_now_iso8601

from callm_voice.speech.settings import ScriptedTtsSettings
from callm_voice.speech.tts_scripted import ScriptedTts

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of Pipecat's own, inside the module
    from pipecat.services.tts_service import TTSService

RELEASE = threading.Event()
"""Set by a test to let blocked services go."""
NOT_A_SERVICE = object()


class Trouble(StrEnum):
    NONE = "none"
    RAISE = "raise"
    REPORT = "report"
    """An error frame, as Pipecat's own services send."""
    HANG = "hang"
    DAWDLE = "dawdle"
    """Longer than Pipecat waits for the next sound by itself."""
    WORK = "work"
    """In a thread, as an engine that computes does."""
    BLOCK = "block"
    """The event loop itself."""


class _Troubled:
    """Does its work `after` times, then gets into trouble. The warm-up is the first time."""

    def __init__(self, trouble: Trouble, after: int) -> None:
        self._trouble, self._left = Trouble(trouble), after

    async def work(self) -> str | None:
        """Text of an error to report, if that is the trouble."""
        self._left -= 1
        if self._left >= 0:
            return None
        if self._trouble is Trouble.RAISE:
            raise RuntimeError("the service broke")
        if self._trouble is Trouble.HANG:
            await asyncio.sleep(3600)
        if self._trouble is Trouble.DAWDLE:
            await asyncio.sleep(3.5)
        if self._trouble is Trouble.WORK:
            await asyncio.to_thread(RELEASE.wait, 100)
        if self._trouble is Trouble.BLOCK:
            RELEASE.wait(100)
        return "the service is out of order" if self._trouble is Trouble.REPORT else None


@dataclass
class ScribeSettings(STTSettings):
    prefix: str = "words"


class Scribe(SegmentedSTTService):
    """Hears how long an utterance was."""

    Settings = ScribeSettings

    def __init__(
        self,
        *,
        settings: ScribeSettings | None = None,
        trouble: Trouble = Trouble.NONE,
        after: int = 1,
        api_key: str = "",
        aiohttp_session: aiohttp.ClientSession | None = None,
        folder: Path | None = None,
        **kwargs,
    ) -> None:
        super().__init__(settings=settings or ScribeSettings(model=None, language=None), **kwargs)
        self.api_key, self.session, self.folder = api_key, aiohttp_session, folder
        self._settings.language = None
        self._settings.model = "scribe-1"
        self._troubled = _Troubled(trouble, after)

    @property
    def wants_wav_segments(self) -> bool:
        return False

    async def run_stt(self, audio: bytes) -> AsyncIterator[Frame]:
        error = await self._troubled.work()
        if error:
            yield ErrorFrame(f"{error}, key {self.api_key}")
        elif any(audio):
            ms = len(audio) * 500 // self.sample_rate
            yield TranscriptionFrame(f"  {self._settings.prefix} of {ms}", "", time_now_iso8601())
            yield TranscriptionFrame("milliseconds ", "", time_now_iso8601())


class Listener(STTService):
    """A streaming recogniser: says what it heard when the speech has ended, with a final mark or without."""

    def __init__(self, *, marks_end: bool = True, **kwargs) -> None:
        super().__init__(settings=STTSettings(model=None, language=None), ttfs_p99_latency=0.1, **kwargs)
        self._marks_end, self._bytes = marks_end, 0

    async def run_stt(self, audio: bytes) -> AsyncIterator[Frame | None]:
        self._bytes += len(audio)
        yield InterimTranscriptionFrame("hm", "", time_now_iso8601())

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            heard, self._bytes = self._bytes, 0
            await self.push_frame(TranscriptionFrame("first", "", time_now_iso8601()))
            if self._marks_end:
                self.request_finalize()
                self.confirm_finalize()
            await self.push_frame(TranscriptionFrame(f"{heard} bytes", "", time_now_iso8601()))


class Speaker(TTSService):
    """Speech-shaped sound, in pieces of odd length, at a rate of its own if it is asked for one."""

    def __init__(self, *, trouble: Trouble = Trouble.NONE, after: int = 1, stereo: bool = False, **kwargs) -> None:
        super().__init__(
            push_start_frame=True,
            push_stop_frames=True,
            settings=TTSSettings(model=None, voice="ann", language=None),
            **kwargs,
        )
        self._troubled, self._stereo = _Troubled(trouble, after), stereo

    async def run_tts(self, text: str, context_id: str) -> AsyncIterator[Frame]:
        error = await self._troubled.work()
        if error:
            yield ErrorFrame(error)
            return
        pcm = ScriptedTts(ScriptedTtsSettings(rate_hz=16000, words_per_min=220.0)).synthesise(text)
        data = (pcm.repeat(2) if self._stereo else pcm).tobytes()
        for at in range(0, len(data), 999):
            yield TTSAudioRawFrame(data[at : at + 999], 16000, 2 if self._stereo else 1, context_id=context_id)


class Unfinished(TTSService):
    """Lacks `run_tts`."""


class FailsToStart(Scribe):
    async def start(self, frame: Frame) -> None:
        await super().start(frame)
        raise ConnectionError("nobody there")


class CannotBeMade(Scribe):
    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        raise ValueError("no such voice")


class NeedsAnAddress(Scribe):
    def __init__(self, *, base_url: str, **kwargs) -> None:
        super().__init__(**kwargs)
        self.base_url = base_url
