"""Builds and runs the agent's Pipecat pipeline: ears, desk, sentences, voice, between the two ends of one leg."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from loguru import logger

logger.disable("pipecat")  # its log, banner included, goes to stderr by default; our events say what happened

# ruff: noqa: E402 - the line above must come before these
from pipecat.frames.frames import ErrorFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.workers.runner import WorkerRunner

from callm_voice.audio.tones import DtmfDetector
from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError, HarnessError
from callm_voice.core.events import EventLog, TurnJudged
from callm_voice.core.record import EngineInfo
from callm_voice.desk.agent import DeskAgent
from callm_voice.pipeline.control import CallControl
from callm_voice.pipeline.desk_service import DeskService
from callm_voice.pipeline.ears import LineInput, Recogniser
from callm_voice.pipeline.floor import Floor
from callm_voice.pipeline.frames import GreetFrame
from callm_voice.pipeline.keypad import Keypad
from callm_voice.pipeline.leg import AgentLeg
from callm_voice.pipeline.mouth import LineOutput, Sentences, Voice
from callm_voice.pipeline.smart_turn import SmartTurn
from callm_voice.pipeline.spec import PipelineSpec
from callm_voice.speech import endpointing as ep
from callm_voice.speech.engines import SttEngine, TtsEngine, Vad
from callm_voice.speech.factory import make_endpointer
from callm_voice.speech.sentences import SentenceSplitter
from callm_voice.speech.spoken import to_spoken

START_LIMIT_S = 30


class PipecatAgent:
    """One agent on the line for one call. `start`, then the line runs, then `stop`.

    Args:
        spec: the pipeline.
        rate_hz: of the line; the whole pipeline runs at it, so nothing inside resamples as a stream.
        desk: the front desk of this call.
        on_played: called with the agent's words as they were played.
    """

    def __init__(
        self,
        spec: PipelineSpec,
        *,
        rate_hz: int,
        stt: SttEngine,
        vad: Vad,
        tts: TtsEngine,
        desk: DeskAgent,
        model_name: str,
        clock: Clock,
        log: EventLog,
        control: CallControl,
        on_played: Callable[[str], None],
    ) -> None:
        self._floor = Floor(barge_in=spec.barge_in.enabled)
        self._input = LineInput(rate_hz=rate_hz)
        self._recogniser = Recogniser(stt, clock=clock, log=log, control=control)
        self._endpointing = spec.endpointing
        self._smart = SmartTurn(rate_hz=rate_hz, clock=clock) if spec.endpointing.kind == "smart_turn" else None
        self._questions: set[asyncio.Task[None]] = set()
        self._log = log
        self.leg = AgentLeg(
            rate_hz=rate_hz,
            endpointer=make_endpointer(spec.endpointing, vad, rate_hz=rate_hz),
            floor=self._floor,
            log=log,
            to_pipeline=self._input.deliver,
            on_played=on_played,
            on_question=self._ask,
            keypad=_keypad(spec, rate_hz),
        )
        service = DeskService(
            desk,
            model_name=model_name,
            max_turns=spec.limits.max_turns,
            floor=self._floor,
            played=self.leg.played,
            control=control,
        )
        mouth = _mouth(spec, tts, rate_hz=rate_hz, clock=clock, floor=self._floor, log=log, control=control)
        pipeline = Pipeline([self._input, self._recogniser, service, *mouth, LineOutput(self.leg)])
        self._worker = PipelineWorker(
            pipeline,
            name="agent",
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
            params=PipelineParams(audio_in_sample_rate=rate_hz, audio_out_sample_rate=rate_hz),
        )
        self._runner = WorkerRunner(handle_sigint=False, handle_sigterm=False)
        self._control = control
        self._worker.add_event_handler("on_pipeline_error", self._failed)
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Set the pipeline up; returns when it takes frames."""
        if self._smart is not None:
            await self._smart.warm()
        started = asyncio.Event()

        async def on_started(*_: object) -> None:  # Pipecat awaits coroutine functions only
            started.set()

        self._worker.add_event_handler("on_pipeline_started", on_started)
        await self._runner.add_workers(self._worker)
        self._running = asyncio.create_task(self._runner.run(), name="pipecat-runner")
        waiter = asyncio.create_task(started.wait())
        await asyncio.wait({waiter, self._running}, return_when=asyncio.FIRST_COMPLETED, timeout=START_LIMIT_S)
        waiter.cancel()
        if not started.is_set():
            await self.stop()
            raise HarnessError(f"the agent's pipeline did not start within {START_LIMIT_S} s", stage="desk")

    async def _failed(self, _worker: PipelineWorker, frame: ErrorFrame) -> None:
        """Pipecat catches what its processors raise; a call that goes on without one of them is worth nothing."""
        self._control.fail(HarnessError(f"the agent's pipeline broke: {frame.error}", stage="desk"))

    @property
    def endpointing_info(self) -> EngineInfo:
        """Endpointing as an engine of the record, with what its questions cost so far."""
        settings = self._endpointing.model_dump()
        if self._smart is None:
            return EngineInfo(engine=self._endpointing.kind, settings=settings)
        return self._smart.info.model_copy(update={"settings": settings, "work": self._smart.work})

    @property
    def stt_work(self) -> dict[str, float]:
        """What became of the transcriptions that were begun ahead of the endpoint."""
        return self._recogniser.work

    def _ask(self, question: ep.TurnAsked, turn_id: int) -> None:
        """From the leg, on the line's tick."""
        task = asyncio.create_task(self._judge(question, turn_id), name=f"smart-turn-{question.question}")
        self._questions.add(task)
        task.add_done_callback(self._questions.discard)

    async def _judge(self, question: ep.TurnAsked, turn_id: int) -> None:
        if self._smart is None:
            return
        try:
            judgement = await self._smart.judge(question.pcm)
        except CallmError as error:
            self._control.fail(error)
            return
        self._log.emit(
            TurnJudged,
            turn_id=turn_id,
            complete=judgement.complete,
            probability=judgement.probability,
            infer_ms=judgement.infer_ms,
            applied=self.leg.decide(question.question, complete=judgement.complete),
        )

    def greet(self) -> None:
        """The line is open: let the desk speak first."""
        self._input.deliver(GreetFrame())

    async def stop(self) -> None:
        """Cancel the pipeline and wait until all its tasks are gone."""
        for task in self._questions:
            task.cancel()
        if self._questions:
            await asyncio.wait(self._questions)
        if self._smart is not None:
            await self._smart.aclose()
        await self._worker.cancel(reason="the call is over")
        if self._running is not None:
            with suppress(asyncio.CancelledError):
                await self._running


def _keypad(spec: PipelineSpec, rate_hz: int) -> Keypad | None:
    if not spec.dtmf.enabled:
        return None
    return Keypad(DtmfDetector(rate_hz), rate_hz=rate_hz, interdigit_ms=spec.dtmf.interdigit_ms)


def _mouth(
    spec: PipelineSpec,
    tts: TtsEngine,
    *,
    rate_hz: int,
    clock: Clock,
    floor: Floor,
    log: EventLog,
    control: CallControl,
) -> tuple[Sentences, Voice]:
    """From the streaming answer to sound."""
    sentences = Sentences(
        lambda: SentenceSplitter(early_clause_words=spec.sentences.early_clause_words),
        to_spoken=to_spoken,
        floor=floor,
        log=log,
    )
    voice = Voice(
        tts,
        rate_hz=rate_hz,
        lead_silence_ms=spec.sentences.lead_silence_ms,
        clock=clock,
        floor=floor,
        log=log,
        control=control,
    )
    return sentences, voice
