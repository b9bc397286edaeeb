"""How a tool call looks as text: where it may begin, where its object ends, what may stand around it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from callm_voice.llm.toolcalls import parse_arguments

_TAGS = ("<tool_call>", "<tool_calls>", "<function_call>", "<tools>")
_KEYS = ("name", "arguments", "parameters", "type", "function", "id")
_ARGUMENT_KEYS = ("arguments", "parameters")
_TOOL_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""Two lower-case words at least: a person's or a product's name is not taken for a tool's."""
_FENCE = re.compile(r"```[A-Za-z_]{0,12}\s*")
NAMED = re.compile(r'"name"\s*:\s*"([^"\\]+)"')
AFTER = re.compile(r"[\s,;\]}]+|```(?:json)?|</?(?:tool_calls?|function_call|tools)>|<\|im_end\|>")
"""What may stand after a recovered call and is no text: separators and closing marks."""
TRAILING = re.compile(r"(?:\s|`|</?tool_calls?>)+$")
AFTER_TOKENS = ("```json", "</tool_call>", "</tool_calls>", "</function_call>", "</tools>", "<|im_end|>", *_TAGS)


def possible_start(text: str) -> int | None:
    """Offset of the first character that may begin a call, or None."""
    match = re.search(r"[{\[`<]", text)
    return match.start() if match else None


def opener_length(text: str) -> int | None:
    """Length of fences, tags and array brackets before the object; None: cannot tell yet; -1: no call begins here."""
    at = 0
    while True:
        rest = text[at:]
        if rest.startswith("{"):
            return at
        if not rest or rest.isspace():
            return None
        if at and rest[0].isspace():
            at += len(rest) - len(rest.lstrip())
        elif rest[0] == "[":
            at += 1
        elif rest[0] == "`":
            if match := _FENCE.match(rest):
                at += match.end()
            else:
                return None if "```".startswith(rest) else -1
        elif rest[0] == "<":
            tag = next((tag for tag in _TAGS if rest.startswith(tag)), None)
            if tag is None:
                return None if any(tag.startswith(rest) for tag in _TAGS) else -1
            at += len(tag)
        else:
            return -1


def may_be_call_object(text: str) -> bool:
    """Whether an object that begins so may still be a call: its first key is one of a call's."""
    inner = text[1:].lstrip()
    if not inner:
        return True
    if inner[0] != '"':
        return False
    key, quote, _ = inner[1:].partition('"')
    return key in _KEYS if quote else any(known.startswith(key) for known in _KEYS)


def object_end(text: str, start: int) -> int | None:
    """Offset after the object that begins at `start`; None: it does not end in `text`."""
    depth, in_string, escaped = 0, False, False
    for at in range(start, len(text)):
        char = text[at]
        if in_string:
            escaped, in_string = char == "\\" and not escaped, char != '"' or escaped
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
    return None


def is_call_name(name: str, text: str, tools: Collection[str]) -> bool:
    """Whether an object `text` that names `name` is meant as a call."""
    if name in tools:
        return True
    return bool(_TOOL_NAME.fullmatch(name)) and any(f'"{key}"' in text for key in _ARGUMENT_KEYS)


def as_call(
    text: str, tools: Collection[str], *, strict: bool = False
) -> tuple[str, dict[str, Any], str, str | None] | None:
    """(name, arguments, raw arguments, error) if the object is a call: of an offered tool, or of any other by a name
    that a tool may have, if it gives arguments. A call of what was not offered is the desk's to refuse: read aloud, it
    would teach the model nothing.

    Args:
        strict: no call, instead of one with an error, if it is not JSON.
    """
    try:
        value = json.loads(text, strict=False)  # models put raw line ends into strings
    except (ValueError, RecursionError):
        named = None if strict else NAMED.search(text)
        if named and is_call_name(named.group(1), text, tools) and any(f'"{key}"' in text for key in _ARGUMENT_KEYS):
            return named.group(1), {}, text, "the call is not JSON"
        return None
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = value.get("name")
    if not isinstance(name, str) or not is_call_name(name, text, tools) or not set(value) <= set(_KEYS):
        return None
    given = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    raw = given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)
    arguments, error = parse_arguments(raw, cut=False)
    return name, arguments, raw, error
