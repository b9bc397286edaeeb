"""The stream of a chat completion, from bytes to events, without I/O.

`StreamParser` is fed bytes and the time at which they were read; it gives the same events however they are chunked.
The first answer token is the first non-empty content or the first tool-call delta; a chunk that holds only the role is
none. What is held back because it may be thinking or a tool call keeps the time at which it was read.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from callm_voice.core.errors import ModelProtocolError
from callm_voice.llm.chunks import content_parts, json_object
from callm_voice.llm.recover import CallRecoverer, FoundCall, HeldText
from callm_voice.llm.sse import SseDecoder, SseEvent, offending
from callm_voice.llm.thinking import Part, ThinkSplitter
from callm_voice.llm.toolcalls import ToolCallAssembler, made_id
from callm_voice.llm.types import (
    Finished,
    FirstChunk,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
)
from callm_voice.llm.usage import UsageTaker

_DONE = "[DONE]"
MAX_ANSWER_CHARS = 10_000
"""Of text and tool arguments in one answer: ten minutes of speech. A model that goes on is cut there, as a server cuts
it at `max_tokens`: no limit of time ends an answer that keeps coming."""


class StreamParser:
    """One answer.

    Args:
        tools: names of the offered tools.
        recover_calls: take JSON text for tool calls (the model's spec says so).
    """

    def __init__(self, tools: Collection[str] = (), *, recover_calls: bool = False) -> None:
        self._sse = SseDecoder()
        self._think = ThinkSplitter()
        self._recover = CallRecoverer(frozenset(tools)) if recover_calls else None
        self._assembler = ToolCallAssembler(frozenset(tools))
        self._usage = UsageTaker()
        self._recovered: list[ToolCallReady] = []
        self._notes: list[str] = []
        self._response_id = ""
        self._reason: str | None = None
        self._seen_data = self._seen_delta = False
        self._answer_chars = 0
        self.finished = False
        """`Finished` was given; nothing may follow."""
        self.first_token_s: float | None = None
        """When the first answer token was read, also while it is held back."""
        self.last_progress_s: float | None = None
        """When something was read last that moves the answer on: no comments, no empty deltas."""
        self.reasoning_chars = 0

    def feed(self, data: bytes, t_s: float) -> list[StreamEvent]:
        """Take bytes that were read at `t_s`; what they complete.

        Raises:
            ModelProtocolError: not an event stream of chat completions, or the server reports an error in it.
        """
        return self._take_all(self._sse.feed(data, t_s), t_s)

    def end(self, t_s: float) -> list[StreamEvent]:
        """The body ended.

        Raises:
            ModelProtocolError: the answer did not: no `[DONE]` and no finish reason came.
        """
        events = self._take_all(self._sse.end(t_s), t_s)
        if self.finished:
            return events
        if not self._seen_data:
            raise ModelProtocolError("the answer's stream is empty")
        if self._reason is None:
            raise ModelProtocolError("the answer's stream was cut: neither a finish_reason nor [DONE] came")
        self._note("no [DONE]")
        return events + self._finish(t_s)

    def _take_all(self, found: list[SseEvent], t_s: float) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for event in found:
            if self.finished:
                break
            if event.data.strip() == _DONE:
                events += self._finish(t_s)
            elif event.data.strip():
                events += self._take(event)
                if self._answer_chars > MAX_ANSWER_CHARS:
                    self._reason = "length"
                    self._note(f"cut after {MAX_ANSWER_CHARS} characters")
                    events += self._finish(t_s)
        return events

    def _take(self, event: SseEvent) -> list[StreamEvent]:
        chunk = json_object(event)
        t_s = event.t_s
        events: list[StreamEvent] = []
        if not self._seen_data:
            self._seen_data = True
            self.last_progress_s = t_s
            events.append(FirstChunk(t_s))
        if isinstance(chunk.get("id"), str):
            self._response_id = self._response_id or chunk["id"]
        if self._usage.take(chunk, t_s):
            self.last_progress_s = t_s
        choices = chunk.get("choices")
        if choices is None or choices == []:
            return events
        if not isinstance(choices, list) or not all(isinstance(c, dict) for c in choices):
            raise ModelProtocolError(f"choices is not a list of objects: {offending(event.data)}")
        for choice in choices:
            if choice.get("index") not in (None, 0):
                self._note("more than one choice")
                continue
            events += self._take_choice(choice, t_s, event)
        return events

    def _take_choice(self, choice: dict[str, Any], t_s: float, event: SseEvent) -> list[StreamEvent]:
        delta = choice.get("delta")
        if delta is None and isinstance(choice.get("message"), dict) and not self._seen_delta:
            self._note("a whole message instead of deltas")
            delta = choice["message"]
        delta = {} if delta is None else delta
        if not isinstance(delta, dict):
            raise ModelProtocolError(f"delta is not an object: {offending(event.data)}")
        events = self._take_reasoning(delta, t_s)
        events += self._take_content(delta, t_s, event)
        events += self._take_calls(delta, t_s, event)
        if isinstance(choice.get("finish_reason"), str) and choice["finish_reason"]:
            self._reason = choice["finish_reason"]
            self.last_progress_s = t_s
        return events

    def _take_reasoning(self, delta: dict[str, Any], t_s: float) -> list[StreamEvent]:
        text = next((delta[k] for k in ("reasoning_content", "reasoning") if isinstance(delta.get(k), str)), "")
        return self._sorted([("reasoning", t_s, text)]) if text else []

    def _take_content(self, delta: dict[str, Any], t_s: float, event: SseEvent) -> list[StreamEvent]:
        parts: list[Part] = []
        content = [(kind, text) for kind, text in content_parts(delta.get("content"), event) if text]
        if isinstance(delta.get("refusal"), str) and delta["refusal"]:
            content.append(("text", delta["refusal"]))
        if content:
            self.last_progress_s = t_s
        for kind, text in content:
            if kind == "reasoning":
                parts.append(("reasoning", t_s, text))
            else:
                parts += self._think.feed(text, t_s)
        return self._sorted(parts)

    def _sorted(self, parts: list[Part]) -> list[StreamEvent]:
        """Reasoning and text as events; text goes through the recoverer if there is one."""
        events: list[StreamEvent] = []
        for kind, t_s, text in parts:
            self._seen_delta = True
            self.last_progress_s = max(t_s, self.last_progress_s or t_s)
            if kind == "reasoning":
                self.reasoning_chars += len(text)
                events.append(ReasoningDelta(t_s, text))
                continue
            self._token(t_s)
            self._answer_chars += len(text)
            if self._recover is None:
                events.append(TextDelta(t_s, text))
            else:
                events += self._released(self._recover.feed(text, t_s))
        return events

    def _released(self, pieces: list[HeldText | FoundCall]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for piece in pieces:
            if isinstance(piece, HeldText):
                events.append(TextDelta(piece.t_s, piece.text))
                continue
            if piece.mended:
                self._note("a recovered call without its last brace")
            number = len(self._recovered)
            call_id = made_id(f"{self._response_id}:text", number, piece.t_s)
            events.append(ToolCallStarted(piece.t_s, number))
            self._recovered.append(
                ToolCallReady(
                    piece.end_s, call_id, piece.name, piece.arguments, piece.raw_arguments, piece.error, recovered=True
                )
            )
        return events

    def _take_calls(self, delta: dict[str, Any], t_s: float, event: SseEvent) -> list[StreamEvent]:
        fragments = delta.get("tool_calls") or []
        if not isinstance(fragments, list) or not all(isinstance(f, dict) for f in fragments):
            raise ModelProtocolError(f"tool_calls is not a list of objects: {offending(event.data)}")
        if isinstance(delta.get("function_call"), dict):  # the older form of one call
            fragments = [*fragments, {"function": delta["function_call"]}]
        events: list[StreamEvent] = []
        for fragment in fragments:
            self._seen_delta = True
            self._token(t_s)
            self.last_progress_s = t_s
            self._answer_chars += len(str((fragment.get("function") or {}).get("arguments") or ""))
            events += self._assembler.feed(fragment, t_s)
        return events

    def _finish(self, t_s: float) -> list[StreamEvent]:
        """The answer is over: release what is held, then calls, usage and `Finished`."""
        events = self._sorted(self._think.end())
        if self._think.unclosed:
            self._note("thinking that does not end")
        if self._recover is not None:
            events += self._released(self._recover.end(cut=self._reason == "length"))
        calls = self._assembler.finish(cut=self._reason == "length", response_id=self._response_id)
        events += [*calls, *self._recovered]
        if self._usage.report is not None:
            events.append(self._usage.report)
        if self._reason is None:
            self._note("no finish_reason")
        if self.first_token_s is None:
            self._note("no answer token")
        notes = [*self._notes, *self._assembler.notes]
        if any(call.error for call in [*calls, *self._recovered]):
            notes.append("a tool call that cannot be used")
        self.finished = True
        events.append(Finished(t_s, self._reason, tuple(notes)))
        return events

    def _token(self, t_s: float) -> None:
        if self.first_token_s is None:
            self.first_token_s = t_s

    def _note(self, note: str) -> None:
        if note not in self._notes:
            self._notes.append(note)
