"""Typed events of one call on the line's clock: what `events.jsonl` holds, one JSON object a line.

`t_ms` is milliseconds since line tick 0; what happens before the line starts has a negative time. `turn_id` 0 is the
agent's greeting; turn n is the caller's n-th turn and all that the agent does because of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter

from callm_voice.core.agent_events import AgentCleared as AgentCleared
from callm_voice.core.agent_events import AgentHeard as AgentHeard
from callm_voice.core.agent_events import AgentSpeechEnded as AgentSpeechEnded
from callm_voice.core.agent_events import AgentSpeechStarted as AgentSpeechStarted
from callm_voice.core.clock import Clock
from callm_voice.core.event_base import Event as Event
from callm_voice.core.line_events import ConcealedBy as ConcealedBy
from callm_voice.core.line_events import Direction as Direction
from callm_voice.core.line_events import LineEnded as LineEnded
from callm_voice.core.line_events import LineLag as LineLag
from callm_voice.core.line_events import LineLoss as LineLoss
from callm_voice.core.line_events import PacketCounts as PacketCounts
from verifier.trace import JsonObject, clean_json

Cause = Literal["greeting", "caller_turn", "tool_result", "handoff"]
Mark = Literal["stream_opened", "first_chunk", "first_reasoning", "first_token", "first_speakable", "last_token"]
EndReason = Literal[
    "caller_hangup", "agent_hangup", "max_duration", "max_turns", "silence", "engine_error", "model_error",
    "max_cost", "harness_error", "cancelled",
]  # fmt: skip


class CallStarted(Event):
    type: Literal["call_started"] = "call_started"
    task: str
    model: str
    line: str
    pipeline: str
    pace: str
    seed: int


class CallEnded(Event):
    type: Literal["call_ended"] = "call_ended"
    reason: EndReason
    detail: str = ""


class UtteranceStarted(Event):
    """The caller began to speak: the first frame of the utterance left the caller's leg."""

    type: Literal["utterance_started"] = "utterance_started"
    utterance_id: int
    said: str
    spoken: str
    """The spoken form that was synthesised."""
    beat: str = ""
    voice: str = ""


class UtteranceEnded(Event):
    """The last frame of the utterance left the caller's leg (or it was cut)."""

    type: Literal["utterance_ended"] = "utterance_ended"
    utterance_id: int
    cut: bool = False


class DtmfSent(Event):
    """The caller pressed keys: their tones left its leg. `t_ms` is the beginning of the first tone."""

    type: Literal["dtmf_sent"] = "dtmf_sent"
    utterance_id: int
    digits: str
    """Those whose tones were played to their ends."""


class DtmfHeard(Event):
    """The agent recognised one pressed key on the line, behind codec and network."""

    type: Literal["dtmf_heard"] = "dtmf_heard"
    turn_id: int
    digit: str


class CallerNote(Event):
    """What the caller decided and why: matched beat, waits, prods, hangs up."""

    type: Literal["caller_note"] = "caller_note"
    note: str


class VadStarted(Event):
    """The agent's VAD decided that the caller speaks."""

    type: Literal["vad_started"] = "vad_started"
    turn_id: int


class VadStopped(Event):
    """The agent's VAD decided that the caller is silent."""

    type: Literal["vad_stopped"] = "vad_stopped"
    turn_id: int
    last_speech_ms: float
    """End of the last frame that the VAD counted as speech, line clock: its own hangover is not in this time."""


class TurnEnded(Event):
    """Endpointing decided that the caller's turn ended."""

    type: Literal["turn_ended"] = "turn_ended"
    turn_id: int
    why: Literal["silence", "max_turn", "smart_turn", "keypad", "text"]
    audio_ms: float
    """Length of the segment that goes to the recogniser, pre-roll included."""


class TranscriptReady(Event):
    type: Literal["transcript_ready"] = "transcript_ready"
    turn_id: int
    heard: str
    """Empty when nothing was recognised or a guard rejected it."""
    raw: str = ""
    """Before guards."""
    rejected: str | None = None
    """The guard that rejected text: `no_speech`, `low_confidence`, `loop`, `non_speech`."""
    decode_ms: float = 0.0
    audio_ms: float = 0.0
    speculative: bool = False
    """It was begun while endpointing still waited; it is never given out before the endpoint."""
    started_ms: float | None = None
    """When the decoding began, line clock; None: not told."""


class SpeculationDropped(Event):
    """A transcription was begun in a pause, and then the caller spoke on."""

    type: Literal["speculation_dropped"] = "speculation_dropped"
    turn_id: int
    started_ms: float | None = None
    """When its decoding began, line clock; None: it never began."""
    wasted_ms: float = 0.0
    """How long it was decoded for nothing."""


class TurnJudged(Event):
    """A model was asked whether the caller's turn is complete."""

    type: Literal["turn_judged"] = "turn_judged"
    turn_id: int
    complete: bool
    probability: float
    infer_ms: float
    applied: bool = True
    """False: the caller had spoken on before the answer came."""


class BargeIn(Event):
    """The caller spoke over the agent; playout was cleared."""

    type: Literal["barge_in"] = "barge_in"
    turn_id: int
    """The agent turn that was interrupted."""
    dropped_ms: float = 0.0
    """Agent audio that was synthesised and never played."""


class InferenceStarted(Event):
    """The request was handed to the HTTP client; TTFT counts from here."""

    type: Literal["inference_started"] = "inference_started"
    inference_id: int
    turn_id: int
    cause: Cause
    role: str
    model: str
    messages: int
    tools: int


class InferenceMark(Event):
    """A moment in the answer stream, taken when the bytes were read."""

    type: Literal["inference_mark"] = "inference_mark"
    inference_id: int
    mark: Mark


class InferenceEnded(Event):
    type: Literal["inference_ended"] = "inference_ended"
    inference_id: int
    text: str = ""
    tool_calls: int = 0
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    recovered_tool_calls: int = 0
    interrupted: bool = False
    error: str | None = None
    notes: tuple[str, ...] = ()
    """Irregularities of the answer's stream that were mended."""


class ToolStarted(Event):
    type: Literal["tool_started"] = "tool_started"
    call_id: str
    turn_id: int
    inference_id: int
    """From 1; 0: the agent runs elsewhere, and its inferences cannot be seen."""
    role: str
    name: str
    args: JsonObject


class ToolFinished(Event):
    type: Literal["tool_finished"] = "tool_finished"
    call_id: str
    name: str
    ok: bool
    output: JsonObject
    error: str | None = None
    duration_ms: float = 0.0


class HandedOff(Event):
    type: Literal["handed_off"] = "handed_off"
    turn_id: int
    from_role: str
    to_role: str


class SentenceReady(Event):
    """A sentence of the agent's was complete and went to synthesis."""

    type: Literal["sentence_ready"] = "sentence_ready"
    sentence_id: int
    turn_id: int
    inference_id: int
    text: str
    spoken: str = ""


class TtsFirstAudio(Event):
    """The first samples of the sentence came out of the synthesiser."""

    type: Literal["tts_first_audio"] = "tts_first_audio"
    sentence_id: int
    turn_id: int
    leading_silence_ms: float = 0.0


class PlayoutStarted(Event):
    """The first frame of the sentence left the agent's leg."""

    type: Literal["playout_started"] = "playout_started"
    sentence_id: int
    turn_id: int


class PlayoutEnded(Event):
    """The last frame of the sentence left the agent's leg, or it was cut."""

    type: Literal["playout_ended"] = "playout_ended"
    sentence_id: int
    turn_id: int
    played: str
    """The words whose audio was played; whole words only."""
    cut: bool = False


class Failed(Event):
    """Something broke; the call ends or goes on as the outcome says."""

    type: Literal["failed"] = "failed"
    stage: str
    fault: str
    message: str
    retry_after_s: float | None = None
    """How long the model's server asked to be left alone."""


AnyEvent = Annotated[
    CallStarted | CallEnded | UtteranceStarted | UtteranceEnded | DtmfSent | DtmfHeard | CallerNote
    | VadStarted | VadStopped | TurnEnded
    | TranscriptReady | SpeculationDropped | TurnJudged | BargeIn | InferenceStarted | InferenceMark | InferenceEnded
    | ToolStarted | ToolFinished | HandedOff | SentenceReady | TtsFirstAudio | PlayoutStarted | PlayoutEnded
    | AgentSpeechStarted | AgentSpeechEnded | AgentCleared | AgentHeard | LineLag | LineLoss | LineEnded | Failed,
    Field(discriminator="type"),
]  # fmt: skip
EVENT = TypeAdapter[AnyEvent](AnyEvent)
E_ = TypeVar("E_", bound=Event)


class EventLog:
    """The events of one call, in the order of emission, and who listens to them live.

    Args:
        clock: the call's clock. Events that are taken before `start_line` wait for it: they get their times, which are
            negative, and reach the listeners then.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._zero_s: float | None = None
        self._early: list[tuple[float, type[Event], dict[str, Any]]] = []
        self.events: list[Event] = []
        self._listeners: list[Callable[[Event], None]] = []

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with each event as it happens. A listener must be quick and must not raise."""
        self._listeners.append(listener)

    def start_line(self, zero_s: float) -> None:
        """Fix line tick 0 at `zero_s` on the clock; events taken before get their (negative) times now."""
        self._zero_s = zero_s
        for taken_s, kind, fields in self._early:
            self._append(kind(t_ms=self.to_ms(taken_s), **fields))
        self._early.clear()

    def to_ms(self, t_s: float) -> float:
        """Clock seconds to milliseconds since tick 0, to the microsecond."""
        zero_s = self._zero_s if self._zero_s is not None else t_s
        return round((t_s - zero_s) * 1000, 3)

    def to_s(self, t_ms: float) -> float:
        """The inverse of `to_ms`, for what happened at a known tick; now, while the line has not started."""
        return self._clock.now_s() if self._zero_s is None else self._zero_s + t_ms / 1000

    def now_ms(self) -> float:
        """Now, in milliseconds since tick 0."""
        return self.to_ms(self._clock.now_s())

    def emit(self, kind: type[E_], *, at_s: float | None = None, **fields: Any) -> None:
        """Take one event now, or with the time `at_s` (clock seconds) at which it happened."""
        taken_s = self._clock.now_s() if at_s is None else at_s
        if self._zero_s is None:
            self._early.append((taken_s, kind, fields))
            return
        self._append(kind(t_ms=self.to_ms(taken_s), **fields))

    def of(self, kind: type[E_]) -> list[E_]:
        """All events of one kind so far."""
        return [e for e in self.events if isinstance(e, kind)]

    def _append(self, event: Event) -> None:
        self.events.append(event)
        for listener in self._listeners:
            listener(event)


def to_jsonl(events: list[Event]) -> str:
    """The text of `events.jsonl`, ordered by time; ties keep the order of emission."""
    return "".join(json_line(e) for e in sorted(events, key=lambda e: e.t_ms))


def from_jsonl(text: str) -> list[Event]:
    """The inverse of `to_jsonl`.

    Raises:
        pydantic.ValidationError: a line is not an event.
    """
    # Not splitlines(): JSON text may hold U+2028 and other characters that Python takes for line ends.
    return [EVENT.validate_json(line) for line in text.split("\n") if line]


def json_line(event: Event) -> str:
    """One line of `events.jsonl`, with its end."""
    return json.dumps(clean_json(event.model_dump(mode="json"), depth=-2), ensure_ascii=False) + "\n"
