"""The packets' way: order, delays, the first packet, seeds."""

from __future__ import annotations

import numpy as np
import pytest

from callm_voice.line.loss import NoLoss, independent
from callm_voice.line.network import GammaJitter, Jitter, PacketNetwork, SpikyJitter, UniformJitter

pytestmark = pytest.mark.unit


def arrivals(jitter: Jitter | None, packets: int = 3000, seed: int = 1) -> np.ndarray:
    network = PacketNetwork(NoLoss(), jitter, seed)
    return np.array([network.send(20.0 * n) for n in range(packets)])


def test_without_jitter_a_packet_is_there_at_once() -> None:
    assert arrivals(None, 5).tolist() == [0, 20, 40, 60, 80]


@pytest.mark.parametrize("jitter", [GammaJitter(25, 25), UniformJitter(70), SpikyJitter(None, 200, 0.01)])
def test_packets_stay_in_order_and_never_come_before_they_were_sent(jitter: Jitter) -> None:
    found = arrivals(jitter)
    assert (np.diff(found) >= 0).all()
    assert (found >= 20.0 * np.arange(found.size)).all()


def test_a_gamma_jitter_has_its_mean_and_deviation() -> None:
    delays = GammaJitter(20, 12).draw(np.random.default_rng(1), 200_000)
    assert (delays.mean(), delays.std()) == (pytest.approx(20, rel=0.02), pytest.approx(12, rel=0.02))


def test_behind_a_spike_packets_arrive_together() -> None:
    """One is held back by 200 ms: the ten that were sent meanwhile come with it."""
    found = arrivals(SpikyJitter(None, 200, 0.004), 2000)
    late = found - 20.0 * np.arange(found.size)
    begin = int(np.flatnonzero(late >= 199)[0])
    assert late[begin : begin + 11].tolist() == [200.0 - 20 * k for k in range(11)]


def test_the_first_packet_sets_the_time_so_it_is_neither_lost_nor_late() -> None:
    for seed in range(50):
        assert PacketNetwork(independent(0.5, seed), UniformJitter(100), seed).send(0.0) == 0.0


def test_lost_packets_never_arrive_and_are_counted() -> None:
    network = PacketNetwork(independent(0.3, 4), None, 4)
    found = [network.send(20.0 * n) for n in range(1000)]
    assert (network.sent, network.lost) == (1000, found.count(None))
    assert 200 < network.lost < 400


def test_one_seed_one_way() -> None:
    assert np.array_equal(arrivals(GammaJitter(9, 9), seed=3), arrivals(GammaJitter(9, 9), seed=3))
    assert not np.array_equal(arrivals(GammaJitter(9, 9), seed=3), arrivals(GammaJitter(9, 9), seed=4))
