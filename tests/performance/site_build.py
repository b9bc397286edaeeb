"""How long a site of a thousand calls takes to build, and how large its pages are."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

from calls import PerfError

from callm_voice.core.clock import stopwatch

sys.path.insert(0, str(Path(__file__).parents[1]))  # the builder of runs is the tests'

from support.run_builder import PLOTS, MadeCall, write_run

CALLS = 1000
MODELS, LINES = ("alpha", "beta"), ("pstn-g711u", "mobile-amr-12k2")
TASKS = tuple(f"demo/C{category}-{grade}1" for category in range(1, 6) for grade in "EMH")
LIMIT_S = 900
PAGE_LIMIT_KB = 300


def site_build() -> dict[str, float]:
    """`site_1000_calls_s` and `site_largest_page_kb`: with sound, every way of failing among the calls."""
    with tempfile.TemporaryDirectory(prefix="callm-perf-") as folder:
        run, site = Path(folder, "run"), Path(folder, "site")
        write_run(run, _calls(), audio=True)
        elapsed_s = stopwatch()
        command = [sys.executable, "-m", "callm_voice", "report", str(run), "--out", str(site)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        took_s = elapsed_s()
        if done.returncode:
            raise PerfError(f"report: exit code {done.returncode}; {done.stderr[-400:]}")
        pages = sorted(site.rglob("*.html"), key=lambda page: page.stat().st_size)
        if len(pages) < CALLS:
            raise PerfError(f"{len(pages)} pages of {CALLS} calls")
        largest, size_kb = pages[-1], pages[-1].stat().st_size / 1000
        print(f"  {len(pages):,} pages in {took_s:.1f} s; the largest is {largest.relative_to(site)}: {size_kb:.0f} kB")
        return {"site_1000_calls_s": took_s, "site_largest_page_kb": size_kb}


def _calls() -> list[MadeCall]:
    cells = itertools.cycle(itertools.product(TASKS, MODELS, LINES))
    kept = [plot for plot in PLOTS if plot not in ("harness", "infrastructure", "caller")]
    trials = len(TASKS) * len(MODELS) * len(LINES)
    return [
        MadeCall(task=task, model=model, line=line, trial=1 + n // trials, plot=kept[n % len(kept)])
        for n, (task, model, line) in zip(range(CALLS), cells, strict=False)
    ]


if __name__ == "__main__":
    site_build()
