"""Two series of trials over the same tasks, compared in pairs: mean difference, interval, sign-flip test, Holm.

The task is the unit, as in `verifier.scores`: trials of one task are not independent of each other, tasks are. Exact
fractions throughout, so that nothing depends on the order of tasks or on the machine.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from verifier.scores import Interval, bootstrap_mean

EXACT_SUMS = 200_000
"""Up to so many different sums the test counts all sign patterns; beyond, it draws some."""
DRAWS = 100_000
SIGN_SEED = int.from_bytes(hashlib.sha256(b"callm-voice sign flips over tasks, 1").digest(), "big")


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trials(_Frozen):
    """The valid trials of one task over one line."""

    pack: str
    task: str
    line: str
    passed: dict[str, bool]
    """Name of the trial → whether it passed. The same name on both sides: the same call but for what is compared."""


class TaskDifference(NamedTuple):
    """What one task says: the share passed of the first minus that of the second, the mean over the lines of both."""

    pack: str
    task: str
    value: Fraction
    trials: int
    """Of the first that were counted."""


class SignFlip(_Frozen):
    """The two-sided sign-flip test: how often a mean at least so far from zero comes up if each task's difference
    could as well have had the other sign."""

    p_value: float
    exact: bool
    """All sign patterns were counted; else `DRAWS` of them, drawn with a fixed seed."""


class Comparison(_Frozen):
    """The first minus the second."""

    tasks: int
    trials: int
    """Of the first that were counted."""
    mean_difference: float | None
    """Of pass@1, mean over tasks. None without a common task."""
    interval: Interval | None
    test: SignFlip | None


def paired(first: Sequence[Trials], second: Sequence[Trials], *, same_trials: bool) -> list[TaskDifference]:
    """The difference of each task that both sides have over a common line, sorted by pack and task.

    Args:
        same_trials: of a task and line only the trials count that both sides have, if there are any; so a trial that
            was invalid for one does not count for the other either. False: all trials of both.

    Raises:
        ValueError: a task stands twice over one line.
    """
    ours, theirs = _by_cell(first), _by_cell(second)
    by_task: dict[tuple[str, str], list[tuple[Fraction, int]]] = defaultdict(list)
    for cell in sorted(ours.keys() & theirs.keys()):
        a, b = ours[cell], theirs[cell]
        common = a.keys() & b.keys() if same_trials else set()
        names_a, names_b = (common, common) if common else (set(a), set(b))
        if names_a and names_b:
            value = _share(a, names_a) - _share(b, names_b)
            by_task[cell[:2]].append((value, len(names_a)))
    return [
        TaskDifference(pack, task, sum((v for v, _ in cells), Fraction(0)) / len(cells), sum(n for _, n in cells))
        for (pack, task), cells in by_task.items()
    ]


def compare(first: Sequence[Trials], second: Sequence[Trials], *, same_trials: bool = True) -> Comparison:
    """Mean difference of pass@1 over the common tasks, its interval (tasks are resampled) and the test."""
    differences = paired(first, second, same_trials=same_trials)
    by_pack: dict[str, list[float]] = defaultdict(list)
    for difference in differences:
        by_pack[difference.pack].append(float(difference.value))
    total = sum((d.value for d in differences), Fraction(0))
    return Comparison(
        tasks=len(differences),
        trials=sum(d.trials for d in differences),
        mean_difference=float(total / len(differences)) if differences else None,
        interval=bootstrap_mean(by_pack),
        test=sign_flip([d.value for d in differences]) if differences else None,
    )


def sign_flip(differences: Sequence[Fraction], *, draws: int = DRAWS, seed: int = SIGN_SEED) -> SignFlip:
    """The test on one difference a task.

    All 2^n sign patterns are counted, by how many of them give each sum (so never one by one). Where that would need
    too many sums, `draws` patterns are drawn and the observed one is counted among them (Phipson and Smyth, 2010).

    Raises:
        ValueError: there is no difference at all.
    """
    if not differences:
        raise ValueError("no differences to test")
    scale = math.lcm(*(d.denominator for d in differences))
    steps = sorted(abs(d.numerator * (scale // d.denominator)) for d in differences)
    observed = abs(sum(d.numerator * (scale // d.denominator) for d in differences))
    counts = _all_sums([step for step in steps if step])
    if counts is not None:
        extreme = sum(times for total, times in counts.items() if abs(total) >= observed)
        return SignFlip(p_value=float(Fraction(extreme, sum(counts.values()))), exact=True)
    draw = random.Random(seed).random
    hits = sum(abs(sum(step if draw() < 0.5 else -step for step in steps)) >= observed for _ in range(draws))
    return SignFlip(p_value=(hits + 1) / (draws + 1), exact=False)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for being several (Holm 1979): never less than given, never above 1, order kept."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: (p_values[i], i))):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted


def _by_cell(side: Sequence[Trials]) -> Mapping[tuple[str, str, str], Mapping[str, bool]]:
    cells: dict[tuple[str, str, str], Mapping[str, bool]] = {}
    for trials in side:
        cell = (trials.pack, trials.task, trials.line)
        if cell in cells:
            raise ValueError(f"{trials.pack}/{trials.task} over {trials.line} stands twice")
        cells[cell] = trials.passed
    return cells


def _share(passed: Mapping[str, bool], names: set[str]) -> Fraction:
    return Fraction(sum(passed[name] for name in names), len(names))


def _all_sums(steps: Sequence[int]) -> dict[int, int] | None:
    """Sum → how many sign patterns give it; None if there are too many sums."""
    counts = {0: 1}
    for step in steps:
        following: dict[int, int] = defaultdict(int)
        for total, times in counts.items():
            following[total + step] += times
            following[total - step] += times
        if len(following) > EXACT_SUMS:
            return None
        counts = following
    return counts
