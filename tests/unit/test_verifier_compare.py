"""Paired differences, the sign-flip test and Holm's adjustment."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from verifier import compare as module
from verifier.compare import Trials, compare, holm, paired, sign_flip

pytestmark = pytest.mark.unit


def trials(results: str, task: str = "t", *, pack: str = "p", line: str = "l", first: int = 1) -> Trials:
    """`PFP` as the trials 1, 2, 3."""
    return Trials(pack=pack, task=task, line=line, passed={str(first + n): c == "P" for n, c in enumerate(results)})


def by_hand(differences: list[Fraction]) -> float:
    """The p-value with every sign pattern written out."""
    observed = abs(sum(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in patterns(len(differences))]
    return sum(total >= observed for total in sums) / len(sums)


def patterns(n: int) -> list[tuple[int, ...]]:
    return list(itertools.product((1, -1), repeat=n))


def test_a_difference_is_the_share_of_one_minus_that_of_the_other() -> None:
    (found,) = paired([trials("PPFP")], [trials("PFFF")], same_trials=True)
    assert (found.pack, found.task, found.value, found.trials) == ("p", "t", Fraction(1, 2), 4)


def test_a_trial_that_only_one_side_has_does_not_count() -> None:
    (found,) = paired([trials("PPF")], [trials("PP")], same_trials=True)
    assert (found.value, found.trials) == (0, 2)
    (free,) = paired([trials("PPF")], [trials("PP")], same_trials=False)
    assert free.value == Fraction(-1, 3)


def test_sides_without_a_common_trial_are_compared_by_all_of_theirs() -> None:
    (found,) = paired([trials("PP")], [trials("PF", first=7)], same_trials=True)
    assert found.value == Fraction(1, 2)


def test_lines_are_matched_and_a_task_is_the_mean_over_them() -> None:
    first = [trials("P", line="a"), trials("P", line="b"), trials("P", line="only-here")]
    second = [trials("F", line="a"), trials("P", line="b")]
    (found,) = paired(first, second, same_trials=True)
    assert found.value == Fraction(1, 2)


def test_without_a_common_task_there_is_no_difference_and_no_test() -> None:
    found = compare([trials("P", "one")], [trials("P", "two")])
    assert (found.tasks, found.mean_difference, found.interval, found.test) == (0, None, None, None)


def test_an_empty_side_of_a_cell_is_missing_and_not_zero() -> None:
    assert paired([trials("")], [trials("P")], same_trials=True) == []


def test_a_task_twice_over_one_line_is_refused() -> None:
    with pytest.raises(ValueError, match="p/t over l stands twice"):
        paired([trials("P"), trials("F")], [], same_trials=True)


@pytest.mark.parametrize(
    "differences",
    [
        [Fraction(1)] * 5,
        [Fraction(1, 5), Fraction(-2, 5), Fraction(0), Fraction(1, 3)],
        [Fraction(0), Fraction(0)],
        [Fraction(n % 7 - 2, 5) for n in range(12)],
    ],
)
def test_the_exact_test_counts_every_sign_pattern(differences: list[Fraction]) -> None:
    found = sign_flip(differences)
    assert found.exact
    assert found.p_value == pytest.approx(by_hand(differences))


def test_five_tasks_that_all_agree_have_the_least_p_value_of_five() -> None:
    assert sign_flip([Fraction(1)] * 5).p_value == 2 / 32


def test_where_sums_are_too_many_patterns_are_drawn_with_a_fixed_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = [Fraction(n - 3, 10) for n in range(12)]
    exact = sign_flip(differences)
    monkeypatch.setattr(module, "EXACT_SUMS", 3)
    drawn = sign_flip(differences, draws=20_000)
    assert not drawn.exact
    assert drawn == sign_flip(differences[::-1], draws=20_000)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.02)


def test_nothing_to_test_is_refused() -> None:
    with pytest.raises(ValueError, match="no differences"):
        sign_flip([])


def test_holm_keeps_the_order_and_never_lowers_a_value() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


def test_the_interval_holds_the_mean_and_the_order_of_tasks_does_not_count() -> None:
    first = [trials("PPPPF"[n % 5 :] + "P", f"t{n}", pack="pq"[n % 2]) for n in range(10)]
    second = [trials("FPF", f"t{n}", pack="pq"[n % 2]) for n in range(10)]
    found = compare(first, second)
    assert found == compare(first[::-1], second[::-1])
    assert found.interval is not None
    assert found.mean_difference is not None
    assert found.interval.low <= found.mean_difference <= found.interval.high
