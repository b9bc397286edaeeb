"""The current role, the tool calls of the model and the handoffs of one call: run, written down, answered."""

from __future__ import annotations

from collections.abc import Iterator

from callm_voice.core.clock import Clock
from callm_voice.core.events import EventLog, HandedOff, ToolFinished, ToolStarted
from callm_voice.desk.cleaning import clean_json, clean_text
from callm_voice.desk.database import CallDatabase
from callm_voice.desk.dispatch import RoleView, ToolAnswer
from callm_voice.desk.history import Answer
from callm_voice.desk.inference import Inference
from callm_voice.desk.outputs import RoleChanged, ToolRan
from callm_voice.desk.pack import Pack
from callm_voice.llm.types import ToolCallReady
from verifier.trace import Handoff, JsonObject, ToolCall, Trace

UNSEEN_INFERENCE = 0
"""`inference_id` of the tool calls of an agent that runs elsewhere."""
REFUSALS_WRITTEN = 20
"""Of an agent that runs elsewhere: so many calls over the limit are written down, to show what it went on with. Nothing
stops it from sending more, each with arguments of any size, so the rest is only counted."""


class Switchboard:
    """Runs tool calls in order and keeps the trace.

    Args:
        max_tool_calls: further calls of this phone call are answered with `too_many_calls`. Those of our own model all
            stand in the trace, for its answers are bounded themselves.
    """

    def __init__(self, pack: Pack, database: CallDatabase, log: EventLog, clock: Clock, *, max_tool_calls: int) -> None:
        self._pack, self._log, self._clock, self._max = pack, log, clock, max_tool_calls
        self._dispatcher = pack.dispatcher(database)
        self.role = pack.role(pack.file.start_role)
        self._calls: list[ToolCall] = []
        self._handoffs: list[Handoff] = []
        self._ids: set[str] = set()
        self._asked = 0
        """Calls so far, those that a broken database left without an answer included."""
        self.left_out = 0
        """Calls of an agent that runs elsewhere that were refused and stand neither in the events nor in the trace."""

    def trace(self) -> Trace:
        """What was done so far."""
        return Trace(start_role=self._pack.file.start_role, calls=tuple(self._calls), handoffs=tuple(self._handoffs))

    def run_calls(self, inference: Inference, answer: Answer) -> Iterator[ToolRan | RoleChanged]:
        """Run an answer's calls in order. After a handoff the rest is answered as the new role would be.

        Each call enters the history together with its result before it is yielded.
        """
        caller = self.role.name
        for ready in inference.calls:
            call, to_role = self._run(ready, inference.turn_id, inference.inference_id, caller, self.role)
            answer.add_call(call.call_id, call.name, call.args, ready.raw_arguments, call.output)
            handed_off = self._hand_off(to_role, inference.turn_id) if to_role else None
            yield ToolRan(inference.inference_id, call)
            if handed_off:
                yield handed_off

    def run_foreign(self, ready: ToolCallReady, *, turn_id: int, view: RoleView | None = None) -> JsonObject:
        """Run one call of an agent that runs elsewhere, so that nothing is known of its inferences; its output.

        Args:
            turn_id: the caller's turn that is being answered.
            view: what the agent may use, if that is not what its role may.
        """
        if self._asked >= self._max + REFUSALS_WRITTEN:
            self.left_out += 1
            return self._too_many().output
        call, to_role = self._run(ready, turn_id, UNSEEN_INFERENCE, self.role.name, view or self.role)
        if to_role:
            self._hand_off(to_role, turn_id)
        return call.output

    def _run(
        self, ready: ToolCallReady, turn_id: int, inference_id: int, caller: str, view: RoleView
    ) -> tuple[ToolCall, str | None]:
        call_id, name, args = self._own_id(ready.call_id), clean_text(ready.name), clean_json(ready.arguments)
        t_ms, started_s = self._log.now_ms(), self._clock.now_s()
        self._log.emit(
            ToolStarted, call_id=call_id, turn_id=turn_id, inference_id=inference_id, role=caller, name=name, args=args
        )
        answer = self._answer(view, name, args, ready.error)
        duration_ms = round((self._clock.now_s() - started_s) * 1000, 3)
        self._log.emit(
            ToolFinished, call_id=call_id, name=name, ok=answer.ok, output=answer.output, error=answer.error,
            duration_ms=duration_ms,
        )  # fmt: skip
        call = ToolCall(
            call_id=call_id, role=caller, name=name, args=args, output=answer.output, ok=answer.ok,
            is_transfer=answer.is_transfer, recovered=ready.recovered, error=answer.error, t_ms=t_ms,
            duration_ms=duration_ms,
        )  # fmt: skip
        self._calls.append(call)
        return call, answer.to_role

    def _answer(self, view: RoleView, name: str, args: dict[str, object], unparsed: str | None) -> ToolAnswer:
        self._asked += 1
        if self._asked > self._max:
            return self._too_many()
        return self._dispatcher.run(view, name, args, unparsed=unparsed)

    def _too_many(self) -> ToolAnswer:
        return self._dispatcher.refuse("too_many_calls", f"this call has used up its {self._max} tool calls")

    def _hand_off(self, to_role: str, turn_id: int) -> RoleChanged:
        change = RoleChanged(self.role.name, to_role)
        self._log.emit(HandedOff, turn_id=turn_id, from_role=change.from_role, to_role=to_role)
        self._handoffs.append(Handoff(from_role=change.from_role, to_role=to_role, t_ms=self._log.now_ms()))
        self.role = self._pack.role(to_role)
        return change

    def _own_id(self, given: str) -> str:
        """The server's id if it is new in this call, else one of nine letters and digits (some servers want that)."""
        call_id, number = clean_text(given), len(self._ids) + 1
        while not call_id or call_id in self._ids:
            call_id, number = f"call{number:05}", number + 1
        self._ids.add(call_id)
        return call_id
