"""The body of a chat completion request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from callm_voice.llm.spec import OpenAiSpec
from callm_voice.llm.types import ChatRequest, Message


def request_body(spec: OpenAiSpec, request: ChatRequest, extra: Mapping[str, Any] | None = None) -> bytes:
    """JSON as UTF-8. Only what the spec or the request says is sent, besides `stream` and the wish for token counts."""
    body: dict[str, Any] = {
        "model": spec.model,
        "messages": [_message(spec, message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = list(request.tools)
    max_tokens = request.max_tokens if request.max_tokens is not None else spec.max_tokens
    wished = {
        "temperature": spec.temperature,
        "top_p": spec.top_p,
        "seed": spec.seed,
        spec.max_tokens_key: max_tokens,
    }
    body |= {key: value for key, value in wished.items() if value is not None}
    body |= {**spec.extra_body, **(extra or {})}
    return json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace")


def offered_tools(request: ChatRequest) -> frozenset[str]:
    """Names of the request's tools."""
    return frozenset(str(tool.get("function", {}).get("name", "")) for tool in request.tools) - {""}


def _message(spec: OpenAiSpec, message: Message) -> Message:
    if message.get("role") == "developer" and not spec.supports_developer_role:
        return {**message, "role": "system"}
    return message
