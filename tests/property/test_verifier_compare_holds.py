"""Comparing is fair: it does not matter who is first, nor in which order tasks come; adjusted p-values never fall."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.compare import Trials, compare, holm, sign_flip

pytestmark = pytest.mark.property

PASSED = st.dictionaries(st.sampled_from("12345"), st.booleans(), min_size=1)
DIFFERENCES = st.lists(st.fractions(-1, 1, max_denominator=12), min_size=1, max_size=12)


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Trials], list[Trials]]:
    """Two models over some of the same tasks and lines."""
    cells = [(pack, task, line) for pack in "pq" for task in "ab" for line in "xy"]
    return tuple(  # type: ignore[return-value]
        [
            Trials(pack=pack, task=task, line=line, passed=draw(PASSED))
            for pack, task, line in cells
            if draw(st.booleans())
        ]
        for _ in range(2)
    )


@settings(max_examples=40, deadline=None)
@given(sides(), st.booleans())
def test_the_other_way_round_only_the_sign_changes(both: tuple[list[Trials], list[Trials]], same_trials: bool) -> None:
    one = compare(*both, same_trials=same_trials)
    other = compare(*both[::-1], same_trials=same_trials)
    assert one.test == other.test
    assert one.tasks == other.tasks
    if one.mean_difference is not None and other.mean_difference is not None:
        assert one.mean_difference == pytest.approx(-other.mean_difference)
        assert -1 <= one.mean_difference <= 1


@settings(max_examples=40, deadline=None)
@given(sides(), st.randoms(use_true_random=False))
def test_the_order_of_tasks_never_counts(both: tuple[list[Trials], list[Trials]], random: st.DataObject) -> None:
    shuffled = [list(side) for side in both]
    for side in shuffled:
        random.shuffle(side)  # type: ignore[attr-defined]
    assert compare(*both) == compare(*shuffled)


@given(DIFFERENCES)
def test_a_p_value_is_a_share_and_never_below_that_of_perfect_agreement(differences: list[Fraction]) -> None:
    found = sign_flip(differences)
    nonzero = sum(d != 0 for d in differences)
    assert found.exact
    assert min(1.0, 2 / 2**nonzero) <= found.p_value <= 1


@given(st.lists(st.floats(0, 1), max_size=8))
def test_adjusted_p_values_never_fall_and_keep_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    by_given = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert by_given == sorted(by_given)
