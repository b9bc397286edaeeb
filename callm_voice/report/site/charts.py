"""Plain charts as numbers for the template: distributions and points, with the bar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from callm_voice.core.latency import TTFT_BAR_MS
from callm_voice.probes.percentiles import quantile

WIDTH, HEIGHT = 560, 290
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 14, 44
DASHES = ("", "9 4", "2 4", "12 4 2 4", "5 3", "1 5")
"""A series is known by its dashes as well as by its colour."""
STEPS = 120
"""Points of one distribution, at most."""
MAX_POINTS = 600
SHAPES = ("round", "square")


@dataclass(frozen=True)
class Series:
    """One line or one set of points."""

    label: str
    number: int
    dash: str
    path: str
    dots: str = ""
    """`round` or `square`: the path is of single dots of that shape; empty: it is a line."""


@dataclass(frozen=True)
class Chart:
    """A chart with its axes."""

    label: str
    x_title: str
    y_title: str
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    series: tuple[Series, ...]
    bar_x: float | None = None
    bar_y: float | None = None
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def distribution(label: str, groups: Sequence[tuple[str, Sequence[float]]]) -> Chart | None:
    """The share of requests that were answered within a time, on a logarithmic scale; None without any."""
    filled = [(name, sorted(values)) for name, values in groups if values]
    if not filled:
        return None
    low = max(1.0, min(TTFT_BAR_MS, *(values[0] for _, values in filled))) * 0.8
    high = max(TTFT_BAR_MS, *(values[-1] for _, values in filled)) * 1.25

    def x(ms: float) -> float:
        share = math.log(max(ms, low) / low) / math.log(high / low)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    series = []
    for number, (name, values) in enumerate(filled):
        shares = (
            [n / STEPS for n in range(STEPS + 1)]
            if len(values) > STEPS
            else [n / len(values) for n in range(len(values) + 1)]
        )
        points = [(x(quantile(values, share)), _y(share)) for share in shares]
        path = f"M{x(values[0])} {_y(0)} " + " ".join(f"L{px} {py}" for px, py in points)
        series.append(Series(f"{name}, n = {len(values):,}", number, DASHES[number % len(DASHES)], path))
    ticks = tuple((x(ms), f"{ms:,.0f}") for ms in _log_ticks(low, high))
    y_ticks = tuple((_y(share), f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    return Chart(
        label, "time to first token, ms", "share of requests", ticks, y_ticks, tuple(series), bar_x=x(TTFT_BAR_MS)
    )


def against_tokens(label: str, groups: Sequence[tuple[str, Sequence[tuple[int, float]]]]) -> Chart | None:
    """Time to first token against prompt tokens, with the bar; None without any."""
    filled = [(name, _thinned(points)) for name, points in groups if points]
    if not filled:
        return None
    most_tokens = max(tokens for _, points in filled for tokens, _ in points) * 1.05
    most_ms = max(TTFT_BAR_MS, *(ms for _, points in filled for _, ms in points)) * 1.08

    def x(tokens: float) -> float:
        return round(LEFT + tokens / most_tokens * (WIDTH - LEFT - RIGHT), 1)

    series = tuple(
        Series(name, number, "", _dots([(x(tokens), _y(ms / most_ms)) for tokens, ms in points]), SHAPES[number % 2])
        for number, (name, points) in enumerate(filled)
    )
    x_ticks = tuple((x(value), f"{value:,.0f}") for value in _even_ticks(most_tokens))
    y_ticks = tuple((_y(value / most_ms), f"{value:,.0f}") for value in _even_ticks(most_ms))
    bar = _y(TTFT_BAR_MS / most_ms)
    return Chart(label, "prompt tokens", "time to first token, ms", x_ticks, y_ticks, series, bar_y=bar)


def _dots(points: Sequence[tuple[float, float]]) -> str:
    """One path for all dots, each a stroke without length: a tenth of the bytes of an element each."""
    return "".join(f"M{x} {y}h0" for x, y in points)


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def _thinned(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Evenly over the points in their order, at most `MAX_POINTS`."""
    stride = max(1, -(-len(points) // MAX_POINTS))
    return list(points[::stride])


def _log_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    inside = [tick for tick in ticks if low <= tick <= high]
    return inside if len(inside) <= 10 else [tick for tick in inside if math.log10(tick).is_integer()]


def _even_ticks(most: float) -> list[float]:
    rough = most / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return [step * n for n in range(int(most / step) + 1)]
