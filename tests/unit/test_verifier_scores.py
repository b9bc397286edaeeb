"""pass@1, pass^k, bounds and intervals."""

from __future__ import annotations

from fractions import Fraction

import pytest
from pydantic import ValidationError

from verifier.scores import Tally, interval, pass_hat_k, score

pytestmark = pytest.mark.unit


def tallies(*counts: tuple[int, int], pack: str = "p") -> list[Tally]:
    return [Tally(pack=pack, task=f"t{i}", passed=c, trials=n) for i, (c, n) in enumerate(counts)]


@pytest.mark.parametrize(
    ("passed", "trials", "k", "value"),
    [(3, 5, 1, Fraction(3, 5)), (4, 5, 2, Fraction(6, 10)), (5, 5, 5, 1), (4, 5, 5, 0), (5, 10, 5, Fraction(1, 252))],
)
def test_pass_hat_k_is_the_exact_share_of_draws_that_all_pass(passed: int, trials: int, k: int, value: object) -> None:
    assert pass_hat_k(passed, trials, k) == value


def test_pass_hat_k_with_fewer_than_k_trials_is_undefined() -> None:
    assert pass_hat_k(4, 4, 5) is None
    assert pass_hat_k(0, 0, 1) is None


@pytest.mark.parametrize(("passed", "trials", "k"), [(1, 1, 0), (2, 1, 1), (-1, 3, 1)])
def test_counts_that_make_no_sense_are_refused(passed: int, trials: int, k: int) -> None:
    with pytest.raises(ValueError, match="makes no sense"):
        pass_hat_k(passed, trials, k)


def test_a_tally_with_more_passed_than_tried_is_refused() -> None:
    with pytest.raises(ValidationError):
        Tally(pack="p", task="t", passed=3, trials=2)


def test_a_task_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="p/t0 stands 2 times"):
        score(tallies((1, 1)) * 2, 1)


def test_the_headline_is_the_mean_over_tasks_not_over_trials() -> None:
    assert score(tallies((1, 1), (0, 9)), 1).value == 0.5


def test_a_task_with_too_few_trials_makes_the_headline_undefined_and_gives_bounds() -> None:
    found = score(tallies((5, 5), (3, 3), (0, 5), (1, 2)), 5)
    assert (found.value, found.low, found.high) == (None, 0.25, 0.5)
    assert (found.tasks, found.undefined_tasks) == (4, 2)


def test_with_enough_trials_the_bounds_are_the_value() -> None:
    found = score(tallies((5, 5), (2, 6)), 2)
    assert found.value == found.low == found.high


def test_no_tasks_is_no_score() -> None:
    found = score([], 1)
    assert (found.value, found.low, found.high) == (None, None, None)


def test_the_interval_does_not_depend_on_the_order_of_tasks() -> None:
    counts = tallies((0, 5), (1, 7), (9, 9), (1, 3), (2, 11), (6, 13), (4, 17))
    assert len({str(interval(counts[i:] + counts[:i], 1, resamples=50)) for i in range(7)}) == 1


def test_the_interval_is_the_same_on_every_run_and_machine() -> None:
    counts = tallies(*[(i % 6, 5) for i in range(30)])
    first = interval(counts, 1)
    assert first is not None
    assert first == interval(counts, 1)
    assert (round(first.low, 6), round(first.high, 6)) == (0.38, 0.62)
    assert first.resamples == 2000


def test_the_interval_holds_the_value_and_is_wider_for_fewer_tasks() -> None:
    many, few = tallies(*[(i % 6, 5) for i in range(60)]), tallies(*[(i % 6, 5) for i in range(6)])
    wide, narrow = interval(few, 1), interval(many, 1)
    assert wide is not None
    assert narrow is not None
    assert wide.low < narrow.low < 0.5 < narrow.high < wide.high


def test_tasks_are_drawn_within_their_pack() -> None:
    """All of one pack pass and none of the other: no draw within packs can change the mean."""
    both = tallies((1, 1), (1, 1), pack="a") + tallies((0, 1), (0, 1), pack="b")
    found = interval(both, 1)
    assert found is not None
    assert (found.low, found.high) == (0.5, 0.5)


def test_an_undefined_score_has_no_interval() -> None:
    assert interval(tallies((5, 5), (3, 3)), 5) is None
    assert interval(tallies((5, 5)), 5) is None


def test_a_task_over_several_lines_counts_once_by_the_mean_over_them() -> None:
    of_one = [Tally(pack="p", task="a", line=line, passed=c, trials=1) for line, c in (("x", 1), ("y", 0), ("z", 0))]
    found = score([*of_one, Tally(pack="p", task="b", line="x", passed=1, trials=1)], 1)
    assert (found.value, found.tasks) == (pytest.approx(2 / 3), 2)


def test_a_task_with_too_few_trials_over_one_line_is_undefined() -> None:
    lines = [
        Tally(pack="p", task="a", line="x", passed=5, trials=5),
        Tally(pack="p", task="a", line="y", passed=4, trials=4),
    ]
    found = score(lines, 5)
    assert (found.value, found.undefined_tasks, found.low, found.high) == (None, 1, 0.5, 1.0)
