"""Percentiles by linear interpolation."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.core.latency import Percentiles
from callm_voice.probes.percentiles import percentiles, quantile

pytestmark = pytest.mark.unit


def test_no_values_give_none_not_zero() -> None:
    assert percentiles([]) == Percentiles(n=0, p50=None, p95=None, p99=None, max=None)


def test_one_value_is_every_percentile() -> None:
    assert percentiles([412.0]) == Percentiles(n=1, p50=412.0, p95=412.0, p99=412.0, max=412.0)


def test_between_two_ranks_it_interpolates() -> None:
    assert percentiles([100.0, 200.0]) == Percentiles(n=2, p50=150.0, p95=195.0, p99=199.0, max=200.0)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
@pytest.mark.parametrize("q", [0.0, 0.5, 0.95, 0.99, 1.0])
def test_it_is_numpy_s_default_quantile(n: int, q: float) -> None:
    values = np.sort(np.random.default_rng(n).uniform(0, 3000, n))
    assert quantile(values.tolist(), q) == pytest.approx(float(np.quantile(values, q)))


def test_the_order_of_values_does_not_matter() -> None:
    assert percentiles([3.0, 1.0, 2.0]) == percentiles([1.0, 2.0, 3.0])
