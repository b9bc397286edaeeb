"""What is in one chunk of a stream: its JSON, its content, the error that it may be."""

from __future__ import annotations

import json
from typing import Any

from callm_voice.core.errors import ModelProtocolError
from callm_voice.llm.sse import SseEvent, offending


def json_object(event: SseEvent) -> dict[str, Any]:
    """The chunk of an event; an error in it is raised."""
    try:
        chunk = json.loads(event.data)
    except (ValueError, RecursionError):
        if event.event == "error":
            raise ModelProtocolError(f"the server broke off: {offending(event.data)}") from None
        raise ModelProtocolError(f"a chunk is not JSON: {offending(event.data)}") from None
    if not isinstance(chunk, dict):
        raise ModelProtocolError(f"a chunk is not an object: {offending(event.data)}")
    error = chunk.get("error")
    if error or event.event == "error" or chunk.get("object") == "error":
        detail = error.get("message") if isinstance(error, dict) else error or chunk.get("message")
        raise ModelProtocolError(f"the server broke off: {offending(str(detail or event.data))}")
    return chunk


def content_parts(content: Any, event: SseEvent) -> list[tuple[str, str]]:
    """Content as (`text` or `reasoning`, text): a string, or a list of parts as some vendors send it."""
    if content is None:
        return []
    if isinstance(content, str):
        return [("text", content)]
    if not isinstance(content, list):
        raise ModelProtocolError(f"content is neither text nor parts: {offending(event.data)}")
    parts: list[tuple[str, str]] = []
    for part in content:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            parts.append(("text", part["text"]))
        elif isinstance(part, dict) and part.get("type") == "thinking":
            parts += [("reasoning", text) for _, text in content_parts(part.get("thinking"), event)]
        else:
            raise ModelProtocolError(f"a content part of an unknown form: {offending(event.data)}")
    return parts
