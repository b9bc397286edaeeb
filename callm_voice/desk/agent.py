"""The conversation engine: one model plays every role of the desk. No audio, no framework, no wall clock here.

The history is one list without a system prompt. At request time the prompt and the tools of the current role are put
in front, so a handoff swaps both while the history stays.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from callm_voice.core.clock import Clock
from callm_voice.core.errors import HarnessError
from callm_voice.core.events import Cause, EventLog, Failed
from callm_voice.core.record import Usage
from callm_voice.desk.database import CallDatabase
from callm_voice.desk.history import Answer, History
from callm_voice.desk.inference import Inference
from callm_voice.desk.outputs import AgentOutput, RoleChanged, Say, SayEnd, ToolRan
from callm_voice.desk.pack import Pack
from callm_voice.desk.roles import Role
from callm_voice.desk.switchboard import Switchboard
from callm_voice.llm.types import ChatModel, ChatRequest, Message
from verifier.trace import Trace

__all__ = ["AgentLimits", "AgentOutput", "DeskAgent", "RoleChanged", "Say", "SayEnd", "ToolRan"]

GREETING_NOTE = "[The caller is on the line.]"
"""The user message of the greeting's inference; it stays in the history."""
UNHEARD_NOTE = "[The caller said something that could not be made out.]"
"""Stands for a turn in which nothing was heard."""
EMPTY_REPLY_NOTE = "[Your reply was empty. Answer the caller now, or call a tool.]"
"""Put after the history, once, when a reply was empty; it does not stay."""
WARM_MAX_TOKENS = 1


@dataclass(frozen=True)
class AgentLimits:
    """Where a model that goes round in circles is stopped."""

    inferences_per_turn: int = 12
    tool_calls_per_call: int = 200


class DeskAgent:
    """The desk in one call. One turn at a time; leaving a turn's iterator early (cancel or `aclose`) interrupts it.

    Args:
        database: the call's own, fresh from the pack.
        log: the call's events.
    """

    def __init__(
        self, pack: Pack, database: CallDatabase, model: ChatModel, log: EventLog, clock: Clock,
        limits: AgentLimits | None = None,
    ) -> None:  # fmt: skip
        self._pack, self._model, self._log = pack, model, log
        self._limits = limits or AgentLimits()
        self._history = History()
        self._board = Switchboard(pack, database, log, clock, max_tool_calls=self._limits.tool_calls_per_call)
        self._inferences: list[Inference] = []
        self._turn_id = 0
        self._turn: AsyncGenerator[AgentOutput, None] | None = None

    @property
    def role(self) -> str:
        """The role that speaks now."""
        return self._board.role.name

    def greet(self, turn_id: int = 0) -> AsyncGenerator[AgentOutput, None]:
        """The agent's first words.

        Raises (from the iterator):
            ModelError: the model failed; `InferenceEnded.error` says so too.
        """
        return self._in_turn(GREETING_NOTE, turn_id, "greeting")

    def respond(self, heard: str | None, turn_id: int) -> AsyncGenerator[AgentOutput, None]:
        """Answer one caller turn: text, tools, handoffs, until the model has nothing more to do.

        Args:
            heard: the caller's words. None: nothing new was heard, and what stands open in the history (words whose
                answer was interrupted before it could be heard, a tool's result) is answered now.

        Raises (from the iterator):
            ModelError: the model failed; `InferenceEnded.error` says so too.
        """
        words = heard.strip() if heard is not None else None
        if words is None and not self._history.waits_for_answer:
            words = UNHEARD_NOTE
        return self._in_turn(UNHEARD_NOTE if words == "" else words, turn_id, "caller_turn")

    def interrupted(self, played: Mapping[int, str]) -> None:
        """Barge-in: of the last turn, the history keeps only what was played.

        Args:
            played: inference id → words that were really played. An inference of the turn that is not named was not
                played at all; without a tool call it leaves the history.
        """
        self._history.keep_played(self._turn_id, played)

    def messages(self) -> list[Message]:
        """The history without a system prompt, as the next request will carry it."""
        return self._history.messages()

    def trace(self) -> Trace:
        """What was done so far."""
        return self._board.trace()

    def usage(self) -> Usage:
        """Sums so far. A count is None if a finished inference lacks it; of others, what was said counts."""

        def total(name: str) -> int | None:
            counts: list[int | None] = [getattr(i.usage, name, None) for i in self._inferences if i.finished or i.usage]
            said = [count for count in counts if count is not None]
            return sum(said) if said and len(said) == len(counts) else None

        return Usage(
            inferences=len(self._inferences),
            prompt_tokens=total("prompt_tokens"),
            cached_tokens=total("cached_tokens"),
            completion_tokens=total("completion_tokens"),
            recovered_tool_calls=sum(call.recovered for i in self._inferences for call in i.calls),
        )

    def requests_to_warm(self) -> list[ChatRequest]:
        """One request a role, the start role first: its prompt, its tools and the greeting's note."""
        names = [self._pack.file.start_role, *(n for n in self._pack.roles if n != self._pack.file.start_role)]
        note: Message = {"role": "user", "content": GREETING_NOTE}
        return [_request(self._pack.role(name), [note], max_tokens=WARM_MAX_TOKENS) for name in names]

    async def _in_turn(self, words: str | None, turn_id: int, cause: Cause) -> AsyncGenerator[AgentOutput, None]:
        """Close a turn that was left without being closed, then run this one."""
        if self._turn is not None:
            try:
                await self._turn.aclose()
            except RuntimeError as error:
                raise HarnessError("a turn was begun while another one runs", stage="desk") from error
        self._turn = self._run_turn(words, turn_id, cause)
        async with aclosing(self._turn) as turn:
            async for output in turn:
                yield output

    async def _run_turn(self, words: str | None, turn_id: int, cause: Cause) -> AsyncGenerator[AgentOutput, None]:
        self._turn_id = turn_id
        if words is not None:
            self._history.hear(words)
        asked_again = False
        for _ in range(self._limits.inferences_per_turn):
            inference = Inference(len(self._inferences) + 1, turn_id, cause)
            answer = self._history.open_answer(inference.inference_id, turn_id)
            async with aclosing(self._infer(inference, answer, nudge=asked_again)) as said:
                async for output in said:
                    yield output
            before = self.role
            for output in self._board.run_calls(inference, answer):
                yield output
            if inference.calls:
                cause, asked_again = ("handoff" if self.role != before else "tool_result"), False
            elif answer.text.strip():
                return
            elif asked_again:
                self._note(f"inference {inference.inference_id}: the reply was empty twice; the desk stays silent")
                return
            else:
                asked_again = True
        self._note(f"turn {turn_id}: stopped after {self._limits.inferences_per_turn} inferences")

    async def _infer(self, inference: Inference, answer: Answer, *, nudge: bool) -> AsyncGenerator[AgentOutput, None]:
        """One inference in the current role; its text goes to the caller and, as it comes, to the history."""
        role = self._board.role
        messages = self._history.messages()
        if nudge:
            messages.append({"role": "user", "content": EMPTY_REPLY_NOTE})
        request = _request(role, messages)
        self._inferences.append(inference)
        saying = False
        async with aclosing(inference.stream(self._model, request, self._log)) as pieces:
            async for piece in pieces:
                saying = bool(piece)
                answer.text += piece
                yield Say(inference.inference_id, role.name, piece) if piece else SayEnd(inference.inference_id)
        if saying:
            yield SayEnd(inference.inference_id)

    def _note(self, message: str) -> None:
        """A failure of the model's behaviour: the call goes on."""
        self._log.emit(Failed, stage="desk", fault="model", message=message)


def _request(role: Role, messages: Sequence[Message], *, max_tokens: int | None = None) -> ChatRequest:
    system: Message = {"role": "system", "content": role.system_prompt}
    return ChatRequest([system, *messages], role.tool_schemas, role=role.name, max_tokens=max_tokens)
