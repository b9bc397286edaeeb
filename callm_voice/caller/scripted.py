"""The scripted caller: a pure state machine over what the agent was heard to say.

On each floor of the agent's, the first of these that applies:

1. one of its facts was read back wrong → it puts that right;
2. the floor ends with a hold and asks nothing → it waits, for speaking now would interrupt an agent at work;
3. a beat whose conditions hold, in the order of the file (one that wants no certain words gives way to 4);
4. a general answer from its traits: yes to a right read-back, its name spelled, a fact, its last line again;
5. nothing was asked → it waits a while;
6. its current ask again, a few times, and then it gives up.

Nothing is said that `never` forbids. It hangs up only by a `hang_up` beat, which is never played as the answer to a
question that wants a confirmation, or by giving up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from callm_voice.caller.answers import Answers
from callm_voice.caller.base import BargeInPlan, CallerAction, Finished, HangUp, Say, Wait
from callm_voice.caller.hearing import asks, asks_to_confirm, puts_on_hold
from callm_voice.caller.patience import PROD, Patience, Silences
from callm_voice.caller.script import OPENING, Line, load_script
from callm_voice.core.brief import Brief
from callm_voice.core.errors import HarnessError
from callm_voice.core.record import Usage

Kind = Literal["opening", "beat", "answer", "repeat", "prod"]


@dataclass(frozen=True)
class _Proposal:
    say: Say
    kind: Kind
    silent_ms: float = 0.0
    """Of the silence that it breaks; 0 if it answers the agent."""


class ScriptedCaller:
    """A `Caller` that plays a brief's beats.

    Args:
        brief: of the task.
        seed: kept for the record; nothing is drawn at random.
        source: the file that the brief came from, for messages.
        patience: limits.

    Raises:
        ConfigError: a line or pattern of the brief is wrong (see `load_script`).
    """

    name = "scripted"

    def __init__(self, brief: Brief, seed: int = 0, *, source: str = "brief", patience: Patience | None = None) -> None:
        self.seed = seed
        self._script = load_script(brief, source=source)
        self._answers = Answers(brief.traits)
        self._patience = patience or Patience()
        self._silences = Silences(self._patience)
        self._plays: Counter[str] = Counter()
        self._ask: Line | None = None
        self._floor = ""
        self._waited_for = ""
        self._waiting: Literal["", "hold", "statement"] = ""
        self._last_line = ""
        self._repeats = 0
        self._answers_in_a_row = 0
        self._lines_said = 0
        self._proposal: _Proposal | None = None
        self._plan: _Proposal | None = None
        self._skipped: list[str] = []
        self._finished: Finished = "no"

    # -- the contract ------------------------------------------------------------------------------------------------

    @property
    def finished(self) -> Finished:
        return self._finished

    @property
    def played(self) -> dict[str, int]:
        """Beat → how often it was said; `opening` too."""
        return dict(self._plays)

    async def heard(self, text: str, *, interrupted: bool = False) -> CallerAction:
        if text.strip():
            self._silences.agent_spoke()
            self._floor = text
        if interrupted:
            return Wait("it spoke over this floor itself")
        if not text.strip():
            return Wait("heard nothing")
        return self._checked(self._answer(text, at_once=True))

    async def silence(self, silent_ms: float) -> CallerAction:
        patience = self._patience
        if OPENING not in self._plays and silent_ms >= patience.open_after_ms:
            return self._checked(self._open(silent_ms))
        step = self._silences.step(silent_ms)
        due = {"hold": patience.prod_after_ms, "statement": patience.statement_wait_ms}.get(self._waiting)
        if OPENING in self._plays and due is not None and silent_ms >= due and step != "give_up":
            action = self._answer(self._floor, at_once=False)
            if self._waiting == "statement" or not isinstance(action, Wait):
                return self._checked(action)
        if step == "give_up":
            return self._checked(HangUp(self._silences.gave_up(silent_ms)))
        if step == "prod" or (step == "ask" and OPENING not in self._plays):
            return self._checked(self._propose(Say(PROD, why=f"silence of {silent_ms:.0f} ms"), "prod", silent_ms))
        if step == "ask":
            return self._checked(self._repeat("silence after two prods", "prod", silent_ms))
        return Wait("silence")

    def barge_in(self) -> BargeInPlan | None:
        self._plan = None
        if self._finished != "no":
            return None
        for line in self._script.lines:
            after_ms = line.beat.barge_in_ms
            if after_ms is None or not self._playable(line) or not line.when.holds(self._floor):
                continue
            say = self._say_of(line)
            if say is not None and say.text:
                self._plan = _Proposal(say, "beat")
                return BargeInPlan(after_ms, say)
        return None

    def said(self, text: str, *, cut: bool = False, beat: str = "") -> None:
        done = self._proposal
        if self._plan is not None and beat == self._plan.say.beat:
            done = self._plan
        if done is None:
            raise HarnessError(f"the caller is told that it said {text!r}, but it had nothing to say", stage="caller")
        self._proposal = self._plan = None
        self._waiting, self._waited_for = "", ""
        self._lines_said += 1
        self._last_line = text or self._last_line
        if done.silent_ms:
            self._silences.spoke(done.silent_ms)
        if done.kind == "repeat":
            self._repeats += 1
        elif done.kind == "answer":
            self._answers_in_a_row += 1
        elif done.kind in ("opening", "beat") and not cut:
            self._moved_on(done.say)

    def lines(self) -> Sequence[str]:
        beats = [text for line in self._script.lines for text in (line.say, line.repeat_say)]
        known = [self._script.opening, *beats, PROD, *self._answers.lines()]
        return list(dict.fromkeys(text for text in known if text))

    def usage(self) -> Usage | None:
        return None

    # -- deciding ----------------------------------------------------------------------------------------------------

    def _answer(self, text: str, *, at_once: bool) -> CallerAction:
        """What to do about the agent's words. Not `at_once`: it has waited long enough on this floor."""
        fresh = text.removeprefix(self._waited_for) if at_once else text
        hold = at_once and puts_on_hold(fresh, self._script.hold)
        if OPENING not in self._plays:
            return self._wait("hold", text) if hold else self._open()
        correction = self._answers.correction(fresh)
        if correction is not None and self._may_answer(correction.text):
            return self._propose(Say(correction.text, why=correction.why), "answer")
        if hold:
            return self._wait("hold", text)
        general = self._answers.general(fresh, self._last_line)
        if general is not None and not self._may_answer(general.text):
            general = None
        beat = self._next_beat((fresh,) if general else (fresh, text), specific=general is not None)
        if beat is not None:
            return beat
        if general is not None:
            return self._propose(Say(general.text, why=general.why), "answer")
        if at_once and not asks(fresh):
            return self._wait("statement", text)
        if not at_once and self._waiting == "hold":
            return Wait("still on hold")
        return self._repeat("nothing in the script matches", "repeat", confirm=asks_to_confirm(fresh))

    def _next_beat(self, views: Sequence[str], *, specific: bool) -> CallerAction | None:
        """The first beat in the order of the file that can be played on one of the views of the floor."""
        for line in self._script.lines:
            when = line.when
            if line.beat.barge_in_ms is not None or not self._playable(line) or (specific and not when.specific):
                continue
            if not any(when.holds(view) for view in views):
                continue
            if line.beat.hang_up and asks_to_confirm(views[0]):
                self._skipped.append(f"{line.id} skipped: it is being asked to confirm")
                continue
            say = self._say_of(line)
            if say is None:
                continue
            if say.text:
                return self._propose(say, "beat")
            self._moved_on(say)
            if line.beat.hang_up:
                return HangUp(f"beat {line.id}")
            return replace(self._wait("hold", self._floor), why=f"beat {line.id}")
        return None

    def _repeat(self, why: str, kind: Kind, silent_ms: float = 0.0, *, confirm: bool = False) -> CallerAction:
        """Its current ask again, or the end of its patience."""
        limit = self._patience.max_repeats * (2 if confirm else 1)
        if kind == "repeat" and self._repeats >= limit:
            return HangUp(f"gives up: {why}, after {self._repeats} repeats of its ask")
        beat, choices = OPENING, [self._script.opening]
        if self._ask is not None:
            beat, choices = self._ask.id, [self._ask.repeat_say, self._ask.say]
        for text in choices:
            if text and self._allowed(text, beat):
                return self._propose(Say(text, beat=beat, why=f"repeats its ask: {why}"), kind, silent_ms)
        return Wait(f"{why}; its ask may not be said now")

    def _open(self, silent_ms: float = 0.0) -> CallerAction:
        return self._propose(Say(self._script.opening, beat=OPENING, why="opening"), "opening", silent_ms)

    def _wait(self, waiting: Literal["hold", "statement"], text: str) -> Wait:
        self._waiting, self._waited_for = waiting, text
        return Wait("on hold" if waiting == "hold" else "nothing was asked")

    # -- rules and state ---------------------------------------------------------------------------------------------

    def _playable(self, line: Line) -> bool:
        beat = line.beat
        used_up = self._plays[beat.id] >= beat.repeat
        in_order = all(self._plays[name] for name in beat.after) and not any(self._plays[name] for name in beat.before)
        return in_order and not used_up

    def _say_of(self, line: Line) -> Say | None:
        """The beat's line as it would be said now, or None if `never` forbids it."""
        text = line.repeat_say if self._plays[line.id] and line.repeat_say else line.say
        if not self._allowed(text, line.id):
            return None
        return Say(text, beat=line.id, hang_up_after=line.beat.hang_up, why=f"beat {line.id}")

    def _allowed(self, text: str, beat: str = "") -> bool:
        ban = self._script.banned(text, beat, [name for name, n in self._plays.items() if n])
        if ban is not None:
            self._skipped.append(f"{beat or repr(text)} skipped: {ban}")
        return ban is None

    def _may_answer(self, text: str) -> bool:
        return self._answers_in_a_row < self._patience.max_answers and self._allowed(text)

    def _propose(self, say: Say, kind: Kind, silent_ms: float = 0.0) -> Say:
        self._proposal = _Proposal(say, kind, silent_ms)
        return say

    def _moved_on(self, say: Say) -> None:
        """A beat or the opening was said (or a beat without words was played)."""
        self._plays[say.beat] += 1
        self._repeats = self._answers_in_a_row = 0
        self._silences.progress()
        line = next((line for line in self._script.lines if line.id == say.beat), None)
        if line is not None and line.beat.ask:
            self._ask = line
        if line is not None and line.beat.hang_up:
            self._finished = "done"

    def _checked(self, action: CallerAction) -> CallerAction:
        """The last word on every action: the limits of the call, the rules once more, and what was skipped."""
        if self._finished == "gave_up" or (self._finished == "done" and not isinstance(action, HangUp)):
            action = HangUp("it has left")
        elif isinstance(action, Say) and self._lines_said >= self._patience.max_lines:
            action = HangUp(f"gives up: {self._lines_said} lines said")
        elif isinstance(action, Say) and not self._allowed(action.text, action.beat):
            action = Wait("nothing that may be said now")
        if isinstance(action, HangUp) and self._finished == "no":
            self._finished = "gave_up"
        if self._skipped:
            notes = "; ".join([action.why, *dict.fromkeys(self._skipped)])
            action = replace(action, why=notes)
            self._skipped.clear()
        return action
