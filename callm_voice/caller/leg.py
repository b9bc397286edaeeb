"""The caller's end of the line: a `Leg` with a mind, ears and a voice.

Everything is decided on the line's ticks and timed in packets, so it works at any pace. What takes time (the mind,
synthesis, recognition) runs as one task beside the ticks; its outcome is dropped if the agent spoke on meanwhile, and
the mind is asked again with all the words. Packet n covers [n, n + 1) * 20 ms of the line's clock; the line pulls
before it pushes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from callm_voice.caller.base import BargeInPlan, Caller, CallerAction, HangUp, Say
from callm_voice.caller.ears import Ears, PlayedEars, SttEars
from callm_voice.caller.listen import Listener, SpeechStarted
from callm_voice.caller.mouth import Mouth, Utterance
from callm_voice.caller.onejob import OneJob
from callm_voice.caller.voice import SpokenLine, Voice
from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import AgentHeard, CallerNote, EventLog
from callm_voice.line.leg import PTIME_MS, Frame
from callm_voice.line.playout import Ended, whole_words
from callm_voice.speech.engines import SttEngine, Transcript, TtsEngine

SILENCE_STEP_MS = 1000
"""The mind is told of silence whenever so much more of it has passed."""
HANG_UP_AFTER_MS = 300
"""From the last packet of its goodbye, or from the decision to leave without one."""


class TurnSettings(Protocol):
    """What the leg wants to know of the pipeline's caller settings."""

    @property
    def reply_after_ms(self) -> int:
        """How long the agent must have been silent before the caller takes the floor."""
        ...


@dataclass(frozen=True)
class DefaultTurns:
    """`TurnSettings` of a caller without a pipeline."""

    reply_after_ms: int = 700


class CallerLeg:
    """The simulated caller as the line sees it. All methods run on one event loop.

    Args:
        mind: decides.
        tts: the voice; any engine, its audio is kept per line.
        clock, log: of the call.
        rate_hz: of the line.
        to_spoken: written to spoken form.
        seed: of the voice.
        settings: turn-taking.
        ears: a recogniser; None: the caller is given the words as they were played (`agent_played`).
        on_hang_up: called once, when the caller leaves, with the reason.
        on_error: called once with what broke in mind, voice or ears; the caller is silent from then on.
        on_said: called when an utterance starts, for each stretch of words in it: the words, their start and end in
            milliseconds of the line's clock.
    """

    def __init__(
        self,
        mind: Caller,
        tts: TtsEngine,
        *,
        clock: Clock,
        log: EventLog,
        rate_hz: int,
        to_spoken: Callable[[str], str],
        on_hang_up: Callable[[str], None],
        on_error: Callable[[CallmError], None],
        on_said: Callable[[str, float, float], None] | None = None,
        ears: SttEngine | None = None,
        settings: TurnSettings | None = None,
        seed: int = 0,
    ) -> None:
        self._mind, self._log = mind, log
        self._voice = Voice(tts, clock, rate_hz=rate_hz, to_spoken=to_spoken, seed=seed)
        self._ears: Ears = SttEars(ears, clock, rate_hz=rate_hz, on_heard=self._heard) if ears else PlayedEars()
        self._reply_after_ms = (settings or DefaultTurns()).reply_after_ms
        self._on_hang_up, self._on_error = on_hang_up, on_error
        self._listener = Listener()
        self._mouth = Mouth(log, rate_hz=rate_hz, voice=lambda: self._voice.name, on_ended=self._ended, on_said=on_said)
        self._now_ms = 0
        """End of the last packet that was pulled."""
        self._news = 0
        """Rises whenever the agent starts to speak or new words come: what was decided before is out of date."""
        self._unheard = False
        self._floor_ms: int | None = None
        """When the agent's present floor began; None between floors."""
        self._quiet_ms = 0
        """When the caller last stopped speaking, or was last told words without hearing any sound."""
        self._told_steps = 0
        self._job = OneJob(self._broke)
        self._ready: tuple[Utterance, int] | None = None
        """Starts with the next pull, if `_news` is still what it was."""
        self._plan: tuple[BargeInPlan, SpokenLine] | None = None
        self._leave_at_ms: int | None = None
        self._why = ""
        self._over = False
        self._lines_made = 0

    @property
    def work(self) -> dict[str, float]:
        """For the record: lines that had to be synthesised while the line was open, beside the models under test."""
        return {"lines_made_in_call": float(self._lines_made)}

    # -- before the call and after it --------------------------------------------------------------------------------

    async def prepare(self, lines: Sequence[str] = ()) -> None:
        """Synthesise what the mind may say (and `lines`) now, so that nothing competes for the processor later.

        Raises:
            EngineError: synthesis failed.
        """
        for text in dict.fromkeys([*self._mind.lines(), *lines]):
            await self._voice.line(text)

    @property
    def rehearsed(self) -> list[Frame]:
        """See `Voice.rehearsed`; after `prepare`, all that the mind knows beforehand."""
        return self._voice.rehearsed

    async def aclose(self) -> None:
        """Cut what is being said and end the task. Safe to call twice."""
        self._over = True
        self.clear()
        await self._job.aclose()

    async def hear_rest(self) -> None:
        """After the end of the line: recognise what the agent said last and nobody waited for."""
        if isinstance(self._ears, SttEars):
            with suppress(CallmError):  # the call is over, and nothing hangs on these words
                await self._ears.text(self._listener.last_loud_ms)

    # -- the line's side ---------------------------------------------------------------------------------------------

    def pull(self) -> Frame | None:
        if self._ready is not None:
            (utterance, news), self._ready = self._ready, None
            if utterance.barge_in or news == self._news:
                self._begin(utterance)
            else:
                self._note("holds back: the agent speaks on")
                self._unheard = True
        begin_ms, self._now_ms = self._now_ms, self._now_ms + PTIME_MS
        return self._mouth.pull(begin_ms)

    def push(self, frame: Frame) -> None:
        change = self._listener.push(frame)
        started = change if isinstance(change, SpeechStarted) else None
        if self._ears.frame(frame, started):
            self._unheard = True
        if started is not None:
            self._news += 1
            self._told_steps = 0
            self._floor_ms = started.at_ms if self._floor_ms is None else self._floor_ms
        if not self._over:
            self._tick()

    @property
    def pressing(self) -> bool:
        """See `KeypadLeg`."""
        return self._mouth.pressing

    @property
    def key(self) -> str | None:
        """The key whose tone is in the frame of the last `pull`; None: no key, or the pause behind one."""
        return self._mouth.key

    @property
    def underruns(self) -> int:
        """Packets that were owed in the middle of an utterance."""
        return self._mouth.underruns

    def clear(self) -> None:
        self._mouth.clear(self._now_ms)

    # -- the pipeline's side -----------------------------------------------------------------------------------------

    def agent_played(self, text: str) -> None:
        """Words of the agent's, once they were played (or those of a sentence that were, if it was cut)."""
        if self._ears.played(text):
            self._unheard = True
            self._news += 1
            if self._listener.last_loud_ms <= self._quiet_ms:
                self._quiet_ms = self._now_ms

    # -- on each tick ------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        if self._leave_at_ms is not None:
            if self._now_ms >= self._leave_at_ms:
                self._over = True
                self._on_hang_up(self._why)
            return
        if self._mouth.speaking or self._ready or self._job.busy:
            return
        if self._plan is not None and self._floor_ms is not None and self._listener.speaking:
            plan, line = self._plan
            if self._now_ms >= self._floor_ms + plan.after_ms:
                self._note(f"speaks over the agent after {self._now_ms - self._floor_ms} ms")
                self._ready = (Utterance(plan.say, line, barge_in=True), self._news)
                self._plan = None
            return
        if not self._listener.speaking:
            self._silent(self._now_ms - max(self._listener.last_loud_ms, self._quiet_ms))

    def _silent(self, silent_ms: int) -> None:
        """Nobody speaks, for `silent_ms`, and nothing is under way."""
        if self._unheard and silent_ms >= self._reply_after_ms:
            self._job.start(self._hear)
        elif silent_ms >= (self._told_steps + 1) * SILENCE_STEP_MS:
            self._told_steps = silent_ms // SILENCE_STEP_MS
            self._job.start(partial(self._sit_out, self._told_steps * SILENCE_STEP_MS))

    def _begin(self, utterance: Utterance) -> None:
        """Put an utterance into playout; its first packet leaves with this pull."""
        self._told_steps = 0
        if not utterance.barge_in:
            self._unheard = self._ears.forget(speaking=self._listener.speaking)
        self._floor_ms = None
        self._mouth.begin(utterance)

    def _ended(self, utterance: Utterance, notice: Ended) -> None:
        self._quiet_ms = self._now_ms
        say = utterance.say
        if utterance.barge_in and not self._over:
            self._job.start(partial(self._after_barge_in, utterance, notice))
        else:
            self._said(utterance, notice)
            if not self._over:
                self._job.start(self._make_plan)
        if say.hang_up_after and not notice.cut:
            self._leave(say.why)

    def _said(self, utterance: Utterance, notice: Ended) -> None:
        words = whole_words(utterance.say.text, notice.samples_played, notice.samples_total)
        try:
            self._mind.said(words, cut=notice.cut, beat=utterance.say.beat)
        except CallmError as error:
            self._broke(error)

    def _leave(self, why: str) -> None:
        self._why = why
        self._leave_at_ms = self._now_ms + HANG_UP_AFTER_MS

    # -- beside the ticks --------------------------------------------------------------------------------------------

    async def _hear(self) -> None:
        """The agent's floor has ended: ask the mind."""
        news = self._news
        self._unheard = False
        text = await self._ears.text(self._listener.last_loud_ms)
        self._note(f"heard: {text}")
        self._plan = None
        await self._carry_out(await self._mind.heard(text), news, answers=True)

    async def _sit_out(self, silent_ms: int) -> None:
        news = self._news
        await self._carry_out(await self._mind.silence(silent_ms), news, answers=False)

    async def _carry_out(self, action: CallerAction, news: int, *, answers: bool) -> None:
        line = await self._line(action.text) if isinstance(action, Say) else None
        if news != self._news:
            self._unheard = self._unheard or answers
            self._note("holds back: the agent speaks on")
            return
        if isinstance(action, Say) and line is not None:
            self._note(f"says: {action.why}")
            self._ready = (Utterance(action, line), news)
        elif isinstance(action, HangUp):
            self._note(f"hangs up: {action.why}")
            self._leave(action.why)
        elif answers:
            self._note(f"waits: {action.why}")
            self._floor_ms = None
            await self._make_plan()

    async def _after_barge_in(self, utterance: Utterance, notice: Ended) -> None:
        """What was played before the agent gave way is a floor of its own: the one that the caller cut."""
        text = await self._ears.text(self._listener.last_loud_ms)
        self._unheard = self._ears.forget(speaking=self._listener.speaking)
        self._note(f"heard, and cut: {text}")
        await self._mind.heard(text, interrupted=True)
        self._said(utterance, notice)
        await self._make_plan()

    async def _make_plan(self) -> None:
        plan = self._mind.barge_in()
        self._plan = None if plan is None else (plan, await self._line(plan.say.text))

    async def _line(self, text: str) -> SpokenLine:
        """A line to be said now. One that was not prepared is synthesised, and counted."""
        if not self._voice.has(text):
            self._lines_made += 1
            self._note(f"synthesised during the call: {text}")
        return await self._voice.line(text)

    def _broke(self, error: CallmError) -> None:
        if not self._over:
            self._over = True
            self._on_error(error)

    def _heard(self, heard: Transcript, start_ms: float, end_ms: float) -> None:
        self._log.emit(AgentHeard, heard=heard.text, start_ms=start_ms, end_ms=end_ms, decode_ms=heard.decode_ms)

    def _note(self, note: str) -> None:
        self._log.emit(CallerNote, note=note)
