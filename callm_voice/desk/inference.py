"""One inference: ask the model, take marks as bytes are read, pass text on, collect tool calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from callm_voice.core.errors import ModelProtocolError
from callm_voice.core.events import Cause, EventLog, InferenceEnded, InferenceMark, InferenceStarted, Mark
from callm_voice.desk.cleaning import clean_text
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


@dataclass
class Inference:
    """One request and what came of it.

    Args:
        inference_id: unique in the call, from 1.
    """

    inference_id: int
    turn_id: int
    cause: Cause
    text: str = ""
    calls: list[ToolCallReady] = field(default_factory=list)
    usage: UsageReport | None = None
    finished: bool = False
    _finish_reason: str | None = None
    _notes: tuple[str, ...] = ()
    _marked: set[Mark] = field(default_factory=set)
    _last_token_s: float | None = None

    async def stream(self, model: ChatModel, request: ChatRequest, log: EventLog) -> AsyncGenerator[str, None]:
        """Ask; yields pieces of the answer's text. However this ends, exactly one `InferenceEnded` is written.

        An empty piece says that a tool call has begun behind the text: what was said need not wait for its arguments.

        Raises:
            ModelError: from the model, or the stream ended without `Finished`.
        """
        error: str | None = None
        interrupted = said = False
        async with AsyncExitStack() as closing:
            try:
                await model.warm(())  # a connection that the server has closed is opened again before the clock runs
                log.emit(
                    InferenceStarted, inference_id=self.inference_id, turn_id=self.turn_id, cause=self.cause,
                    role=request.role, model=model.name, messages=len(request.messages), tools=len(request.tools),
                )  # fmt: skip
                events = model.stream(request)
                if (aclose := getattr(events, "aclose", None)) is not None:
                    closing.push_async_callback(aclose)
                async for event in events:
                    piece = self._take(event, log)
                    if piece:
                        self.text += piece
                        said = True
                        yield piece
                    elif said and isinstance(event, ToolCallStarted):
                        said = False
                        yield ""
                if not self.finished:
                    raise ModelProtocolError(f"{model.name}: the answer's stream ended without a finish")
                if self._last_token_s is not None:
                    self._mark("last_token", self._last_token_s, log)
            except (asyncio.CancelledError, GeneratorExit):
                interrupted = True
                raise
            except Exception as failure:  # written down, and raised on
                error = f"{type(failure).__name__}: {failure}"
                raise
            finally:
                self._end(log, interrupted=interrupted, error=error)

    def _take(self, event: StreamEvent, log: EventLog) -> str:
        """Take one event; the text in it, or nothing."""
        match event:
            case StreamOpened():
                self._mark("stream_opened", event.t_s, log)
            case FirstChunk():
                self._mark("first_chunk", event.t_s, log)
            case ReasoningDelta():
                self._mark("first_reasoning", event.t_s, log)
            case TextDelta() if event.text:
                self._token(event.t_s, log)
                if any(character.isalnum() for character in event.text):
                    self._mark("first_speakable", event.t_s, log)
                return clean_text(event.text)
            case ToolCallStarted():
                self._token(event.t_s, log)
            case ToolCallReady():
                self._token(event.t_s, log)
                self.calls.append(event)
            case UsageReport():
                self.usage = event
            case Finished():
                self.finished, self._finish_reason, self._notes = True, event.reason, event.notes
            case _:
                pass
        return ""

    def _token(self, t_s: float, log: EventLog) -> None:
        self._mark("first_token", t_s, log)
        self._last_token_s = max(t_s, self._last_token_s or t_s)

    def _mark(self, mark: Mark, t_s: float, log: EventLog) -> None:
        """Write a mark the first time."""
        if mark not in self._marked:
            self._marked.add(mark)
            log.emit(InferenceMark, at_s=t_s, inference_id=self.inference_id, mark=mark)

    def _end(self, log: EventLog, *, interrupted: bool, error: str | None) -> None:
        if not self.finished:
            self.calls.clear()  # half an answer's calls are dropped
        usage = self.usage or UsageReport(0.0)
        log.emit(
            InferenceEnded, inference_id=self.inference_id, text=self.text, tool_calls=len(self.calls),
            finish_reason=self._finish_reason, prompt_tokens=usage.prompt_tokens, cached_tokens=usage.cached_tokens,
            completion_tokens=usage.completion_tokens, reasoning_tokens=usage.reasoning_tokens,
            recovered_tool_calls=sum(call.recovered for call in self.calls), interrupted=interrupted, error=error,
            notes=self._notes,
        )  # fmt: skip
