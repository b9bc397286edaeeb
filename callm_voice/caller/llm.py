"""The caller played by a model: script and traits in a locked prompt, hanging up and waiting as tools."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from callm_voice.caller.base import BargeInPlan, CallerAction, Finished, HangUp, Say, Wait
from callm_voice.caller.hearing import asks, asks_to_confirm, puts_on_hold, sentences
from callm_voice.caller.patience import PROD, Patience, Silences
from callm_voice.caller.prompt import TOOLS, refusal, system_prompt
from callm_voice.caller.script import OPENING, Ban, load_script
from callm_voice.core.brief import Brief
from callm_voice.core.errors import HarnessError
from callm_voice.core.record import Usage
from callm_voice.llm.types import ChatModel, ChatRequest, Message, TextDelta, ToolCallReady, UsageReport

MAX_SENTENCES = 3
"""Of one turn; a caller who lectures is cut here, and it is noted."""
MAX_TOKENS = 160
MAX_REFUSED_HANG_UPS = 3
"""A model that wants to leave more often than this before its goal was heard done is let go, as having given up."""
_STAGE_DIRECTION = re.compile(r"\*[^*]*\*|\[[^\]]*\]|\((?:[a-z ]*)\)")
_SPEAKER = re.compile(r"^\s*(?:caller|customer|patient|client|user|me)\s*:\s*", re.IGNORECASE)


@dataclass
class _Reply:
    """What came out of one inference."""

    text: str = ""
    hang_up: str | None = None
    wait: str | None = None
    notes: list[str] = field(default_factory=list)


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
        self._model = model
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
        self._usage: Counter[str] = Counter()
        self._unknown: set[str] = set()
        self._inferences = 0

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
            return self._give_up(f"gives up: the line stayed silent ({silent_ms / 1000:.0f} s)")
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
        """Sums over its inferences; a count that a server left out once is unknown."""
        known = {key: None if key in self._unknown else self._usage[key] for key in _COUNTS}
        return Usage(
            inferences=self._inferences,
            recovered_tool_calls=self._usage["recovered"],
            **(known if self._inferences else {}),
        )

    # -- asking the model --------------------------------------------------------------------------------------------

    async def _reply(self, text: str) -> CallerAction:
        messages = [*self._history, {"role": "user", "content": text}]
        reply = await self._ask(messages)
        ban = self._broken(reply.text)
        if ban is not None:
            again = [*messages, {"role": "assistant", "content": reply.text}, {"role": "user", "content": refusal(ban)}]
            notes = [*reply.notes, f"asked again: {ban}"]
            reply = await self._ask(again)
            reply.notes[:0] = notes
            self._drop_forbidden(reply)
        return self._act(reply, text)

    async def _ask(self, messages: Sequence[Message]) -> _Reply:
        reply = _Reply()
        parts: list[str] = []
        usage: UsageReport | None = None
        self._inferences += 1
        request = ChatRequest(messages=messages, tools=TOOLS, role="caller", max_tokens=MAX_TOKENS)
        async with AsyncExitStack() as closing:
            events = self._model.stream(request)
            if (aclose := getattr(events, "aclose", None)) is not None:
                closing.push_async_callback(aclose)
            async for event in events:
                if isinstance(event, TextDelta):
                    parts.append(event.text)
                elif isinstance(event, UsageReport):
                    usage = event
                elif isinstance(event, ToolCallReady):
                    self._used(event, reply)
        self._count(usage)
        reply.text, notes = spoken_only("".join(parts))
        reply.notes += notes
        return reply

    def _used(self, tool: ToolCallReady, reply: _Reply) -> None:
        """Take one tool call into the reply."""
        self._usage["recovered"] += tool.recovered
        why = str(tool.arguments.get("reason", ""))
        if tool.name == "hang_up":
            reply.hang_up = why
        elif tool.name == "wait":
            reply.wait = why
        else:
            reply.notes.append(f"called an unknown tool {tool.name!r}")

    def _act(self, reply: _Reply, floor: str) -> CallerAction:
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

    def _drop_forbidden(self, reply: _Reply) -> None:
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

    def _count(self, usage: UsageReport | None) -> None:
        for key in _COUNTS:
            value = getattr(usage, key, None)
            if value is None:
                self._unknown.add(key)
            else:
                self._usage[key] += value


_COUNTS = ("prompt_tokens", "cached_tokens", "completion_tokens")


def spoken_only(text: str) -> tuple[str, list[str]]:
    """What of a model's text a person would say: no speaker's name, stage directions or quotes, few sentences."""
    plain = _SPEAKER.sub("", _STAGE_DIRECTION.sub(" ", text)).replace("\n", " ")
    plain = " ".join(plain.split()).strip('"“” ')
    said = sentences(plain)
    if len(said) <= MAX_SENTENCES:
        return plain, []
    return " ".join(said[:MAX_SENTENCES]), [f"cut to {MAX_SENTENCES} sentences"]
