"""pass@1, pass^k and their intervals from counts of passing and valid trials per task. Missing is never zero."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from pydantic import BaseModel, ConfigDict, Field, model_validator

RESAMPLES = 2_000
BOOTSTRAP_SEED = int.from_bytes(hashlib.sha256(b"callm-voice bootstrap over tasks, 1").digest(), "big")


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tally(_Frozen):
    """The valid trials of one task by one model over one line. Invalid trials are in neither number."""

    pack: str
    task: str
    line: str = ""
    """A task that was called over several lines has one tally for each; its value is the mean over them."""
    passed: int = Field(ge=0)
    trials: int = Field(ge=0)

    @model_validator(mode="after")
    def _no_more_passed_than_tried(self) -> Tally:
        if self.passed > self.trials:
            raise ValueError(f"{self.pack}/{self.task}: {self.passed} of {self.trials} trials passed")
        return self


class Score(_Frozen):
    """A headline figure over tasks, each 0 to 1."""

    k: int
    value: float | None
    """Mean over tasks of pass^k, of a task with several lines the mean over them; None if it is undefined for some
    task, or there are no tasks."""
    low: float | None
    """The same with every missing trial, up to k a task, counted as failed. None without tasks."""
    high: float | None
    """The same with every missing trial counted as passed. None without tasks."""
    tasks: int
    undefined_tasks: int
    """Tasks with fewer than k valid trials over some line."""


class Interval(_Frozen):
    """A bootstrap interval of `Score.value`."""

    low: float
    high: float
    level: float
    resamples: int


def pass_hat_k(passed: int, trials: int, k: int) -> Fraction | None:
    """C(c, k) / C(n, k): the chance that k trials drawn from the n all pass. None with fewer than k trials.

    With k = 1 this is c/n, which is pass@1. It never rises with k.

    Raises:
        ValueError: k < 1, or not 0 <= passed <= trials.
    """
    if k < 1 or not 0 <= passed <= trials:
        raise ValueError(f"pass^{k} of {passed} passed in {trials} trials makes no sense")
    return Fraction(math.comb(passed, k), math.comb(trials, k)) if trials >= k else None


def score(tallies: Sequence[Tally], k: int) -> Score:
    """The headline over tasks: pass@1 with k = 1, pass5 with k = 5.

    Raises:
        ValueError: k < 1, or a task stands twice.
    """
    values = task_values(tallies, k)
    low = task_values([_filled(tally, k, passed=False) for tally in tallies], k)
    high = task_values([_filled(tally, k, passed=True) for tally in tallies], k)
    undefined = list(values.values()).count(None)
    return Score(
        k=k,
        value=None if undefined else _mean(values.values()),
        low=_mean(low.values()),
        high=_mean(high.values()),
        tasks=len(values),
        undefined_tasks=undefined,
    )


def task_values(tallies: Sequence[Tally], k: int) -> dict[tuple[str, str], Fraction | None]:
    """(pack, task) → pass^k, the mean over the task's lines; None if it is undefined over one of them. Sorted.

    Raises:
        ValueError: k < 1, or a task stands twice over one line.
    """
    _refuse_twice(tallies)
    by_task: dict[tuple[str, str], list[Fraction | None]] = defaultdict(list)
    for tally in tallies:
        by_task[tally.pack, tally.task].append(pass_hat_k(tally.passed, tally.trials, k))
    return {task: None if None in values else _mean_of(values) for task, values in sorted(by_task.items())}


def interval(
    tallies: Sequence[Tally], k: int, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> Interval | None:
    """Percentile bootstrap: tasks, not trials, are drawn with replacement within each pack.

    Neither the order of the tasks nor the machine changes it: the draws come from `random.Random(seed).random()`, whose
    sequence Python guarantees. None where the score is undefined, or over fewer than two tasks.
    """
    by_pack: dict[str, list[float]] = defaultdict(list)
    for (pack, _), value in task_values(tallies, k).items():
        if value is None:
            return None
        by_pack[pack].append(float(value))
    return bootstrap_mean(by_pack, level=level, resamples=resamples, seed=seed)


def bootstrap_mean(
    by_pack: Mapping[str, Sequence[float]],
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = BOOTSTRAP_SEED,
) -> Interval | None:
    """Percentile bootstrap of the mean of one value a task, drawn with replacement within each pack.

    The order of the packs does not count, that of the values in a pack does: give them sorted by task. None over fewer
    than two tasks.
    """
    strata = [values for _, values in sorted(by_pack.items())]
    tasks = sum(map(len, strata))
    if tasks < 2:
        return None
    draw = random.Random(seed).random
    means = sorted(
        math.fsum(stratum[int(draw() * len(stratum))] for stratum in strata for _ in stratum) / tasks
        for _ in range(resamples)
    )
    tail = (1 - level) / 2
    first, last = math.floor(tail * resamples), math.ceil((1 - tail) * resamples) - 1
    return Interval(low=means[first], high=means[last], level=level, resamples=resamples)


def _filled(tally: Tally, k: int, *, passed: bool) -> Tally:
    """The tally with its missing trials, up to k, counted as passed or as failed."""
    missing = max(0, k - tally.trials)
    return tally.model_copy(
        update={"trials": tally.trials + missing, "passed": tally.passed + (missing if passed else 0)}
    )


def _refuse_twice(tallies: Sequence[Tally]) -> None:
    for (pack, task, line), times in Counter((tally.pack, tally.task, tally.line) for tally in tallies).items():
        if times > 1:
            over = f" over {line}" if line else ""
            raise ValueError(f"{pack}/{task}{over} stands {times} times; one tally a task")


def _mean(values: Iterable[Fraction | None]) -> float | None:
    mean = _mean_of([value for value in values if value is not None])
    return None if mean is None else float(mean)


def _mean_of(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known else None
