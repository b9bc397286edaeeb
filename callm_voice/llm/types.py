"""What goes to a model and what comes back, piece by piece, with the time at which each piece was read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = dict[str, Any]
"""One message in the form of OpenAI's chat completions: role, content, tool_calls, tool_call_id."""
ToolSchema = dict[str, Any]
"""`{"type": "function", "function": {"name", "description", "parameters"}}`."""


@dataclass(frozen=True)
class ChatRequest:
    """One inference."""

    messages: Sequence[Message]
    """The system prompt first."""
    tools: Sequence[ToolSchema] = ()
    role: str = ""
    """The desk's role; the embedded server keeps one slot per role."""
    max_tokens: int | None = None
    """None: what the model's spec says."""


@dataclass(frozen=True)
class StreamOpened:
    """Response headers arrived with status 200."""

    t_s: float
    sent_s: float | None = None
    """When the request itself was sent: opening a connection lies before. None: not known."""


@dataclass(frozen=True)
class FirstChunk:
    """The first data of the stream, whatever it holds (often only the role)."""

    t_s: float


@dataclass(frozen=True)
class ReasoningDelta:
    """Thinking that is not part of the answer."""

    t_s: float
    text: str


@dataclass(frozen=True)
class TextDelta:
    """A piece of the answer.

    `t_s` is when the first byte of it was read; while a parser holds text back that may turn out to be a tool call,
    the time is that of the reading, not of the release.
    """

    t_s: float
    text: str


@dataclass(frozen=True)
class ToolCallStarted:
    """The first delta of a tool call was read."""

    t_s: float
    index: int


@dataclass(frozen=True)
class ToolCallReady:
    """A whole tool call, emitted once the stream has ended (or the call can no longer change)."""

    t_s: float
    call_id: str
    name: str
    arguments: dict[str, Any]
    raw_arguments: str
    error: str | None = None
    """Why the arguments could not be used: not JSON, cut, not an object. `arguments` is empty then."""
    recovered: bool = False
    """It came as JSON text in the content."""


@dataclass(frozen=True)
class UsageReport:
    """Token counts; None where the server did not say."""

    t_s: float
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True)
class Finished:
    """The stream is over. Always the last event."""

    t_s: float
    reason: str | None
    """`stop`, `tool_calls`, `length`, ... as the server said; None: it did not say."""
    notes: tuple[str, ...] = field(default=())
    """Irregularities that were mended: `two calls at index 0`, `first call at index 1`, ..."""


StreamEvent = (
    StreamOpened | FirstChunk | ReasoningDelta | TextDelta | ToolCallStarted | ToolCallReady | UsageReport | Finished
)


class ChatModel(Protocol):
    """A model that can be asked. The first answer token is the first TextDelta or ToolCallStarted."""

    name: str

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        """Ask; yields events in the order of reading, `Finished` last. Closing the iterator closes the connection.

        Raises (from the iterator):
            ModelError: connect, status, timeout or protocol; nothing is retried.
        """
        ...

    async def warm(self, prefixes: Sequence[ChatRequest]) -> None:
        """Prepare before the call: open a connection, fill prefix caches. May do nothing."""
        ...

    async def aclose(self) -> None:
        """Close connections and end server processes that were started for this model."""
        ...
