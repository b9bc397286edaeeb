"""The statistics of a profile. Missing is not zero: what too few values cannot say is None."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from callm_voice.core.latency_profile import Drift, LineFit, MedianInterval

LEVEL = 0.95


def median_interval(values: Sequence[float], level: float = LEVEL) -> MedianInterval | None:
    """The exact interval of the median from order statistics; nothing is assumed about the distribution.

    With x(1) <= ... <= x(n), the chance that the median lies in [x(k), x(n+1-k)] is at least 1 - 2 P(B < k), where B
    is binomial with n and 1/2 (David and Nagaraja, Order Statistics, 2003). The largest k is taken whose
    chance is at least `level`. None with fewer than six values at 95 %.
    """
    ordered, n = sorted(values), len(values)
    best: tuple[int, float] | None = None
    below = 0.0
    for k in range(1, n // 2 + 1):
        below += math.comb(n, k - 1) / 2**n
        if 1 - 2 * below < level:
            break
        best = (k, 1 - 2 * below)
    if best is None:
        return None
    k, coverage = best
    return MedianInterval(low_ms=ordered[k - 1], high_ms=ordered[n - k], level=level, coverage=round(coverage, 6))


def line_fit(points: Sequence[tuple[float, float]], bar_ms: float) -> LineFit | None:
    """Least squares of (prompt tokens, TTFT ms). None with fewer than three points or a single prompt size."""
    if len(points) < 3:
        return None
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    spread = math.fsum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        return None
    slope = math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    intercept = mean_y - slope * mean_x
    total = math.fsum((y - mean_y) ** 2 for _, y in points)
    left = math.fsum((y - intercept - slope * x) ** 2 for x, y in points)
    crosses = slope > 0 and intercept < bar_ms
    return LineFit(
        intercept_ms=round(intercept, 3),
        ms_per_1k_tokens=round(slope * 1000, 3),
        r2=round(1 - left / total, 4) if total > 0 else None,
        n=len(points),
        tokens_at_bar=math.floor((bar_ms - intercept) / slope) if crosses else None,
    )


def drift(by_round: Mapping[int, Sequence[float]], rounds: int) -> Drift:
    """Median over the last third of the rounds over that of the first third.

    Args:
        by_round: values of each round, from 1.
        rounds: how many there were; a third is at least one round.
    """
    third = rounds // 3
    if third == 0:
        return Drift(ratio=None)
    first = [v for number in range(1, third + 1) for v in by_round.get(number, ())]
    last = [v for number in range(rounds - third + 1, rounds + 1) for v in by_round.get(number, ())]
    if not first or not last:
        return Drift(ratio=None)
    early, late = statistics.median(first), statistics.median(last)
    ratio = round(late / early, 4) if early > 0 else None
    return Drift(ratio=ratio, first_third_ms=round(early, 3), last_third_ms=round(late, 3))
