"""One measured request through the client that calls use, with the moments that calls mark."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from callm_voice.core.clock import Clock
from callm_voice.core.errors import ModelError
from callm_voice.llm.types import (
    ChatModel,
    ChatRequest,
    Finished,
    FirstChunk,
    ReasoningDelta,
    StreamEvent,
    StreamOpened,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    UsageReport,
)

MIN_DECODE_TOKENS = 8
"""A shorter answer says too little about decoding."""
ERROR_CHARS = 200


@dataclass
class Exchange:
    """A request and what came of it. Times are seconds on the clock; None where the moment never came."""

    sent_s: float
    stream_opened_s: float | None = None
    first_chunk_s: float | None = None
    first_reasoning_s: float | None = None
    first_token_s: float | None = None
    first_speakable_s: float | None = None
    last_token_s: float | None = None
    pieces: int = 0
    tool_calls: int = 0
    usage: UsageReport = field(default_factory=lambda: UsageReport(0.0))
    finish_reason: str | None = None
    error: ModelError | None = None

    @property
    def thought(self) -> bool:
        """Whether the model thought before it answered, or ran out of tokens before it said anything."""
        starved = self.error is None and self.first_token_s is None and self.finish_reason == "length"
        return self.first_reasoning_s is not None or starved or bool(self.usage.reasoning_tokens)

    def ms(self, t_s: float | None) -> float | None:
        """A moment as milliseconds after the sending."""
        return None if t_s is None else round((t_s - self.sent_s) * 1000, 3)

    def error_line(self) -> str | None:
        """Kind and message of the failure."""
        return None if self.error is None else f"{type(self.error).__name__}: {self.error.message}"[:ERROR_CHARS]

    def tokens_per_s(self, *, by_pieces: bool) -> float | None:
        """Answer tokens after the first over the time after the first.

        Args:
            by_pieces: count the deltas (the oracle sends a token in each) instead of what the server says.
        """
        said, usage = self.pieces, self.usage
        if not by_pieces:
            if usage.completion_tokens is None or (self.first_reasoning_s and usage.reasoning_tokens is None):
                return None
            said = usage.completion_tokens - (usage.reasoning_tokens or 0)
        if self.first_token_s is None or self.last_token_s is None or said < MIN_DECODE_TOKENS:
            return None
        took_s = self.last_token_s - self.first_token_s
        return round((said - 1) / took_s, 3) if took_s > 0 else None


async def exchange(model: ChatModel, request: ChatRequest, clock: Clock) -> Exchange:
    """Ask, read to the end. A failure of the model is in the result, not raised."""
    found = Exchange(sent_s=clock.now_s())
    async with AsyncExitStack() as closing:
        try:
            await model.warm(())  # a closed connection is opened before the clock runs, as in a call
            found.sent_s = clock.now_s()
            events = model.stream(request)
            if (aclose := getattr(events, "aclose", None)) is not None:
                closing.push_async_callback(aclose)
            async for event in events:
                _take(found, event)
        except ModelError as error:
            found.error = error
    return found


def _take(found: Exchange, event: StreamEvent) -> None:
    match event:
        case StreamOpened():
            found.stream_opened_s = event.t_s
            found.sent_s = found.sent_s if event.sent_s is None else event.sent_s
        case FirstChunk():
            found.first_chunk_s = event.t_s
        case ReasoningDelta():
            found.first_reasoning_s = found.first_reasoning_s or event.t_s
        case TextDelta() if event.text:
            _token(found, event.t_s)
            found.pieces += 1
            if found.first_speakable_s is None and any(character.isalnum() for character in event.text):
                found.first_speakable_s = event.t_s
        case ToolCallStarted():
            _token(found, event.t_s)
            found.tool_calls += 1
        case ToolCallReady():
            _token(found, event.t_s)
        case UsageReport():
            found.usage = event
        case Finished():
            found.finish_reason = event.reason
        case _:
            pass


def _token(found: Exchange, t_s: float) -> None:
    found.first_token_s = t_s if found.first_token_s is None else min(t_s, found.first_token_s)
    found.last_token_s = max(t_s, found.last_token_s or t_s)
