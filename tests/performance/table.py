"""docs/performance.md from docs/performance.json.

python tests/performance/table.py     writes it anew
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from figures import FIGURES, Figure

DOCS = Path(__file__).parents[2] / "docs"
DRIFT_RUNS = 8
"""So many runs, the latest ones, stand side by side."""
HEAD = """# Performance

Made by `make perf` from [performance.json](performance.json); do not edit. Each figure of a run was taken in that one
run, on one machine. Ratios and bars are meant to hold on any machine; absolute times are that machine's.
"""


def read_runs(file: Path) -> list[dict[str, Any]]:
    """All runs so far, oldest first."""
    if not file.is_file():
        return []
    runs: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["runs"]
    return runs


def to_markdown(runs: list[dict[str, Any]]) -> str:
    """The page: the latest figures against their bars, what each one is, and the runs side by side."""
    if not runs:
        return HEAD + "\nNo run yet.\n"
    parts = [HEAD, _latest(runs), _definitions(), _drift(runs)]
    return "\n".join(parts)


def _latest(runs: list[dict[str, Any]]) -> str:
    """The newest figure of each name: a run with `--only` leaves the others as they were."""
    host = runs[-1]["host"]
    lines = [
        "## Latest", "",
        f"Last run: {runs[-1]['when']}; {host.get('cores')} cores, {host.get('machine')}, {host.get('system')}, "
        f"Python {host.get('python')}; load before the run {host.get('load_before', 'unknown')}.", "",
        "| figure | value | bar | holds | taken |",
        "|---|---:|---:|---|---|",
    ]  # fmt: skip
    for figure in FIGURES:
        when, value = _newest(runs, figure.name)
        lines.append(
            f"| `{figure.name}` | {_text(figure, value)} | {figure.bar_text} | {_holds(figure, value)} | {when} |"
        )
    return "\n".join(lines) + "\n"


def _newest(runs: list[dict[str, Any]], name: str) -> tuple[str, float | None]:
    for run in reversed(runs):
        if name in run["figures"]:
            return run["when"], run["figures"][name]
    return "never", None


def _definitions() -> str:
    return "\n".join(["## What each figure is", "", *(f"- **`{f.name}`** {f.what}" for f in FIGURES)]) + "\n"


def _drift(runs: list[dict[str, Any]]) -> str:
    """One column a run. What was not taken in it is empty; a dash was tried and could not be taken."""
    shown = runs[-DRIFT_RUNS:]
    lines = [
        "## Over the runs", "",
        "| figure | " + " | ".join(run["when"] for run in shown) + " |",
        "|---" * (len(shown) + 1) + "|",
    ]  # fmt: skip
    for figure in FIGURES:
        cells = [_text(figure, run["figures"][figure.name]) if figure.name in run["figures"] else "" for run in shown]
        lines.append(f"| `{figure.name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _text(figure: Figure, value: float | None) -> str:
    if value is None:
        return "–"
    number = f"{value:.0f}" if figure.unit == "calls" else f"{value:.3g}" if value < 100 else f"{value:.1f}"
    return f"{number} {figure.unit}".strip()


def _holds(figure: Figure, value: float | None) -> str:
    if value is None:
        return "not taken"
    holds = figure.holds(value)
    return "" if holds is None else "yes" if holds else "**no**"


if __name__ == "__main__":
    (DOCS / "performance.md").write_text(to_markdown(read_runs(DOCS / "performance.json")), encoding="utf-8")
