"""The oracle's dialogue against the scripted caller: a whole call in text mode inside this process.

The desk is the real one. In place of the oracle's server stands its replay as a chat model, so a call takes
milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import closing
from dataclasses import dataclass

from callm_voice.bench.packcheck.tasks import Loaded
from callm_voice.caller.audit import audit_caller
from callm_voice.caller.base import Finished as CallerFinished
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.caller.text import TextDialogue, talk
from callm_voice.core.clock import Clock, RealClock
from callm_voice.core.errors import CallmError, ModelProtocolError
from callm_voice.core.events import EndReason, EventLog
from callm_voice.core.record import TranscriptTurn
from callm_voice.desk.agent import DeskAgent
from callm_voice.desk.outputs import Say
from callm_voice.llm.oracle_replay import CLOSING, OracleError, next_reply
from callm_voice.llm.oracle_script import Step
from callm_voice.llm.types import ChatRequest, Finished, StreamEvent, TextDelta, ToolCallReady
from verifier.verdict import Verdict
from verifier.verify import verify

MAX_TURNS = 60
"""Of the caller's; more than any task needs."""


@dataclass(frozen=True)
class OracleCall:
    """How the call went."""

    verdict: Verdict | None
    """None: it broke."""
    dialogue: TextDialogue | None
    finished: CallerFinished
    problem: str
    """Empty: it came to its end and passed."""


class ReplayModel:
    """A chat model that plays a task's dialogue. It raises `ModelProtocolError` if script and call do not fit."""

    name = "oracle"

    def __init__(self, steps: Sequence[Step], clock: Clock) -> None:
        self._steps, self._clock, self._calls = steps, clock, 0
        self.ran_out = False
        """It had to say its closing words: the dialogue was over before the caller left."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `ChatModel.stream`."""
        offered = [tool["function"]["name"] for tool in request.tools]
        try:
            reply = next_reply(self._steps, request.messages, offered)
        except OracleError as error:
            raise ModelProtocolError(str(error)) from error
        self.ran_out = self.ran_out or (reply.text == CLOSING and not reply.calls)
        now_s = self._clock.now_s()
        if reply.text:
            yield TextDelta(now_s, reply.text)
        for call in reply.calls:
            self._calls += 1
            raw = json.dumps(call.args, ensure_ascii=False)
            yield ToolCallReady(now_s, f"call{self._calls:05}", call.call, dict(call.args), raw)
        yield Finished(now_s, "tool_calls" if reply.calls else "stop")

    async def warm(self, prefixes: Sequence[ChatRequest]) -> None:
        """Nothing to prepare."""

    async def aclose(self) -> None:
        """Nothing to close."""


async def oracle_call(loaded: Loaded) -> OracleCall:
    """Hold the call."""
    with closing(RealClock()) as clock, closing(loaded.pack.open_database()) as database:
        log = EventLog(clock)
        log.start_line(clock.now_s())
        model = ReplayModel(loaded.steps, clock)
        desk = DeskAgent(loaded.pack, database, model, log, clock)
        try:
            caller = ScriptedCaller(loaded.task.brief, source=str(loaded.path))
        except CallmError as error:
            return OracleCall(None, None, "no", error.one_line())
        try:
            dialogue = await talk(caller, _Floors(desk), max_turns=MAX_TURNS)
        except CallmError as error:
            return OracleCall(None, None, caller.finished, error.one_line())
        verdict = verify(desk.trace(), database.dump(), loaded.file)
    problem = _problem(verdict, dialogue, caller.finished, model.ran_out) or _caller_fault(loaded, dialogue)
    return OracleCall(verdict, dialogue, caller.finished, problem)


def _caller_fault(loaded: Loaded, dialogue: TextDialogue) -> str:
    """What the audit of a finished call would hold against the caller, or an empty text."""
    turns = [
        TranscriptTurn(party=turn.party, turn_id=n, start_ms=0, end_ms=0, said=turn.text)
        for n, turn in enumerate(dialogue.turns)
    ]
    end: EndReason = "caller_hangup" if dialogue.end == "caller_hangup" else "max_turns"
    faults = audit_caller(loaded.task.brief, turns, caller="scripted", end_reason=end, detail=dialogue.detail)
    return f"the caller is at fault: {faults[0].kind}: {faults[0].reason}" if faults else ""


def _problem(verdict: Verdict, dialogue: TextDialogue, finished: CallerFinished, ran_out: bool) -> str:
    if finished != "done":
        last = " / ".join(f"{turn.party}: {turn.text}" for turn in dialogue.turns[-3:])
        return f"the caller did not come to its end ({dialogue.detail}); the last words were {last}"
    if ran_out:
        return "the dialogue was over before the caller left"
    if not verdict.passed:
        gates = {"tools": verdict.tools.passed, "path": verdict.path.passed, "state": verdict.state.passed}
        return f"the call failed: {', '.join(name for name, passed in gates.items() if not passed)}"
    return ""


class _Floors:
    """The desk's floor as `talk` wants it: all that was said until it is the caller's turn."""

    def __init__(self, desk: DeskAgent) -> None:
        self._desk, self._turn_id = desk, 0

    async def __call__(self, words: str | None) -> str:
        self._turn_id += words is not None
        turn = self._desk.greet() if words is None else self._desk.respond(words, self._turn_id)
        said: dict[int, str] = {}
        async for output in turn:
            if isinstance(output, Say):
                said[output.inference_id] = said.get(output.inference_id, "") + output.text_delta
        return " ".join(text.strip() for text in said.values())
