"""docs/performance.md says what docs/performance.json holds, and the page's arithmetic."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.meta

ROOT = Path(__file__).parents[2]
NAMES = {
    "fast_speedup_stub", "fast_speedup_cpu", "fast_model_share", "pace_v2v_delta_ms", "pace_v2v_turn_delta_ms",
    "ttft_probe_error_ms_p95", "v2v_probe_error_ms_p95", "harness_overhead_ms_p95", "baseline_v2v_ratio",
    "concurrent_real_calls", "rss_mb_per_extra_call", "line_worst_cpu_share", "run_workers_scaling",
    "site_1000_calls_s", "site_largest_page_kb",
}  # fmt: skip


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "performance"))
    return importlib.import_module("table")


def run(when: str, **figures: float | None) -> dict[str, Any]:
    return {"when": when, "host": {"cores": 2}, "figures": figures}


def row(page: str, name: str) -> list[str]:
    """The cells of a figure's row in the first table."""
    line = next(line for line in page.splitlines() if line.startswith(f"| `{name}`"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_is_made_from_the_committed_figures(table: ModuleType) -> None:
    data, page = ROOT / "docs" / "performance.json", ROOT / "docs" / "performance.md"
    assert data.is_file() == page.is_file()
    if data.is_file():
        assert page.read_text(encoding="utf-8") == table.to_markdown(json.loads(data.read_text("utf-8"))["runs"])


def test_the_figures_have_the_names_that_were_agreed(table: ModuleType) -> None:
    assert {figure.name for figure in table.FIGURES} == NAMES


def test_a_bar_that_is_met_and_one_that_is_missed_are_told_apart(table: ModuleType) -> None:
    page = table.to_markdown([run("A", fast_speedup_stub=40.0, baseline_v2v_ratio=0.751)])
    assert row(page, "fast_speedup_stub")[1:4] == ["40 ×", "≥ 40", "yes"]
    assert row(page, "baseline_v2v_ratio")[1:4] == ["0.751", "≤ 0.75", "**no**"]


def test_what_could_not_be_taken_is_neither_met_nor_zero(table: ModuleType) -> None:
    page = table.to_markdown([run("A", fast_speedup_stub=None)])
    assert row(page, "fast_speedup_stub")[1:4] == ["–", "≥ 40", "not taken"]


def test_a_run_of_one_figure_leaves_the_others_as_they_were_and_says_when_that_was(table: ModuleType) -> None:
    page = table.to_markdown([run("A", fast_speedup_cpu=6.0), run("B", fast_speedup_stub=50.0)])
    assert row(page, "fast_speedup_cpu")[4] == "A"
    assert row(page, "fast_speedup_stub")[4] == "B"
    assert "| figure | A | B |" in page
