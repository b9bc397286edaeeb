"""What the fault proxy says on the wire: refusals, broken streams, and answers with their tool calls changed. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

RETRY_AFTER_S = 2
UNKNOWN_TOOL = "no_such_tool"
BAD_JSON = '{"cut": '
TRANSFER_PREFIX = "transfer_to_"
"""How the desk names handoffs (`desk.tools`)."""
_KEPT_HEADERS = ("content-type", "retry-after")


def _refusal(status: str, message: str, *headers: str) -> bytes:
    body = json.dumps({"error": {"message": f"{message} (an injected fault)", "type": "injected"}}).encode()
    head = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(head).encode() + body


def _event(part: dict[str, Any] | str) -> bytes:
    envelope = {"id": "chatcmpl-fault", "object": "chat.completion.chunk", "created": 0, "model": "fault"}
    return f"data: {part if isinstance(part, str) else json.dumps({**envelope, **part})}\n\n".encode()


def _delta(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def role_chunk() -> bytes:
    """How every answer begins: no token yet."""
    return _delta({"role": "assistant", "content": ""})


def endless_chunk(number: int) -> bytes:
    """A piece of an answer that never ends."""
    return _delta({"content": "and then again, " if number % 4 else "So it goes on. "})


REFUSALS = {
    "llm-401": _refusal("401 Unauthorized", "the key is not valid"),
    "llm-404": _refusal("404 Not Found", "there is no such model"),
    "llm-429": _refusal("429 Too Many Requests", "too many requests", f"Retry-After: {RETRY_AFTER_S}"),
    "llm-500": _refusal("500 Internal Server Error", "something broke"),
}
_USAGE = {"prompt_tokens": 100, "completion_tokens": 0, "total_tokens": 100}
WHOLE_ANSWERS = {
    "llm-garbage": b"data: <html><body>busy</body></html>\n\n",
    "llm-role-only": role_chunk() + _event("[DONE]"),
    "llm-empty": role_chunk() + _delta({}, "stop") + _event({"choices": [], "usage": _USAGE}) + _event("[DONE]"),
}
REWRITES = frozenset({"llm-unknown-tool", "llm-bad-json", "llm-parallel-handoff"})


def reply_head(status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
    """The head of a chunked answer; of the server's headers only those that the client reads."""
    given = {"content-type": "text/event-stream"} if headers is None else headers
    kept = [f"{name}: {given[name]}" for name in _KEPT_HEADERS if name in given]
    return "\r\n".join([f"HTTP/1.1 {status} -", *kept, "transfer-encoding: chunked", "", ""]).encode("latin-1")


def has_token(event: bytes) -> bool:
    """Whether a server-sent event holds a piece of text or of a tool call."""
    return any(delta.get("content") or delta.get("tool_calls") for chunk in _chunks(event) for delta in _deltas(chunk))


@dataclass
class Strip:
    """Tool calls that the model never made."""

    ids: set[str] = field(default_factory=set)

    def new_id(self) -> str:
        """For a call that is put into the model's mouth."""
        call_id = f"fault{len(self.ids) + 1:04}"
        self.ids.add(call_id)
        return call_id

    def taken_out(self, body: bytes) -> bytes:
        """A request without those calls and without the answers to them."""
        if not self.ids:
            return body
        request = json.loads(body)
        request["messages"] = list(self._kept(request["messages"]))
        return json.dumps(request, ensure_ascii=False).encode()

    def _kept(self, messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for message in messages:
            if message.get("tool_call_id") in self.ids:
                continue
            calls = message.get("tool_calls")
            if calls is None:
                yield message
                continue
            own = [call for call in calls if call["id"] not in self.ids]
            if own:
                yield {**message, "tool_calls": own}
            elif message.get("content"):
                yield {key: value for key, value in message.items() if key != "tool_calls"}


def rewritten(name: str, body: bytes, request: dict[str, Any], due: Callable[[], bool], strip: Strip) -> bytes:
    """A whole event stream with its tool calls changed.

    Args:
        name: which of `REWRITES`.
        due: asked once for each answer that the fault could change.
    """
    chunks = list(_chunks(body))
    named = [fragment["function"]["name"] for fragment in _fragments(chunks) if fragment["function"].get("name")]
    handoff = name == "llm-parallel-handoff"
    if not any(called.startswith(TRANSFER_PREFIX) for called in named) if handoff else not named:
        return body
    if not due():
        return body
    if handoff:
        _add_call(chunks, _other_tool(request), len(named), strip)
    else:
        _spoil(chunks, name, strip)
    return b"".join(_event(chunk) for chunk in chunks) + _event("[DONE]")


def _spoil(chunks: list[dict[str, Any]], name: str, strip: Strip) -> None:
    """Give every call an id of ours, and a name that no tool has or arguments that are cut off."""
    for fragment in _fragments(chunks):
        function = fragment["function"]
        first = bool(function.get("name"))
        if first:
            fragment["id"] = strip.new_id()
        if name == "llm-unknown-tool":
            if first:
                function["name"] = UNKNOWN_TOOL
        else:
            function["arguments"] = BAD_JSON if first else ""


def _add_call(chunks: list[dict[str, Any]], tool: str, index: int, strip: Strip) -> None:
    """Put a further call, without arguments, behind the last one."""
    last = max(n for n, chunk in enumerate(chunks) if any(delta.get("tool_calls") for delta in _deltas(chunk)))
    call = {"index": index, "id": strip.new_id(), "type": "function", "function": {"name": tool, "arguments": "{}"}}
    chunks.insert(last + 1, {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]})


def _other_tool(request: dict[str, Any]) -> str:
    """A tool that is offered and is no handoff."""
    names = [tool["function"]["name"] for tool in request.get("tools") or ()]
    return next((name for name in names if not name.startswith(TRANSFER_PREFIX)), UNKNOWN_TOOL)


def _chunks(stream: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of an event stream."""
    for line in stream.splitlines():
        data = line.removeprefix(b"data:").strip()
        if line.startswith(b"data:") and data.startswith(b"{"):
            yield json.loads(data)


def _deltas(chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for choice in chunk.get("choices") or ():
        yield choice.get("delta") or {}


def _fragments(chunks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """All pieces of tool calls, in order."""
    for chunk in chunks:
        for delta in _deltas(chunk):
            yield from delta.get("tool_calls") or ()
