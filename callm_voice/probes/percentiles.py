"""Percentiles of latencies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from callm_voice.core.latency import Percentiles


def quantile(ordered: Sequence[float], q: float) -> float:
    """The `q`-quantile of ascending values by linear interpolation between the two nearest ranks.

    This is type 7 of Hyndman and Fan (1996), numpy's default: the rank is q * (n - 1), counted from 0.

    Args:
        ordered: at least one value, ascending.
        q: 0 to 1.
    """
    rank = q * (len(ordered) - 1)
    below = math.floor(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (rank - below)


def percentiles(values: Iterable[float]) -> Percentiles:
    """P50, P95, P99 and the greatest of `values`, to the microsecond. Of none, all are None: missing is not zero."""
    ordered = sorted(values)
    if not ordered:
        return Percentiles(n=0)
    p50, p95, p99 = (round(quantile(ordered, q), 3) for q in (0.50, 0.95, 0.99))
    return Percentiles(n=len(ordered), p50=p50, p95=p95, p99=p99, max=round(ordered[-1], 3))
