"""A chat model in memory that plays a script, answer by answer, and fails when the script runs out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from callm_voice.llm.types import (
    ChatRequest,
    Finished,
    FirstChunk,
    StreamEvent,
    StreamOpened,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    UsageReport,
)


def call(name: str, /, call_id: str = "", error: str | None = None, **args: Any) -> ToolCallReady:
    """One tool call of a script; with `error`, its arguments could not be parsed."""
    raw = '{"cut": ' if error else json.dumps(args)
    return ToolCallReady(0.0, call_id, name, {} if error else args, raw, error=error)


def answer(*pieces: str | ToolCallReady, usage: UsageReport | None = None, finish: bool = True) -> list[StreamEvent]:
    """The stream of one answer: text pieces and tool calls, one hundredth of a second between any two events."""
    calls = [piece for piece in pieces if isinstance(piece, ToolCallReady)]
    events: list[StreamEvent] = [StreamOpened(0.0), FirstChunk(0.0)]
    events += [TextDelta(0.0, p) if isinstance(p, str) else ToolCallStarted(0.0, calls.index(p)) for p in pieces]
    events += calls
    if usage is not None:
        events.append(usage)
    if finish:
        events.append(Finished(0.0, "tool_calls" if calls else "stop"))
    return [replace(event, t_s=round(0.01 * n, 2)) for n, event in enumerate(events)]


class ScriptedModel:
    """Plays `script`: each element answers one request; an exception in it is raised where it stands.

    Every event is preceded by one turn of the event loop, so a test can cancel between any two. `requests` keeps what
    was asked; `open_streams` counts answers that are not closed.
    """

    name = "scripted"

    def __init__(self, *script: Sequence[StreamEvent | Exception]) -> None:
        self._script = list(script)
        self.requests: list[ChatRequest] = []
        self.open_streams = 0

    @property
    def unplayed(self) -> int:
        """Answers that nobody asked for yet."""
        return len(self._script)

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        """Play the next answer."""
        self.requests.append(request)
        assert self._script, f"the script ran out; the request's last message was {request.messages[-1]}"
        events = self._script.pop(0)
        self.open_streams += 1
        try:
            for event in events:
                await asyncio.sleep(0)
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.open_streams -= 1

    async def warm(self, prefixes: Sequence[ChatRequest]) -> None:
        """Nothing to prepare."""

    async def aclose(self) -> None:
        """Nothing to close."""
