"""Text for the terminal: times, and strings of models and packs made safe to print."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from rich.text import Text

_UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control characters (escape sequences begin with one), bidirectional overrides, lone surrogates, line separators."""


def plain(text: str) -> str:
    """One line: white space becomes one blank; a character that could steer the terminal becomes `?`."""
    joined = " ".join(text.split())
    return "".join("?" if unicodedata.category(c) in _UNSAFE_CATEGORIES else c for c in joined)


def clip(text: str, width: int) -> str:
    """At most `width` characters, `...` at the end where something was left out."""
    return text if len(text) <= width else text[: max(0, width - 3)] + "..."


def mm_ss(t_ms: float) -> str:
    """`03:07.4`; `-00:01.2` before the line started."""
    tenths = round(abs(t_ms) / 100)
    sign = "-" if t_ms < 0 and tenths else ""
    return f"{sign}{tenths // 600:02d}:{tenths // 10 % 60:02d}.{tenths % 10}"


def value(item: Any) -> str:
    """A JSON value on one line; a plain string without its quotes unless it would look like another value."""
    if isinstance(item, str) and item and item == plain(item) and not _looks_like_json(item):
        return item
    return plain(json.dumps(item, ensure_ascii=False, default=str))


def arguments(args: dict[str, Any]) -> str:
    """`name=value, name=value`."""
    return ", ".join(f"{plain(name)}={value(item)}" for name, item in args.items())


def styled(text: str, style: str = "") -> Text:
    """Text as it stands: markup in it is not interpreted."""
    return Text(plain(text), style=style)


def _looks_like_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
