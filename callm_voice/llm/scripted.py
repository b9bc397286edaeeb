"""A chat model in memory that plays a script on the clock, and fails when the script runs out. For tests and faults."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from callm_voice.core.clock import Clock
from callm_voice.core.errors import HarnessError, ModelError
from callm_voice.llm.toolcalls import made_id
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


@dataclass(frozen=True)
class ScriptedReply:
    """One answer."""

    text: str = ""
    calls: Sequence[tuple[str, dict[str, Any]]] = ()
    """(tool, arguments), after the text."""
    ttft_ms: float = 0.0
    token_ms: float = 0.0
    """Between two words."""
    error: ModelError | None = None
    """Raised after the text and calls, instead of the finish."""
    usage: UsageReport | None = None
    recovered: bool = False


@dataclass
class ScriptedChatModel:
    """Plays its replies, one a request.

    Args:
        strict: with it, closing the model while replies are left is an error.
    """

    replies: Iterable[ScriptedReply]
    clock: Clock
    name: str = "scripted"
    strict: bool = True
    requests: list[ChatRequest] = field(default_factory=list)
    """What was asked, in order."""
    warmed: list[ChatRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._left = list(self.replies)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `ChatModel.stream`.

        Raises (from the iterator):
            HarnessError: the script ran out.
            ModelError: as the script says.
        """
        self.requests.append(request)
        if not self._left:
            raise HarnessError(f"the scripted model ran out of replies at request {len(self.requests)}", stage="llm")
        reply = self._left.pop(0)
        start_s = self.clock.now_s()
        yield StreamOpened(start_s, sent_s=start_s)
        yield FirstChunk(self.clock.now_s())
        due_s = start_s + reply.ttft_ms / 1000
        words = reply.text.split(" ") if reply.text else []
        for number, word in enumerate(words):
            await self.clock.sleep_until(due_s)
            yield TextDelta(self.clock.now_s(), word if number == 0 else f" {word}")
            due_s += reply.token_ms / 1000
        ready: list[ToolCallReady] = []
        for number, (tool, arguments) in enumerate(reply.calls):
            await self.clock.sleep_until(due_s)
            t_s = self.clock.now_s()
            yield ToolCallStarted(t_s, number)
            call_id = made_id(f"scripted-{len(self.requests)}", number, 0.0)
            raw = json.dumps(arguments, ensure_ascii=False)
            ready.append(ToolCallReady(t_s, call_id, tool, dict(arguments), raw, recovered=reply.recovered))
            due_s += reply.token_ms / 1000
        if reply.error is not None:
            raise reply.error
        for call in ready:
            yield call
        if reply.usage is not None:
            yield reply.usage
        yield Finished(self.clock.now_s(), "tool_calls" if ready else "stop")

    async def warm(self, prefixes: Sequence[ChatRequest]) -> None:
        """Remember what was asked for."""
        self.warmed += prefixes

    async def aclose(self) -> None:
        """End.

        Raises:
            HarnessError: replies are left, and the script is strict.
        """
        if self.strict and self._left:
            raise HarnessError(f"{len(self._left)} replies of the scripted model were never asked for", stage="llm")
