"""`make perf`: takes the figures of this machine, appends them to docs/performance.json, writes docs/performance.md.

    python tests/performance/run.py [--only NAME ...] [--out FOLDER]

Needs what `make setup models` brings and a quiet machine: three quarters of an hour, mostly calls at the real pace.
Every figure is taken side by side in this one run and prints what it was made from. A figure that cannot be taken is
null, and says why.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from baseline import baseline_v2v_ratio
from calls import PerfError
from figures import BY_NAME, FIGURES
from line_cost import line_worst_cpu_share
from many_calls import concurrent_real_calls
from pace import PaceCalls, fast_speedup_cpu, fast_speedup_stub, harness_overhead, pace_v2v_delta
from site_build import site_build
from table import read_runs, to_markdown
from workers import run_workers_scaling

from callm_voice.bench.assemble import host
from callm_voice.core.clock import RealClock, stopwatch, utc_stamp

DOCS = Path(__file__).parents[2] / "docs"
CALIBRATE_LIMIT_S = 900
PROBE_FIGURES = ("ttft_probe_error_ms_p95", "v2v_probe_error_ms_p95")


def probe_errors() -> dict[str, float]:
    """From `callm-voice calibrate`, whose exit code may say that a bar was missed: the figures count all the same."""
    command = [sys.executable, "-m", "callm_voice", "calibrate", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CALIBRATE_LIMIT_S)
    try:
        report = json.loads(done.stdout)
        found = {name: float(report[name]) for name in PROBE_FIGURES}
    except (ValueError, KeyError, TypeError) as error:
        raise PerfError(f"calibrate: exit code {done.returncode}, no figures; {done.stderr[-400:]}") from error
    print("  as calibrate reports them:", found)
    return found


def steps(calls: PaceCalls) -> list[tuple[tuple[str, ...], Callable[[], dict[str, float]]]]:
    """What takes which figures, in the order of taking."""
    return [
        (("fast_speedup_stub",), fast_speedup_stub),
        (("fast_speedup_cpu", "fast_model_share"), partial(fast_speedup_cpu, calls)),
        (("baseline_v2v_ratio",), baseline_v2v_ratio),
        (("pace_v2v_delta_ms", "pace_v2v_turn_delta_ms"), partial(pace_v2v_delta, calls)),
        (("harness_overhead_ms_p95",), partial(harness_overhead, calls)),
        (("concurrent_real_calls", "rss_mb_per_extra_call"), concurrent_real_calls),
        (("run_workers_scaling",), run_workers_scaling),
        (PROBE_FIGURES, probe_errors),
        (("line_worst_cpu_share",), line_worst_cpu_share),
        (("site_1000_calls_s", "site_largest_page_kb"), site_build),
    ]


def take(wanted: set[str]) -> dict[str, float | None]:
    """The wanted figures, in the order of `FIGURES`; None for one that could not be taken."""
    figures: dict[str, float | None] = {}
    for names, measure in steps(PaceCalls()):
        names = tuple(n for n in names if n in wanted)
        if not names:
            continue
        print(", ".join(names), flush=True)
        elapsed_s = stopwatch()
        try:
            found = measure()
            figures |= {name: round(found[name], 3) for name in names}
        except (PerfError, subprocess.TimeoutExpired) as error:
            print(f"  not taken: {error}")
            figures |= dict.fromkeys(names)
        for name in names:
            print(f"  = {name} {figures[name]} {BY_NAME[name].unit} (bar: {BY_NAME[name].bar_text})")
        print(f"  ({elapsed_s():.0f} s)", flush=True)
    return {f.name: figures[f.name] for f in FIGURES if f.name in figures}


def main() -> int:
    """0: every bar that was looked at holds."""
    parser = argparse.ArgumentParser(description="Take the performance figures of this machine.")
    parser.add_argument("--only", action="append", choices=sorted(BY_NAME), help="this figure; may be repeated")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of performance.json and performance.md")
    options = parser.parse_args()
    file = options.out / "performance.json"
    runs = read_runs(file)
    load = os.getloadavg()[0]
    clock = RealClock()
    when = utc_stamp(clock.unix_s())
    clock.close()
    if load > 0.5:
        print(f"the machine is not quiet: load {load:.1f}", file=sys.stderr)
    figures = take(set(options.only or BY_NAME))
    runs.append({"when": when, "host": {**host(), "load_before": round(load, 2)}, "figures": figures})
    options.out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"runs": runs}, indent=1) + "\n", encoding="utf-8")
    (options.out / "performance.md").write_text(to_markdown(runs), encoding="utf-8")
    return int(any(v is None or BY_NAME[name].holds(v) is False for name, v in figures.items()))


if __name__ == "__main__":
    raise SystemExit(main())
