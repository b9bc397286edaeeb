"""pass@1, pass^k and their intervals from counts of passing and valid trials per task. Missing is never zero."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

from pydantic import BaseModel, ConfigDict, Field, model_validator

RESAMPLES = 2_000
BOOTSTRAP_SEED = int.from_bytes(hashlib.sha256(b"callm-voice bootstrap over tasks, 1").digest(), "big")


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tally(_Frozen):
    """The valid trials of one task by one model. Invalid trials are in neither number."""

    pack: str
    task: str
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
    """Mean over tasks of pass^k; None if it is undefined for some task, or there are no tasks."""
    low: float | None
    """The same with every missing trial, up to k a task, counted as failed. None without tasks."""
    high: float | None
    """The same with every missing trial counted as passed. None without tasks."""
    tasks: int
    undefined_tasks: int
    """Tasks with fewer than k valid trials."""


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
    _refuse_twice(tallies)
    values, low, high = [], [], []
    for tally in tallies:
        missing = max(0, k - tally.trials)
        values.append(pass_hat_k(tally.passed, tally.trials, k))
        low.append(pass_hat_k(tally.passed, tally.trials + missing, k))
        high.append(pass_hat_k(tally.passed + missing, tally.trials + missing, k))
    undefined = values.count(None)
    return Score(
        k=k,
        value=None if undefined else _mean(values),
        low=_mean(low),
        high=_mean(high),
        tasks=len(tallies),
        undefined_tasks=undefined,
    )


def interval(
    tallies: Sequence[Tally], k: int, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> Interval | None:
    """Percentile bootstrap: tasks, not trials, are drawn with replacement within each pack.

    Neither the order of the tasks nor the machine changes it: the draws come from `random.Random(seed).random()`, whose
    sequence Python guarantees. None where the score is undefined, or over fewer than two tasks.
    """
    _refuse_twice(tallies)
    values = {(tally.pack, tally.task): pass_hat_k(tally.passed, tally.trials, k) for tally in tallies}
    strata: dict[str, list[float]] = defaultdict(list)
    for (pack, _), value in sorted(values.items(), key=lambda item: item[0]):
        if value is None:
            return None
        strata[pack].append(float(value))
    if len(tallies) < 2:
        return None
    draw = random.Random(seed).random
    means = sorted(
        math.fsum(stratum[int(draw() * len(stratum))] for stratum in strata.values() for _ in stratum) / len(values)
        for _ in range(resamples)
    )
    tail = (1 - level) / 2
    first, last = math.floor(tail * resamples), math.ceil((1 - tail) * resamples) - 1
    return Interval(low=means[first], high=means[last], level=level, resamples=resamples)


def _refuse_twice(tallies: Sequence[Tally]) -> None:
    for (pack, task), times in Counter((tally.pack, tally.task) for tally in tallies).items():
        if times > 1:
            raise ValueError(f"{pack}/{task} stands {times} times; one tally a task")


def _mean(values: Sequence[Fraction | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(sum(known, Fraction(0)) / len(known)) if known else None
