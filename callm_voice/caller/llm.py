"""The caller played by a model: script and traits in a locked prompt, hanging up and waiting as tools."""

from __future__ import annotations

from collections.abc import Sequence

from callm_voice.caller.asking import Asking, Reply
from callm_voice.caller.base import BargeInPlan, CallerAction, Finished, HangUp, Say, Wait
from callm_voice.caller.hearing import asks, asks_to_confirm, puts_on_hold, sentences
from callm_voice.caller.patience import PROD, Patience, Silences
from callm_voice.caller.prompt import refusal, system_prompt, tools_for
from callm_voice.caller.script import OPENING, Ban, load_script
from callm_voice.core.brief import Brief
from callm_voice.core.errors import HarnessError
from callm_voice.core.record import Usage
from callm_voice.llm.types import ChatModel, ChatRequest, Message

MAX_REFUSED_HANG_UPS = 3
"""A model that wants to leave more often than this before its goal was heard done is let go, as having given up."""
MAX_SAME_LINES = 4
"""The same words so often in a row are a model that is stuck."""


class LlmCaller:
    """A `Caller` that a model plays.

    The opening is the brief's, word for word, and stays in the history. A rule of `never` that ends with a beat is
    lifted once the agent was heard to say what that beat waits for; hanging up is allowed once it said what a
    `hang_up` beat waits for. The model is asked once more if its line breaks a rule; if it breaks it again, the
    sentence is dropped.

    Args:
        brief: of the task.
        model: any chat model; only `stream` is used, and what it costs is kept apart from the agent's.
        name: `llm:SPEC`.
        source: the file that the brief came from, for messages.
        patience: limits; prods and the end of patience need no model.

    Raises:
        ConfigError: a line or pattern of the brief is wrong.
    """

    def __init__(
        self,
        brief: Brief,
        model: ChatModel,
        *,
        name: str = "",
        source: str = "brief",
        patience: Patience | None = None,
    ) -> None:
        self.name = name or f"llm:{model.name}"
        self._script = load_script(brief, source=source)
        self._asking = Asking(model, tools_for(brief))
        self._patience = patience or Patience()
        self._silences = Silences(self._patience)
        self._history: list[Message] = [{"role": "system", "content": system_prompt(brief, self._script)}]
        self._heard = ""
        """The floor that is not answered yet."""
        self._proposal: Say | None = None
        self._silent_ms = 0.0
        self._reached: set[str] = set()
        self._refused_hang_ups = 0
        self._lines_said = 0
        self._finished: Finished = "no"

    # -- the contract ------------------------------------------------------------------------------------------------

    @property
    def finished(self) -> Finished:
        return self._finished

    @property
    def history(self) -> Sequence[Message]:
        """The conversation so far as the model is shown it."""
        return tuple(self._history)

    async def heard(self, text: str, *, interrupted: bool = False) -> CallerAction:
        if text.strip():
            self._silences.agent_spoke()
            self._heard = text
            self._reach(text)
        if interrupted:
            return Wait("it spoke over this floor itself")
        if not text.strip():
            return Wait("heard nothing")
        if self._finished != "no":
            return HangUp("it has left")
        if self._lines_said >= self._patience.max_lines:
            return self._give_up(f"gives up: {self._lines_said} lines said")
        if OPENING not in self._reached:
            return self._propose(Say(self._script.opening, beat=OPENING, why="opening"))
        if puts_on_hold(text, self._script.hold):
            return Wait("on hold")
        return await self._reply(text)

    async def silence(self, silent_ms: float) -> CallerAction:
        if self._finished != "no":
            return HangUp("it has left")
        if OPENING not in self._reached and silent_ms >= self._patience.open_after_ms:
            return self._propose(Say(self._script.opening, beat=OPENING, why="opening"), silent_ms)
        step = self._silences.step(silent_ms)
        if step == "give_up":
            return self._give_up(self._silences.gave_up(silent_ms))
        if step in ("prod", "ask"):
            return self._propose(Say(PROD, why=f"silence of {silent_ms:.0f} ms"), silent_ms)
        return Wait("silence")

    def barge_in(self) -> BargeInPlan | None:
        return None

    def said(self, text: str, *, cut: bool = False, beat: str = "") -> None:
        done = self._proposal
        if done is None:
            raise HarnessError(f"the caller is told that it said {text!r}, but it had nothing to say", stage="caller")
        self._proposal = None
        self._lines_said += 1
        if self._heard:
            self._history.append({"role": "user", "content": self._heard})
            self._heard = ""
        if text:
            self._history.append({"role": "assistant", "content": text})
        if done.beat == OPENING and text:
            self._reached.add(OPENING)
        if self._silent_ms:
            self._silences.spoke(self._silent_ms)
        elif not cut:
            self._silences.progress()
        if done.hang_up_after and not cut and self._finished == "no":
            self._finished = "done"

    def lines(self) -> Sequence[str]:
        return [self._script.opening, PROD]

    def usage(self) -> Usage:
        return self._asking.usage()

    def prefix(self) -> ChatRequest:
        """What each of its requests begins with, for a model that is warmed before the call."""
        return self._asking.request(self._history[:1])

    # -- asking the model --------------------------------------------------------------------------------------------

    async def _reply(self, text: str) -> CallerAction:
        messages = [*self._history, {"role": "user", "content": text}]
        reply = await self._asking.ask(messages)
        ban = self._broken(reply.text)
        if ban is not None:
            again = [*messages, {"role": "assistant", "content": reply.text}, {"role": "user", "content": refusal(ban)}]
            notes = [*reply.notes, f"asked again: {ban}"]
            reply = await self._asking.ask(again)
            reply.notes[:0] = notes
            self._drop_forbidden(reply)
        return self._act(reply, text)

    def _act(self, reply: Reply, floor: str) -> CallerAction:
        notes = "; ".join(reply.notes)
        if reply.hang_up is not None:
            refused = self._why_not_leave(floor)
            if not refused:
                why = f"hung up: {reply.hang_up}"
                if reply.text:
                    return self._propose(Say(reply.text, hang_up_after=True, why="; ".join(filter(None, [why, notes]))))
                self._finished = "done"
                return HangUp(why)
            self._refused_hang_ups += 1
            if self._refused_hang_ups >= MAX_REFUSED_HANG_UPS:
                return self._give_up(f"gives up: {reply.hang_up}")
            notes = "; ".join(filter(None, [notes, f"hang-up refused: {refused}"]))
        if reply.text:
            own = [message["content"] for message in self._history if message["role"] == "assistant"]
            if own[1 - MAX_SAME_LINES :] == [reply.text] * (MAX_SAME_LINES - 1):
                return self._give_up(f"gives up: the model would say {reply.text!r} for the {MAX_SAME_LINES}th time")
            return self._propose(Say(reply.text, why="; ".join(filter(None, ["model", notes]))))
        why = reply.wait if reply.wait is not None else "the model said nothing"
        return Wait("; ".join(filter(None, [why or "the model waits", notes])))

    def _why_not_leave(self, floor: str) -> str:
        """Why it may not hang up on this floor, or an empty text."""
        if asks(floor) and asks_to_confirm(floor):
            return "it is being asked to confirm"
        enders = [line.id for line in self._script.lines if line.beat.hang_up]
        if enders and not self._reached & set(enders):
            return "its goal was not heard to be done"
        return ""

    # -- rules and state ---------------------------------------------------------------------------------------------

    def _reach(self, floor: str) -> None:
        """Mark the beats whose words the agent has now said. One that wants none comes with those it comes after."""
        for line in self._script.lines:
            follows = all(name in self._reached for name in line.beat.after)
            if line.when.holds(floor) and (line.when.specific or (line.beat.after and follows)):
                self._reached.add(line.id)

    def _broken(self, text: str) -> Ban | None:
        return self._script.banned(text, "", self._reached) if text else None

    def _drop_forbidden(self, reply: Reply) -> None:
        kept: list[str] = []
        for sentence in sentences(reply.text):
            ban = self._broken(sentence)
            if ban is None:
                kept.append(sentence)
            else:
                reply.notes.append(f"dropped {sentence!r}: {ban}")
        reply.text = " ".join(kept)
        if (ban := self._broken(reply.text)) is not None:
            reply.notes.append(f"dropped {reply.text!r}: {ban}")
            reply.text = ""

    def _propose(self, say: Say, silent_ms: float = 0.0) -> Say:
        self._proposal, self._silent_ms = say, silent_ms
        return say

    def _give_up(self, why: str) -> HangUp:
        self._finished = "gave_up"
        return HangUp(why)
