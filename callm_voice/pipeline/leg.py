"""The agent's end of the line: what it hears goes to endpointing, what it says comes from the playout queue.

Everything here happens on the line's tick, so a barge-in stops playout on the very tick on which the VAD decides, and
the times in the events are those of the samples, not of callbacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from callm_voice.core.events import (
    BargeIn,
    DtmfHeard,
    EventLog,
    PlayoutEnded,
    PlayoutStarted,
    TurnEnded,
    VadStarted,
    VadStopped,
)
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.line.playout import Ended, Notice, PlayoutQueue, Started, whole_words
from callm_voice.pipeline.floor import Floor
from callm_voice.pipeline.keypad import Keypad
from callm_voice.speech import endpointing as ep
from callm_voice.speech.engines import Pcm


@dataclass(frozen=True)
class Interrupted:
    """For the pipeline: the caller spoke over the agent."""


@dataclass(frozen=True)
class CallerTurn:
    """For the pipeline: one whole turn of the caller's."""

    turn_id: int
    pcm: Pcm
    """Empty: there were only keys."""
    start_ms: float
    end_ms: float
    keys: str = ""
    """Keys that were pressed in it."""


@dataclass(frozen=True)
class CallerPause:
    """For the pipeline: the caller's turn as far as it goes; it may be over."""

    turn_id: int
    pcm: Pcm
    start_ms: float
    end_ms: float


@dataclass(frozen=True)
class CallerResumed:
    """For the pipeline: the turn of the last `CallerPause` was not over."""


TurnEndReason = Literal["silence", "max_turn", "smart_turn", "keypad"]
Happening = Interrupted | CallerTurn | CallerPause | CallerResumed


@dataclass
class _Sentence:
    turn_id: int
    inference_id: int
    text: str
    total_samples: int
    start_ms: float | None = None


@dataclass
class PlayedLog:
    """The words of the agent's that were really played, by inference, in the order of playing."""

    by_inference: dict[int, list[str]] = field(default_factory=dict)

    def add(self, inference_id: int, words: str) -> None:
        self.by_inference.setdefault(inference_id, [])
        if words:
            self.by_inference[inference_id].append(words)

    def texts(self) -> dict[int, str]:
        return {i: " ".join(parts) for i, parts in self.by_inference.items()}


class AgentLeg:
    """A `Leg` (line/leg.py) for an agent that runs in this process.

    Args:
        rate_hz: of the line.
        endpointer: cuts what is heard into turns.
        floor: shared with the processors.
        log: events.
        to_pipeline: takes what happened to the caller's turn, must not block.
        on_question: asked whether the caller's turn is complete; answers by `decide`. Must not block.
        on_played: called with the words of each sentence once they were played (or with those that were, if cut).
        keypad: recognises pressed keys; None: tones are sound like any other.
    """

    def __init__(
        self,
        *,
        rate_hz: int,
        endpointer: ep.Endpointer,
        floor: Floor,
        log: EventLog,
        to_pipeline: Callable[[Happening], None],
        on_played: Callable[[str], None],
        on_question: Callable[[ep.TurnAsked, int], None] | None = None,
        keypad: Keypad | None = None,
    ) -> None:
        self.rate_hz = rate_hz
        self.playout = PlayoutQueue(rate_hz * PTIME_MS // 1000)
        self.played = PlayedLog()
        self._endpointer = endpointer
        self._floor = floor
        self._log = log
        self._to_pipeline = to_pipeline
        self._on_played, self._on_question = on_played, on_question
        self._keypad = keypad
        self._speaking = False
        """By the endpointer."""
        self._held: list[ep.TurnEnded] = []
        """Turns that ended while keys were being pressed: they are one turn with them."""
        self._sentences: dict[int, _Sentence] = {}
        self._ticks = 0
        """Tick n pushes the packet that ends at n * 20 ms."""

    # -- the line's side ---------------------------------------------------------------------------------------------

    def push(self, frame: Frame) -> None:
        now_ms = float(self._ticks * PTIME_MS)
        for key in self._keypad.push(frame, now_ms) if self._keypad else ():
            self._pressed(key)
        for event in self._endpointer.push(frame, now_ms):
            self._heard(event)
        if self._keypad and self._keypad.complete(now_ms) and not self._speaking:
            self._keys_complete(self._keypad, now_ms)
        self._ticks += 1

    def pull(self) -> Frame | None:
        frame, notices = self.playout.pull()
        for notice in notices:
            self._notice(notice)
        self._floor.agent_playing = frame is not None
        return frame

    @property
    def underruns(self) -> int:
        """Packets that were owed in the middle of a sentence."""
        return self.playout.underruns

    def clear(self) -> None:
        for notice in self.playout.clear():
            self._notice(notice)
        for tag in list(self._sentences):
            del self._sentences[tag]

    # -- the pipeline's side -----------------------------------------------------------------------------------------

    def play(self, sentence_id: int, *, turn_id: int, inference_id: int, epoch: int, text: str, pcm: Pcm) -> bool:
        """Queue one sentence; False if it belongs to an answer that was interrupted in the meantime."""
        if epoch != self._floor.epoch:
            return False
        self._floor.pending_sentences = max(0, self._floor.pending_sentences - 1)
        self._sentences[sentence_id] = _Sentence(turn_id, inference_id, text, len(pcm))
        self.playout.put(sentence_id, pcm)
        self.playout.end(sentence_id)
        return True

    def decide(self, question: int, *, complete: bool) -> bool:
        """Whether the caller's turn is complete; it ends on the next tick. False: the caller has spoken on since."""
        return self._endpointer.decide(question, complete=complete)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _heard(self, event: ep.EndpointEvent) -> None:
        if isinstance(event, ep.SpeechStarted):
            self._speaking = True
            interrupted_turn = None if self._pressing else self._begin_turn()
            self._log.emit(VadStarted, turn_id=self._floor.turn_id)
            self._interrupt(interrupted_turn)
        elif isinstance(event, ep.SpeechStopped):
            self._log.emit(VadStopped, turn_id=self._floor.turn_id, last_speech_ms=event.last_speech_ms)
        elif isinstance(event, ep.SilenceBegan):
            if not self._pressing:
                self._to_pipeline(CallerPause(self._floor.turn_id, event.pcm, event.start_ms, event.end_ms))
        elif isinstance(event, ep.SpeechResumed):
            self._to_pipeline(CallerResumed())
        elif isinstance(event, ep.TurnAsked) and self._on_question is not None:
            self._on_question(event, self._floor.turn_id)
        elif isinstance(event, ep.TurnEnded):
            self._speaking = False
            if self._pressing:
                self._held.append(event)
                return
            if self._keypad:
                self._keypad.forget()
            self._end_turn(event.why, CallerTurn(self._floor.turn_id, event.pcm, event.start_ms, event.end_ms))

    def _begin_turn(self) -> int | None:
        """The caller takes the floor; the turn of the agent's that it thereby interrupts, or None."""
        interrupted_turn = self._floor.turn_id
        return interrupted_turn if self._floor.caller_starts() else None

    def _interrupt(self, turn_id: int | None) -> None:
        if turn_id is not None:
            dropped_ms = self.playout.queued_samples * 1000 / self.rate_hz
            self.clear()
            self._log.emit(BargeIn, turn_id=turn_id, dropped_ms=round(dropped_ms, 3))
            self._to_pipeline(Interrupted())

    def _end_turn(self, why: TurnEndReason, turn: CallerTurn) -> None:
        self._floor.caller_stops()
        audio_ms = len(turn.pcm) * 1000 / self.rate_hz
        self._log.emit(TurnEnded, turn_id=turn.turn_id, why=why, audio_ms=audio_ms)
        self._to_pipeline(turn)

    # -- keys --------------------------------------------------------------------------------------------------------

    @property
    def _pressing(self) -> bool:
        """Whether keys of the present turn were recognised; it does not end before no more come."""
        return self._keypad is not None and bool(self._keypad.keys)

    def _pressed(self, key: str) -> None:
        interrupted_turn = None if self._floor.caller_speaking else self._begin_turn()
        self._log.emit(DtmfHeard, turn_id=self._floor.turn_id, digit=key)
        self._interrupt(interrupted_turn)
        if self._speaking:
            self._to_pipeline(CallerResumed())  # what was begun ahead has the tones in it, or is not all

    def _keys_complete(self, keypad: Keypad, now_ms: float) -> None:
        """No more keys come and the caller does not speak: its turn is over."""
        words = [keypad.muted(turn.pcm, turn.start_ms) for turn in self._held]
        pcm = np.concatenate(words) if words else np.zeros(0, np.int16)
        start_ms, end_ms = (self._held[0].start_ms, self._held[-1].end_ms) if self._held else (now_ms, now_ms)
        if not keypad.audible(pcm):
            pcm = pcm[:0]
        self._held.clear()
        turn = CallerTurn(self._floor.turn_id, pcm, start_ms, end_ms, keypad.take())
        keypad.forget()
        self._end_turn("keypad", turn)

    def _notice(self, notice: Notice) -> None:
        sentence = self._sentences.get(notice.tag)
        if sentence is None:
            return
        if isinstance(notice, Started):
            self._log.emit(PlayoutStarted, sentence_id=notice.tag, turn_id=sentence.turn_id)
        elif isinstance(notice, Ended):
            played = whole_words(sentence.text, notice.samples_played, notice.samples_total)
            self.played.add(sentence.inference_id, played)
            self._log.emit(
                PlayoutEnded, sentence_id=notice.tag, turn_id=sentence.turn_id, played=played, cut=notice.cut
            )
            del self._sentences[notice.tag]
            if played:
                self._on_played(played)
