"""Charts: the bar is always in them, a distribution ends at its greatest value, and size does not grow with the run."""

from __future__ import annotations

import re

import pytest

from callm_voice.report.site.charts import MAX_POINTS, STEPS, against_tokens, distribution

pytestmark = pytest.mark.unit


def test_without_figures_there_is_no_chart() -> None:
    assert distribution("x", [("a", []), ("b", [])]) is None
    assert against_tokens("x", [("a", [])]) is None


@pytest.mark.parametrize("values", [[3.0], [20.0, 30.0], [5_000.0, 60_000.0]])
def test_the_bar_is_inside_whatever_was_measured(values: list[float]) -> None:
    chart = distribution("x", [("a", values)])
    assert chart is not None
    assert chart.bar_x is not None
    assert chart.left < chart.bar_x < chart.right
    points = against_tokens("x", [("a", [(100, value) for value in values])])
    assert points is not None
    assert points.bar_y is not None
    assert points.top < points.bar_y < points.bottom


def test_a_distribution_rises_from_none_to_all() -> None:
    chart = distribution("x", [("a", [900.0, 100.0, 400.0])])
    assert chart is not None
    points = [tuple(map(float, p)) for p in re.findall(r"[ML]([\d.]+) ([\d.]+)", chart.series[0].path)]
    assert points == sorted(points, key=lambda p: (p[0], -p[1]))
    assert (points[0][1], points[-1][1]) == (chart.bottom, chart.top)
    assert chart.series[0].label == "a, n = 3"


def test_a_long_run_makes_no_long_page() -> None:
    many = [float(100 + n % 2000) for n in range(50_000)]
    lines, dots = distribution("x", [("a", many)]), against_tokens("x", [("a", [(int(v), v) for v in many])])
    assert lines is not None
    assert dots is not None
    assert lines.series[0].path.count("L") == STEPS + 1
    assert MAX_POINTS / 2 < dots.series[0].path.count("M") <= MAX_POINTS
    assert len(dots.series[0].path) < 12_000
