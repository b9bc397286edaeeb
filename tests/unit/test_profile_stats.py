"""The interval of the median, the fitted line, the drift."""

from __future__ import annotations

import random
import statistics

import numpy as np
import pytest

from callm_voice.bench.profile.stats import drift, line_fit, median_interval

pytestmark = pytest.mark.unit


def test_five_values_cannot_give_a_95_percent_interval() -> None:
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None


def test_six_values_give_their_extremes() -> None:
    """1 - 2 / 2^6 = 0.96875."""
    found = median_interval([6.0, 1.0, 3.0, 2.0, 5.0, 4.0])
    assert found is not None
    assert (found.low_ms, found.high_ms, found.coverage) == (1.0, 6.0, 0.96875)


@pytest.mark.parametrize(("n", "k"), [(10, 2), (20, 6), (30, 10), (100, 40)])
def test_the_ranks_are_those_of_the_published_table(n: int, k: int) -> None:
    """The rank k of Conover, Practical Nonparametric Statistics, at 95 %: x(k) and x(n + 1 - k)."""
    found = median_interval([float(i) for i in range(1, n + 1)])
    assert found is not None
    assert (found.low_ms, found.high_ms) == (k, n + 1 - k)
    assert found.coverage >= 0.95


def test_the_interval_holds_the_true_median_as_often_as_it_says() -> None:
    draw = random.Random(7)
    hits = sum(
        found.low_ms <= 1.0 <= found.high_ms
        for _ in range(1500)
        if (found := median_interval([draw.expovariate(0.6931471805599453) for _ in range(15)])) is not None
    )
    assert hits / 1500 >= 0.95


def test_the_line_is_numpys_least_squares() -> None:
    draw = random.Random(3)
    points = [(x, 120 + 0.2 * x + draw.gauss(0, 40)) for x in (500, 1000, 2000, 4000, 8000) for _ in range(4)]
    slope, intercept = np.polyfit([x for x, _ in points], [y for _, y in points], 1)
    found = line_fit(points, 1000)
    assert found is not None
    assert found.intercept_ms == pytest.approx(intercept, abs=0.001)
    assert found.ms_per_1k_tokens == pytest.approx(slope * 1000, abs=0.001)
    r = np.corrcoef([x for x, _ in points], [y for _, y in points])[0, 1]
    assert found.r2 == pytest.approx(r * r, abs=1e-4)


def test_the_line_says_where_it_crosses_the_bar() -> None:
    found = line_fit([(0.0, 200.0), (1000.0, 400.0), (2000.0, 600.0)], 1000)
    assert found is not None
    assert (found.tokens_at_bar, found.r2) == (4000, 1.0)


def test_a_flat_line_has_no_r2_and_crosses_nothing() -> None:
    found = line_fit([(0.0, 300.0), (1000.0, 300.0), (2000.0, 300.0)], 1000)
    assert found is not None
    assert (found.r2, found.tokens_at_bar, found.ms_per_1k_tokens) == (None, None, 0)


@pytest.mark.parametrize("points", [[], [(1.0, 2.0), (2.0, 3.0)], [(5.0, 1.0), (5.0, 2.0), (5.0, 3.0)]])
def test_no_line_through_too_few_points_or_one_size(points: list[tuple[float, float]]) -> None:
    assert line_fit(points, 1000) is None


def test_drift_is_the_last_third_over_the_first() -> None:
    by_round = {1: [100.0, 110.0], 2: [100.0], 3: [500.0], 4: [1.0], 5: [200.0], 6: [220.0]}
    found = drift(by_round, 6)
    assert found.first_third_ms == statistics.median([100.0, 110.0, 100.0])
    assert found.ratio == pytest.approx(2.1)


@pytest.mark.parametrize(("by_round", "rounds"), [({1: [1.0], 2: [2.0]}, 2), ({1: [1.0]}, 3), ({}, 9)])
def test_no_drift_where_a_third_is_missing(by_round: dict[int, list[float]], rounds: int) -> None:
    assert drift(by_round, rounds).ratio is None
