"""How figures are written on a page. Missing is a dash, never a zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from callm_voice.report.text import mm_ss, value
from verifier.trace import Row

DASH = "–"
MAX_VALUE = 4000
"""Characters of one JSON value on a page; the call's own file has all of it."""


def ms(figure: float | None) -> str:
    """`1,234`, without the unit."""
    return DASH if figure is None else f"{figure:,.0f}"


def ms_at_bar(figure: float | None, bar_ms: float) -> str:
    """Whole milliseconds, finer only where rounding would hide on which side of the bar it is."""
    return f"{figure:,.3f}" if figure is not None and 0 < abs(figure - bar_ms) < 1 else ms(figure)


def percent(share: float | None) -> str:
    """`66.7 %`."""
    return DASH if share is None else f"{100 * share:.1f} %"


def money(usd: float | None) -> str:
    """`$0.087`; a dash where the price is unknown."""
    return DASH if usd is None else f"${usd:,.3f}"


def clipped(item: Any, limit: int = MAX_VALUE) -> str:
    """A JSON value on one line, cut where it is very long."""
    text = value(item)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} characters more in call.json)"


def arguments(args: Row, limit: int = 160) -> str:
    """`name=value · name=value`, for a summary line."""
    text = " · ".join(f"{name}={value(item)}" for name, item in args.items())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 call`, `2 calls`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


FILTERS: dict[str, Callable[..., str]] = {
    "ms": ms,
    "percent": percent,
    "money": money,
    "clock": mm_ss,
    "value": clipped,
    "arguments": arguments,
    "plural": plural,
}
