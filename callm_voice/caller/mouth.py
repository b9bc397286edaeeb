"""One utterance of the caller's at a time, on its way to the line: sound, pressed keys, and the events of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from callm_voice.caller.base import Say
from callm_voice.caller.voice import SpokenLine
from callm_voice.core.events import DtmfSent, EventLog, UtteranceEnded, UtteranceStarted
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.line.playout import Ended, Notice, PlayoutQueue, Started


@dataclass(frozen=True)
class Utterance:
    """What is said, and its sound."""

    say: Say
    line: SpokenLine
    barge_in: bool = False


class Mouth:
    """Plays utterances, packet by packet, and writes down what was said and pressed.

    Args:
        rate_hz: of the line.
        voice: its name, for the events.
        on_ended: called when an utterance has ended or was cut; nothing is being said any more.
        on_said: see `CallerLeg`.
    """

    def __init__(
        self, log: EventLog, *, rate_hz: int, voice: Callable[[], str], on_ended: Callable[[Utterance, Ended], None],
        on_said: Callable[[str, float, float], None] | None,
    ) -> None:  # fmt: skip
        self._log, self._rate_hz, self._voice = log, rate_hz, voice
        self._on_ended, self._on_said = on_ended, on_said
        self._playout = PlayoutQueue(rate_hz * PTIME_MS // 1000)
        self.speaking: Utterance | None = None
        """What is being said."""
        self.key: str | None = None
        """The key whose tone is in the frame of the last `pull`; None: no key, or the pause behind one."""
        self.pressing = False
        """Whether a part of pressed keys was in that frame."""
        self._utterances = 0
        self._began_ms = 0.0
        """When the present utterance began, to the sample."""

    @property
    def underruns(self) -> int:
        """Packets that were owed in the middle of an utterance."""
        return self._playout.underruns

    def begin(self, utterance: Utterance) -> None:
        """Put an utterance into playout; its first packet leaves with the next `pull`."""
        self._utterances += 1
        self.speaking = utterance
        self._playout.put(self._utterances, utterance.line.pcm)
        self._playout.end(self._utterances)

    def pull(self, begin_ms: int) -> Frame | None:
        """The packet that begins then, on the line's clock."""
        speaking = self.speaking
        frame, notices = self._playout.pull()
        for notice in notices:
            self._notice(notice, begin_ms, begin_ms + PTIME_MS)
        self.pressing = speaking is not None and self._in_keys(speaking.line, begin_ms)
        self.key = self._key_of(speaking.line, begin_ms) if speaking is not None and self.pressing else None
        return frame

    def clear(self, now_ms: int) -> None:
        """Cut what is being said."""
        for notice in self._playout.clear():
            self._notice(notice, now_ms, now_ms)

    def _notice(self, notice: Notice, begin_ms: int, end_ms: int) -> None:
        """The first or last packet of an utterance left, or it was cut. `begin_ms`, `end_ms`: of that packet."""
        utterance = self.speaking
        if utterance is None:
            return
        if isinstance(notice, Started):
            self._began_ms = begin_ms + notice.offset_samples * 1000 / self._rate_hz
            self._started(utterance, notice.tag, begin_ms)
        elif isinstance(notice, Ended):
            self._pressed(utterance, notice)
            self._log.emit(UtteranceEnded, at_s=self._log.to_s(end_ms), utterance_id=notice.tag, cut=notice.cut)
            self.speaking = None
            self._on_ended(utterance, notice)

    def _started(self, utterance: Utterance, number: int, begin_ms: int) -> None:
        said, line = utterance.say, utterance.line
        self._log.emit(
            UtteranceStarted,
            at_s=self._log.to_s(begin_ms),
            utterance_id=number,
            said=said.text,
            spoken=line.spoken,
            beat=said.beat,
            voice=self._voice(),
        )
        if self._on_said is not None:
            for words in (stretch for stretch in line.stretches if not stretch.pressed):
                start_ms, end_ms = (begin_ms + n * 1000 / self._rate_hz for n in (words.start, words.end))
                self._on_said(words.text, start_ms, end_ms)

    def _in_keys(self, line: SpokenLine, begin_ms: float) -> bool:
        """Whether the packet that begins then has a part of pressed keys in it."""
        first = round((begin_ms - self._began_ms) * self._rate_hz / 1000)
        last = first + self._rate_hz * PTIME_MS // 1000
        return any(stretch.pressed and stretch.start < last and first < stretch.end for stretch in line.stretches)

    def _key_of(self, line: SpokenLine, begin_ms: float) -> str | None:
        """The key that sounds in the middle of the packet that begins then."""
        middle = round((begin_ms + PTIME_MS / 2 - self._began_ms) * self._rate_hz / 1000)
        return next((key for s in line.stretches if s.pressed and (key := s.key_at(middle, self._rate_hz))), None)

    def _pressed(self, utterance: Utterance, notice: Ended) -> None:
        """Write down the keys whose tones were played."""
        for stretch in utterance.line.stretches:
            keys = stretch.keys_played(notice.samples_played, self._rate_hz) if stretch.pressed else ""
            if keys:
                at_s = self._log.to_s(self._began_ms + stretch.start * 1000 / self._rate_hz)
                self._log.emit(DtmfSent, at_s=at_s, utterance_id=notice.tag, digits=keys)
