"""Make text and JSON of a model's storable: JSON may escape half a surrogate pair, and Python's parser accepts NaN."""

from __future__ import annotations

import math
from typing import Any

MAX_DEPTH = 40
"""Deeper values are cut: serialisers give up on them, and no argument of a tool is nested like that."""
TOO_DEEP = "(nested too deeply)"


def clean_text(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_json(value: Any, depth: int = 0) -> Any:
    """The value with every string cleaned, and numbers that JSON does not have (NaN, Infinity) as text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return TOO_DEEP
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_json(item, depth + 1) for item in value]
    return value
