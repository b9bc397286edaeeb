"""Speech engines and a caller's mind that break when they are told to, around real ones."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from callm_voice.bench.faults import Fault
from callm_voice.caller.base import BargeInPlan, Caller, CallerAction, Finished, Wait
from callm_voice.core.errors import EngineError
from callm_voice.core.record import Usage
from callm_voice.speech.engines import Pcm, SttEngine, Transcript, TtsEngine

SLOW_S = 2.0
INJECTED = "an injected fault"


class FaultyStt:
    """A recogniser whose n-th turn goes wrong. A turn that is transcribed twice (begun ahead) counts once."""

    def __init__(self, inner: SttEngine, fault: Fault) -> None:
        self._inner, self._fault = inner, fault
        self.info = inner.info
        self._starts_ms: list[float] = []

    def transcribe(self, pcm: Pcm, rate_hz: int, *, start_ms: float = 0.0, end_ms: float = 0.0) -> Transcript:
        """See `SttEngine`."""
        if start_ms not in self._starts_ms:
            self._starts_ms.append(start_ms)
        due = self._fault.hits(self._starts_ms.index(start_ms) + 1)
        if due and self._fault.name == "stt-raises":
            raise EngineError(f"the recogniser broke ({INJECTED})", stage="stt")
        if due and self._fault.name == "stt-slow":
            threading.Event().wait(SLOW_S)  # in the engine's own thread, as real decoding would
        heard = self._inner.transcribe(pcm, rate_hz, start_ms=start_ms, end_ms=end_ms)
        if due and self._fault.name == "stt-nothing":
            return Transcript("", raw="", rejected="no_speech", decode_ms=heard.decode_ms)
        return heard


class FaultyTts:
    """A voice whose n-th sentence goes wrong."""

    def __init__(self, inner: TtsEngine, fault: Fault) -> None:
        self._inner, self._fault = inner, fault
        self.info = inner.info
        self.rate_hz = inner.rate_hz
        self._sentences = 0

    def synthesise(self, text: str, *, seed: int = 0) -> Pcm:
        """See `TtsEngine`. It breaks after the work is done: half the sentence exists, and is lost."""
        self._sentences += 1
        pcm = self._inner.synthesise(text, seed=seed)
        if not self._fault.hits(self._sentences):
            return pcm
        if self._fault.name == "tts-raises":
            raise EngineError(f"the voice broke in the middle of {text[:40]!r} ({INJECTED})", stage="tts")
        return np.zeros_like(pcm)


class SilentCaller:
    """A mind that, from its n-th turn on, waits for the agent for ever."""

    def __init__(self, inner: Caller, fault: Fault) -> None:
        self._inner, self._fault = inner, fault
        self._turns = 0
        self.name = inner.name

    async def heard(self, text: str, *, interrupted: bool = False) -> CallerAction:
        """See `Caller`."""
        return self._unless_silent(await self._inner.heard(text, interrupted=interrupted))

    async def silence(self, silent_ms: float) -> CallerAction:
        """See `Caller`."""
        return self._unless_silent(await self._inner.silence(silent_ms))

    def barge_in(self) -> BargeInPlan | None:
        """See `Caller`."""
        return None if self._silent else self._inner.barge_in()

    def said(self, text: str, *, cut: bool = False, beat: str = "") -> None:
        """See `Caller`."""
        self._turns += 1
        self._inner.said(text, cut=cut, beat=beat)

    def lines(self) -> Sequence[str]:
        """See `Caller`."""
        return self._inner.lines()

    def usage(self) -> Usage | None:
        """See `Caller`."""
        return self._inner.usage()

    @property
    def finished(self) -> Finished:
        """See `Caller`."""
        return self._inner.finished

    @property
    def _silent(self) -> bool:
        return self._fault.hits(self._turns + 1)

    def _unless_silent(self, action: CallerAction) -> CallerAction:
        return Wait(f"says nothing ({INJECTED})") if self._silent else action
