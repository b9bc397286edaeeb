"""When a turn starts and when it has ended: a detector's confidences in, events out. No clock, no I/O.

Times are milliseconds on the line's clock. `last_speech_ms` is the end of the last frame that the detector itself
called speech. A hangover of the detector's own (webrtcvad: 80-120 ms) makes it late by that much against the true end
of speech; it is not subtracted, so it shows in every figure that is taken from samples on the wire.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from callm_voice.audio.pcm import level_dbov
from callm_voice.core.errors import HarnessError
from callm_voice.speech.engines import Pcm, Vad
from callm_voice.speech.settings import EndpointingSettings

Why = Literal["silence", "max_turn", "smart_turn"]


@dataclass(frozen=True)
class SpeechStarted:
    """A turn began (and, over the agent's voice, a barge-in)."""

    t_ms: float
    """When it was decided."""
    speech_ms: float
    """Start of the first speech frame."""


@dataclass(frozen=True)
class SpeechStopped:
    """No speech for `stop_ms`."""

    t_ms: float
    last_speech_ms: float


@dataclass(frozen=True)
class SilenceBegan:
    """No speech for `speculate_ms`: the segment of the turn's end begins with `pcm` unless `SpeechResumed` comes first.

    What it may have behind `pcm` is silence, and nothing if `speculate_ms` is at least `post_roll_ms`.
    """

    t_ms: float
    last_speech_ms: float
    pcm: Pcm
    start_ms: float
    end_ms: float


@dataclass(frozen=True)
class SpeechResumed:
    """Speech again before the turn ended."""

    t_ms: float


@dataclass(frozen=True)
class TurnAsked:
    """No speech for `stop_ms`, and somebody is to tell `Endpointer.decide` whether the turn is complete."""

    t_ms: float
    question: int
    pcm: Pcm


@dataclass(frozen=True)
class TurnEnded:
    """The turn is over; `pcm` is the segment for the recogniser and lies at `start_ms`..`end_ms`."""

    t_ms: float
    why: Why
    pcm: Pcm
    start_ms: float
    end_ms: float
    last_speech_ms: float


EndpointEvent = SpeechStarted | SpeechStopped | SilenceBegan | SpeechResumed | TurnAsked | TurnEnded


@dataclass
class _Turn:
    speech_ms: float
    """Start of the first speech frame."""
    last_speech_ms: float
    heard_ms: float = 0.0
    """Sum of the frames that the detector called speech."""
    started: bool = False
    stopped: bool = False
    speculated: bool = False
    question: int | None = None
    """The one that was asked in this pause."""
    complete: bool | None = None
    """The answer to it."""

    def resume(self) -> None:
        """The pause is over: nothing that was decided in it counts."""
        self.stopped = self.speculated = False
        self.question = self.complete = None


class Endpointer:
    """Cuts what one leg hears into turns.

    Args:
        vad: the detector; it may want frames of another length than 20 ms.
        settings: see `EndpointingSettings`.
        rate_hz: of the frames.
    """

    def __init__(self, vad: Vad, settings: EndpointingSettings, *, rate_hz: int) -> None:
        self._vad, self._settings, self._rate_hz = vad, settings, rate_hz
        self._vad_samples = rate_hz * vad.frame_ms // 1000
        self._recent: deque[float] = deque(maxlen=settings.smooth_frames)
        self._audio: deque[Pcm] = deque()
        self._audio_start_ms = 0.0
        self._now_ms: float | None = None
        self._rest: Pcm = np.zeros(0, np.int16)
        self._turn: _Turn | None = None
        self._floor_ms = float("-inf")
        """End of the last segment: no sample belongs to two turns."""
        self._questions = 0
        lag_ms = vad.frame_ms * (settings.smooth_frames + 1) + settings.start_ms + settings.min_speech_ms
        self._keep_ms = settings.pre_roll_ms + 2 * lag_ms

    @property
    def in_turn(self) -> bool:
        """Whether a turn is open."""
        return self._turn is not None and self._turn.started

    def push(self, frame: Pcm, t_ms: float) -> list[EndpointEvent]:
        """Take one frame whose last sample lies at `t_ms`; what it made happen.

        Raises:
            HarnessError: time ran backwards.
        """
        self._keep(frame, t_ms)
        events: list[EndpointEvent] = []
        self._rest = np.concatenate([self._rest, frame]) if self._rest.size else frame
        while self._rest.size >= self._vad_samples:
            window, self._rest = self._rest[: self._vad_samples], self._rest[self._vad_samples :]
            events += self._step(window, t_ms - self._rest.size * 1000 / self._rate_hz)
        if self._turn is None:
            self._forget_before(t_ms - self._keep_ms)
        return events

    def decide(self, question: int, *, complete: bool) -> bool:
        """The answer to `TurnAsked`; it takes effect with the next frame. False: the caller has spoken on since."""
        if self._turn is None or self._turn.question != question:
            return False
        self._turn.complete = complete
        return True

    def reset(self) -> None:
        """Forget an open turn and the detector's state; the times go on."""
        self._vad.reset()
        self._recent.clear()
        self._turn = None

    def _keep(self, frame: Pcm, t_ms: float) -> None:
        """Store the frame. A gap in time (frames that never came) is silence."""
        frame_ms = frame.size * 1000 / self._rate_hz
        if self._now_ms is None:
            self._audio_start_ms = t_ms - frame_ms
        else:
            gap_ms = t_ms - frame_ms - self._now_ms
            if gap_ms < -0.5 * frame_ms:
                raise HarnessError(f"endpointing: a frame of {t_ms} ms after one of {self._now_ms} ms", stage="vad")
            if gap_ms > 0.5 * frame_ms:
                lost_ms = min(gap_ms, self._settings.max_turn_ms)
                self._audio_start_ms += gap_ms - lost_ms
                self._audio.append(np.zeros(int(lost_ms * self._rate_hz / 1000), np.int16))
        self._audio.append(frame)
        self._now_ms = t_ms

    def _step(self, window: Pcm, t_ms: float) -> list[EndpointEvent]:
        """One frame of the detector, which ends at `t_ms`."""
        gate_dbov = self._settings.min_level_dbov
        loud = gate_dbov is None or level_dbov(window) >= gate_dbov
        confidence = self._vad.confidence(window, self._rate_hz) if loud else 0.0
        self._recent.append(confidence)
        speech = sum(self._recent) / self._settings.smooth_frames >= self._settings.threshold
        heard = confidence >= self._settings.threshold
        if self._turn is None or not self._turn.started:
            return self._quiet(speech, heard, t_ms)
        return self._speaking(self._turn, speech, heard, t_ms)

    def _quiet(self, speech: bool, heard: bool, t_ms: float) -> list[EndpointEvent]:
        if not speech:
            self._turn = None
            return []
        frame_ms = self._vad.frame_ms
        if self._turn is None:
            heard_before = sum(c >= self._settings.threshold for c in self._recent)
            onset_ms = t_ms - frame_ms * self._frames_since_onset()
            self._turn = _Turn(max(onset_ms, self._floor_ms), t_ms, heard_ms=heard_before * frame_ms)
        elif heard:
            self._turn.heard_ms += frame_ms
        if heard:
            self._turn.last_speech_ms = t_ms
        long_enough = t_ms - self._turn.speech_ms >= self._settings.start_ms
        if not long_enough or self._turn.heard_ms < self._settings.min_speech_ms:
            return []
        self._turn.started = True
        return [SpeechStarted(t_ms, self._turn.speech_ms)]

    def _frames_since_onset(self) -> int:
        """How many of the recent frames, back from now, lie at or after the first one that was speech."""
        for age, confidence in enumerate(self._recent):
            if confidence >= self._settings.threshold:
                return len(self._recent) - age
        return 1

    def _speaking(self, turn: _Turn, speech: bool, heard: bool, t_ms: float) -> list[EndpointEvent]:
        events: list[EndpointEvent] = []
        if speech:
            if heard:
                turn.last_speech_ms = t_ms
            if turn.stopped or turn.speculated:
                events.append(SpeechResumed(t_ms))
            turn.resume()
        if t_ms - turn.speech_ms >= self._settings.max_turn_ms:
            return [*events, self._end(turn, t_ms, "max_turn")]
        if speech or heard:  # the average of the last frames is late: who speaks again in this one is not cut off
            return events
        return events + self._silent(turn, t_ms)

    def _silent(self, turn: _Turn, t_ms: float) -> list[EndpointEvent]:
        events: list[EndpointEvent] = []
        silent_ms = t_ms - turn.last_speech_ms
        smart = self._settings.kind == "smart_turn"
        if not turn.stopped and silent_ms >= self._settings.stop_ms:
            turn.stopped = True
            events.append(SpeechStopped(t_ms, turn.last_speech_ms))
            if smart:
                events.append(self._ask(turn, t_ms))
        if self._speculates(turn, silent_ms):
            turn.speculated = True
            pcm, start_ms, end_ms = self._segment(turn, t_ms)
            events.append(SilenceBegan(t_ms, turn.last_speech_ms, pcm, start_ms, end_ms))
        if turn.complete:
            events.append(self._end(turn, t_ms, "smart_turn"))
        elif silent_ms >= (self._settings.smart_max_silence_ms if smart else self._settings.silence_ms):
            if not turn.stopped:
                events.append(SpeechStopped(t_ms, turn.last_speech_ms))
            events.append(self._end(turn, t_ms, "silence"))
        return events

    def _ask(self, turn: _Turn, t_ms: float) -> TurnAsked:
        self._questions += 1
        turn.question = self._questions
        return TurnAsked(t_ms, turn.question, self._segment(turn, t_ms)[0])

    def _speculates(self, turn: _Turn, silent_ms: float) -> bool:
        """Whether the audio goes out now. Unless set otherwise, a model that judges the turn is waited for."""
        speculate_ms = self._settings.speculate_ms
        if speculate_ms is None or turn.speculated or silent_ms < speculate_ms:
            return False
        return self._settings.kind == "silence" or self._settings.smart_beside_stt or turn.complete is False

    def _end(self, turn: _Turn, t_ms: float, why: Why) -> TurnEnded:
        pcm, start_ms, end_ms = self._segment(turn, t_ms)
        self._floor_ms = end_ms
        self._turn = None
        self._forget_before(end_ms)
        return TurnEnded(t_ms, why, pcm, start_ms, end_ms, turn.last_speech_ms)

    def _segment(self, turn: _Turn, t_ms: float) -> tuple[Pcm, float, float]:
        """The turn's samples with pre-roll and post-roll, and where they lie."""
        start_ms = max(turn.speech_ms - self._settings.pre_roll_ms, self._floor_ms, self._audio_start_ms)
        end_ms = min(turn.last_speech_ms + self._settings.post_roll_ms, t_ms)
        audio = np.concatenate(self._audio)
        first, last = (round((ms - self._audio_start_ms) * self._rate_hz / 1000) for ms in (start_ms, end_ms))
        return audio[first:last].copy(), start_ms, end_ms

    def _forget_before(self, t_ms: float) -> None:
        """Drop whole frames that end before `t_ms`."""
        while self._audio:
            frame_ms = self._audio[0].size * 1000 / self._rate_hz
            if self._audio_start_ms + frame_ms > t_ms:
                return
            self._audio.popleft()
            self._audio_start_ms += frame_ms
