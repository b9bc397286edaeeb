"""Is the caller's turn complete? Pipecat's smart-turn network, whose weight lies inside the Pipecat package."""

from __future__ import annotations

import hashlib
import statistics
from dataclasses import dataclass
from importlib import resources

import numpy as np
from pipecat.audio.turn.base_turn_analyzer import EndOfTurnState
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3

from callm_voice.core.clock import Clock
from callm_voice.core.errors import EngineError
from callm_voice.core.record import EngineInfo
from callm_voice.speech.boundary import engine_errors
from callm_voice.speech.engines import Pcm

PACKAGE = "pipecat.audio.turn.smart_turn.data"


@dataclass(frozen=True)
class Judgement:
    """One answer of the network's."""

    complete: bool
    probability: float
    infer_ms: float


class SmartTurn:
    """The network on one CPU thread. One question at a time.

    Args:
        rate_hz: of the audio; the analyser resamples.
    """

    def __init__(self, *, rate_hz: int, clock: Clock) -> None:
        weight = next(p for p in resources.files(PACKAGE).iterdir() if p.name.endswith(".onnx"))
        self._clock, self._rate_hz = clock, rate_hz
        self._analyser = LocalSmartTurnAnalyzerV3(smart_turn_model_path=str(weight), cpu_count=1)
        self._analyser.set_sample_rate(rate_hz)
        self._infer_ms: list[float] = []
        self.info = EngineInfo(
            engine="smart_turn",
            model=weight.name.removesuffix(".onnx"),
            sha256=hashlib.sha256(weight.read_bytes()).hexdigest(),
        )

    async def warm(self) -> None:
        """Run it once, so that the first question of a call is not slower than the others."""
        await self._ask(np.random.default_rng(0).normal(0, 300, self._rate_hz).astype(np.int16))

    async def judge(self, pcm: Pcm) -> Judgement:
        """Whether speech that ends with a pause is complete.

        Raises:
            EngineError: the network gave no answer.
        """
        judgement = await self._ask(pcm)
        self._infer_ms.append(judgement.infer_ms)
        return judgement

    @property
    def work(self) -> dict[str, float]:
        """Questions so far and what they cost, in milliseconds each."""
        if not self._infer_ms:
            return {"questions": 0.0}
        median_ms = statistics.median(self._infer_ms)
        return {"questions": float(len(self._infer_ms)), "infer_ms_p50": median_ms, "infer_ms_max": max(self._infer_ms)}

    async def aclose(self) -> None:
        """Give its thread back."""
        await self._analyser.cleanup()

    async def _ask(self, pcm: Pcm) -> Judgement:
        started_s = self._clock.now_s()
        self._analyser.clear()
        self._analyser.append_audio(pcm.tobytes(), is_speech=True)
        with engine_errors("smart-turn failed", "vad"), self._clock.busy("turn"):  # in a thread of the analyser's own
            state, metrics = await self._analyser.analyze_end_of_turn()
        infer_ms = round((self._clock.now_s() - started_s) * 1000, 3)
        if metrics is None:
            raise EngineError(f"smart-turn gave no answer on {pcm.size / self._rate_hz:.1f} s of audio", stage="vad")
        return Judgement(state == EndOfTurnState.COMPLETE, round(float(metrics.probability), 4), infer_ms)
