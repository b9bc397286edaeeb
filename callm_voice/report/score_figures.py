"""pass@1, pass5, latency and cost of some rows of one model. Nothing depends on the order of the rows."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args

import numpy as np

from callm_voice.core.events import Cause
from callm_voice.core.latency import TTFT_BAR_MS
from callm_voice.core.score_format import Cost, Group, HeadlineTtft, K, TaskDetail, TtftFigures, V2vFigures
from callm_voice.probes.percentiles import percentiles
from callm_voice.report.score_rows import CallRow
from verifier.scores import BOOTSTRAP_SEED, RESAMPLES, Tally, interval, pass_hat_k, score

LEVEL = 0.95


def tallies(rows: Sequence[CallRow]) -> list[Tally]:
    """One tally a task and line. A task of which every attempt was invalid has one with no trial."""
    cells: dict[tuple[str, str, str], list[CallRow]] = defaultdict(list)
    for row in rows:
        if not row.superseded:
            cells[row.pack, row.task_id, row.line].append(row)
    return [
        Tally(
            pack=pack, task=task, line=line, passed=sum(r.status == "pass" for r in of_cell),
            trials=sum(r.scored for r in of_cell),
        )
        for (pack, task, line), of_cell in sorted(cells.items())
    ]  # fmt: skip


def figures(rows: Sequence[CallRow]) -> dict[str, Any]:
    """The fields of `Figures` over some rows."""
    counted = tallies(rows)
    first, fifth = score(counted, 1), score(counted, K)
    return {
        "pass_at_1": first.value, "pass_at_1_low": first.low, "pass_at_1_high": first.high,
        "pass_at_1_interval": interval(counted, 1),
        "pass5": fifth.value, "pass5_low": fifth.low, "pass5_high": fifth.high,
        "pass5_interval": interval(counted, K),
        "tasks": first.tasks, "trials": sum(t.trials for t in counted), "passed": sum(t.passed for t in counted),
        "invalid": sum(row.status == "invalid" and not row.superseded for row in rows),
    }  # fmt: skip


def groups(rows: Sequence[CallRow], key: Callable[[CallRow], str]) -> tuple[Group, ...]:
    """One group for each key that is not empty, sorted."""
    keys = sorted({key(row) for row in rows} - {""})
    return tuple(Group(key=name, **figures([row for row in rows if key(row) == name])) for name in keys)


def task_details(rows: Sequence[CallRow]) -> tuple[TaskDetail, ...]:
    """Each task over each line."""
    found = []
    for tally in tallies(rows):
        of_cell = [r for r in rows if (r.pack, r.task_id, r.line) == (tally.pack, tally.task, tally.line)]
        valid = sorted((r for r in of_cell if r.scored), key=lambda r: (r.trial, r.seed, r.started_at, r.status))
        share, fifth = pass_hat_k(tally.passed, tally.trials, 1), score([tally], K)
        found.append(
            TaskDetail(
                task=of_cell[0].task, pack=tally.pack, category=of_cell[0].category, difficulty=of_cell[0].difficulty,
                line=tally.line, passed=tally.passed, trials=tally.trials,
                invalid=sum(r.status == "invalid" and not r.superseded for r in of_cell),
                pass_at_1=None if share is None else float(share),
                pass5=fifth.value, pass5_low=fifth.low, pass5_high=fifth.high,
                results=tuple("pass" if r.status == "pass" else "fail" for r in valid),
            )
        )  # fmt: skip
    return tuple(found)


def ttft_by_cause(rows: Sequence[CallRow]) -> dict[str, TtftFigures]:
    """Cause, and `all`, → figures over the scored rows."""
    return {cause: TtftFigures(**_ttft(rows, cause)) for cause in (*get_args(Cause), "all")}


def headline_ttft(rows: Sequence[CallRow]) -> HeadlineTtft:
    """Over caller turns, with the interval of the median."""
    by_task: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.scored:
            by_task[row.task] += [ms for cause, ms in row.ttft if cause == "caller_turn"]
    low, high = median_interval([sorted(values) for _, values in sorted(by_task.items()) if values])
    return HeadlineTtft(**_ttft(rows, "caller_turn"), p50_low=low, p50_high=high)


def median_interval(
    clusters: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> tuple[float | None, float | None]:
    """The 95 % percentile bootstrap of the median of all values, whole clusters drawn with replacement.

    (None, None) with fewer than two clusters.
    """
    if len(clusters) < 2:
        return None, None
    arrays = [np.asarray(cluster, dtype=np.float64) for cluster in clusters]
    draw = random.Random(seed).random
    medians = sorted(
        float(np.median(np.concatenate([arrays[int(draw() * len(arrays))] for _ in arrays]))) for _ in range(resamples)
    )
    tail = (1 - LEVEL) / 2
    low, high = medians[math.floor(tail * resamples)], medians[math.ceil((1 - tail) * resamples) - 1]
    return round(low, 3), round(high, 3)


def v2v(rows: Sequence[CallRow]) -> V2vFigures:
    """Over the scored rows."""
    found = percentiles(ms for row in rows if row.scored for ms in row.v2v_ms)
    return V2vFigures(n=found.n, p50=found.p50, p95=found.p95, p99=found.p99)


def cost(headline: Sequence[CallRow], every: Sequence[CallRow]) -> Cost:
    """Of the scored rows of the headline, and of all attempts."""
    scored = [row.cost_usd for row in headline if row.scored]
    known = [usd for usd in scored if usd is not None]
    spent = [row.cost_usd for row in every if row.cost_usd is not None]
    caller = [row.caller_cost_usd for row in headline if row.scored and row.caller_cost_usd is not None]
    return Cost(
        per_call_usd=_mean(known) if len(known) == len(scored) else None,
        known_calls=len(known),
        unknown_calls=len(scored) - len(known),
        total_usd=round(math.fsum(spent), 9) if spent else None,
        caller_per_call_usd=_mean(caller),
    )


def _ttft(rows: Iterable[CallRow], wanted: str) -> dict[str, Any]:
    values = [ms for row in rows if row.scored for cause, ms in row.ttft if wanted in (cause, "all")]
    found = percentiles(values)
    over = sum(ms > TTFT_BAR_MS for ms in values) / len(values) if values else None
    return {"n": found.n, "p50": found.p50, "p95": found.p95, "p99": found.p99, "share_over_bar": over}


def _mean(values: Sequence[float]) -> float | None:
    return round(math.fsum(values) / len(values), 9) if values else None
