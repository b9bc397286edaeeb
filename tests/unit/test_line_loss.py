"""Loss models: what a profile says is what comes out in the long run."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.line.loss import BurstLoss, NoLoss, bursts, independent, transitions
from callm_voice.line.profile import all_profiles
from callm_voice.line.profile_parts import GilbertElliottLoss

pytestmark = pytest.mark.unit

PACKETS = 1_000_000
LOSSY = [p for p in all_profiles() if p.network is not None and p.network.loss is not None]


@pytest.mark.parametrize("profile", LOSSY, ids=lambda p: p.id)
def test_rate_and_mean_burst_of_a_shipped_profile_hold_within_5_percent(profile) -> None:
    spec = profile.network.loss
    assert isinstance(spec, GilbertElliottLoss)
    pattern = BurstLoss(spec.rate_percent / 100, spec.mean_burst_packets, seed=11).draw(PACKETS)
    assert pattern.mean() == pytest.approx(spec.rate_percent / 100, rel=0.05)
    assert bursts(pattern).mean() == pytest.approx(spec.mean_burst_packets, rel=0.05)


def test_independent_losses_have_the_bursts_of_chance() -> None:
    pattern = independent(0.2, seed=3).draw(PACKETS)
    assert pattern.mean() == pytest.approx(0.2, rel=0.05)
    assert bursts(pattern).mean() == pytest.approx(1 / 0.8, rel=0.05)
    again = pattern[1:][pattern[:-1]].mean()
    assert again == pytest.approx(0.2, rel=0.05), "a loss says nothing about the next packet"


def test_burst_lengths_are_geometric() -> None:
    lengths = bursts(BurstLoss(0.1, 3.0, seed=5).draw(PACKETS))
    for length in (1, 2, 3, 6):
        assert np.mean(lengths == length) == pytest.approx((1 / 3) * (2 / 3) ** (length - 1), rel=0.08)


def test_the_transitions_are_those_of_the_chain() -> None:
    to_good, to_bad = transitions(0.1, 4.0)
    assert to_good == pytest.approx(0.25)
    assert to_bad / (to_bad + to_good) == pytest.approx(0.1)


def test_one_seed_one_pattern_however_it_is_drawn() -> None:
    one_by_one, mixed = BurstLoss(0.1, 3, seed=9), BurstLoss(0.1, 3, seed=9)
    whole = BurstLoss(0.1, 3, seed=9).draw(5000)
    assert [one_by_one.lost() for _ in range(5000)] == whole.tolist()
    parts = [*mixed.draw(777), *(mixed.lost() for _ in range(333)), *mixed.draw(3890)]
    assert parts == whole.tolist()
    assert not np.array_equal(whole, BurstLoss(0.1, 3, seed=10).draw(5000))


def test_the_pattern_of_a_seed_is_the_one_of_the_last_release() -> None:
    """A change here makes all calls over lossy lines other calls: say so in the changelog."""
    lost = np.flatnonzero(BurstLoss(0.1, 3, seed=1).draw(200)).tolist()
    assert lost == [20, 21, 22, 23, 24, 25, 26, 27, 61, 82, 83, 84, 85, 86, 87, 88, 89, 161]


def test_a_call_may_begin_within_a_burst() -> None:
    first = [BurstLoss(0.3, 2, seed=seed).lost() for seed in range(2000)]
    assert np.mean(first) == pytest.approx(0.3, abs=0.04)


@pytest.mark.parametrize(
    ("rate", "burst", "why"),
    [(0.0, 2, "between 0 and 1"), (1.0, 2, "between"), (0.1, 0.5, "1 packet"), (0.9, 2, "9.00")],
)
def test_parameters_without_a_chain_are_refused(rate: float, burst: float, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        BurstLoss(rate, burst, seed=1)


def test_no_loss_loses_nothing() -> None:
    assert not any(NoLoss().lost() for _ in range(100))
