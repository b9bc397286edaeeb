"""From text to the line: sentences as they complete, synthesis, and the transport's output side."""

from __future__ import annotations

from collections.abc import Callable

from pipecat.frames.frames import Frame, InterruptionFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from callm_voice.audio.resample import resample_whole
from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError, EngineError
from callm_voice.core.events import EventLog, SentenceReady, TtsFirstAudio
from callm_voice.pipeline.control import CallControl
from callm_voice.pipeline.floor import Floor
from callm_voice.pipeline.frames import AgentTextEndFrame, AgentTextFrame, SentenceAudioFrame, SentenceFrame
from callm_voice.pipeline.leg import AgentLeg
from callm_voice.speech.engines import Pcm, TtsEngine
from callm_voice.speech.sentences import SentenceSplitter

SILENCE_BELOW = 200
"""Samples under this (int16, about -44 dBov) count as leading silence of a synthesis."""
SOUND_FROM = 33
"""A sentence whose samples all lie under this (int16, -60 dBov) was not spoken: its voice is broken."""


class Sentences(FrameProcessor):
    """Cuts the streaming answer into sentences and lets each go as soon as it is complete."""

    def __init__(
        self,
        make_splitter: Callable[[], SentenceSplitter],
        *,
        to_spoken: Callable[[str], str],
        floor: Floor,
        log: EventLog,
    ) -> None:
        super().__init__()
        self._make_splitter = make_splitter
        self._splitter = make_splitter()
        self._to_spoken = to_spoken
        self._floor, self._log = floor, log
        self._next_id = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._splitter = self._make_splitter()
        if isinstance(frame, AgentTextFrame):
            for text in self._splitter.feed(frame.text):
                await self._send(text, frame)
        elif isinstance(frame, AgentTextEndFrame):
            for text in self._splitter.flush():
                await self._send(text, frame)
            self._splitter = self._make_splitter()
        else:
            await self.push_frame(frame, direction)

    async def _send(self, text: str, source: AgentTextFrame | AgentTextEndFrame) -> None:
        spoken = self._to_spoken(text)
        if source.epoch != self._floor.epoch or not any(c.isalnum() for c in spoken):
            return
        self._next_id += 1
        self._floor.pending_sentences += 1
        self._log.emit(
            SentenceReady,
            sentence_id=self._next_id,
            turn_id=source.turn_id,
            inference_id=source.inference_id,
            text=text,
            spoken=spoken,
        )
        await self.push_frame(
            SentenceFrame(
                sentence_id=self._next_id,
                turn_id=source.turn_id,
                inference_id=source.inference_id,
                epoch=source.epoch,
                text=text,
                spoken=spoken,
            )
        )


class Voice(FrameProcessor):
    """Synthesis of one sentence at a time, off the event loop, resampled as a whole to the line's rate.

    Whole-sentence resampling has no state to carry and no tail to lose; the next sentence is synthesised while this one
    plays.

    Args:
        lead_silence_ms: silence that the first sentence of an answer may begin with; between sentences the voice's own
            silence is the pause. None: all that it makes.
    """

    def __init__(
        self,
        engine: TtsEngine,
        *,
        rate_hz: int,
        lead_silence_ms: int | None,
        clock: Clock,
        floor: Floor,
        log: EventLog,
        control: CallControl,
    ) -> None:
        super().__init__()
        self._engine, self._rate_hz, self._lead_silence_ms = engine, rate_hz, lead_silence_ms
        self._clock, self._floor, self._log, self._control = clock, floor, log, control
        self._answer: int | None = None
        """The inference whose first sentence was spoken last."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, SentenceFrame):
            await self.push_frame(frame, direction)
            return
        if frame.epoch != self._floor.epoch:
            return
        try:
            pcm = await self._clock.in_thread("tts", self._synthesise, frame.spoken)
        except CallmError as error:
            self._control.fail(error)
            return
        if self._answer != frame.inference_id and self._lead_silence_ms is not None:
            pcm = without_lead(pcm, self._rate_hz, keep_ms=self._lead_silence_ms)
        self._answer = frame.inference_id
        self._log.emit(
            TtsFirstAudio,
            sentence_id=frame.sentence_id,
            turn_id=frame.turn_id,
            leading_silence_ms=leading_silence_ms(pcm, self._rate_hz),
        )
        await self.push_frame(SentenceAudioFrame(sentence=frame, pcm=pcm))

    def _synthesise(self, spoken: str) -> Pcm:
        pcm = resample_whole(self._engine.synthesise(spoken), self._engine.rate_hz, self._rate_hz)
        if abs(pcm.astype("int32")).max(initial=0) < SOUND_FROM:
            raise EngineError(f"the agent's voice gave silence for {spoken[:80]!r}", stage="tts")
        return pcm


class LineOutput(FrameProcessor):
    """The transport's output: sentences go to the leg's playout queue, which the line empties tick by tick."""

    def __init__(self, leg: AgentLeg) -> None:
        super().__init__()
        self._leg = leg

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, SentenceAudioFrame):
            s = frame.sentence
            self._leg.play(
                s.sentence_id,
                turn_id=s.turn_id,
                inference_id=s.inference_id,
                epoch=s.epoch,
                text=s.text,
                pcm=frame.pcm,
            )
        await self.push_frame(frame, direction)


def leading_silence_ms(pcm: Pcm, rate_hz: int) -> float:
    """Milliseconds before the first sample of at least `SILENCE_BELOW`; all of a voice that is softer throughout."""
    first = _first_loud(pcm)
    return round((pcm.size if first is None else first) * 1000 / rate_hz, 3)


def without_lead(pcm: Pcm, rate_hz: int, *, keep_ms: int) -> Pcm:
    """(samples,) int16 without what lies more than `keep_ms` before the first sample of at least `SILENCE_BELOW`.

    A voice that is softer than this throughout stays as it is.
    """
    first = _first_loud(pcm)
    return pcm if first is None else pcm[max(0, first - keep_ms * rate_hz // 1000) :]


def _first_loud(pcm: Pcm) -> int | None:
    loud = (abs(pcm.astype("int32")) >= SILENCE_BELOW).nonzero()[0]
    return int(loud[0]) if loud.size else None
