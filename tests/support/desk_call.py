"""One desk call on the tiny pack with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from support.scripted_model import ScriptedModel

from callm_voice.core.clock import RealClock
from callm_voice.core.events import EventLog
from callm_voice.desk.agent import AgentLimits, AgentOutput, DeskAgent
from callm_voice.desk.pack import Pack, load_pack
from callm_voice.llm.types import StreamEvent

TINY = Path(__file__).parents[1] / "data" / "packs" / "tiny"


@cache
def tiny_pack() -> Pack:
    """The tiny pack, loaded once."""
    return load_pack(TINY)


class DeskCall:
    """An agent, its model, its database and its log."""

    def __init__(self, script: Sequence[Sequence[StreamEvent | Exception]], limits: AgentLimits | None = None) -> None:
        self.clock = RealClock()
        self.log = EventLog(self.clock)
        self.log.start_line(0.0)
        self.model = ScriptedModel(*script)
        self.database = tiny_pack().open_database()
        self.agent = DeskAgent(tiny_pack(), self.database, self.model, self.log, self.clock, limits)

    async def hear(self, *turns: str) -> list[AgentOutput]:
        """Let the caller say these turns, ids from 1, and take all that the agent hands out."""
        outputs: list[AgentOutput] = []
        for turn_id, words in enumerate(turns, start=1):
            outputs += [output async for output in self.agent.respond(words, turn_id)]
        return outputs


@contextmanager
def desk_call(*script: Sequence[StreamEvent | Exception], limits: AgentLimits | None = None) -> Iterator[DeskCall]:
    """A call that is closed at the end, whatever happened."""
    made = DeskCall(script, limits)
    try:
        yield made
    finally:
        made.database.close()
        made.clock.close()


async def take(outputs: AsyncIterator[Any], count: int) -> list[Any]:
    """The first `count` outputs; the iterator is then closed."""
    taken = []
    async for output in outputs:
        taken.append(output)
        if len(taken) == count:
            break
    await outputs.aclose()  # type: ignore[attr-defined]
    return taken


def problems_of(messages: Sequence[dict[str, Any]]) -> list[str]:
    """What an OpenAI-style server would refuse in a history without its system prompt."""
    found, waiting = [], []
    for n, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if not waiting or message["tool_call_id"] != waiting.pop(0):
                found.append(f"message {n}: a result that no call waits for")
            continue
        if waiting:
            found.append(f"message {n}: calls {waiting} have no result")
            waiting = []
        if role == "assistant":
            waiting = [c["id"] for c in message.get("tool_calls", [])]
            if not waiting and not (message["content"] or "").strip():
                found.append(f"message {n}: an empty answer")
        if role == "user" and n and messages[n - 1]["role"] == "user":
            found.append(f"message {n}: two user messages in a row")
    if waiting:
        found.append(f"at the end: calls {waiting} have no result")
    return found
