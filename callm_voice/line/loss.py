"""Which packets a network loses, without I/O: none, each by its own draw, or in bursts.

Bursts are Gilbert's two-state chain with the parameters of Gilbert-Elliott: in the good state every packet arrives, in
the bad one none. From `loss rate` q and `mean burst` b (in packets) follow

    r = P(bad → good) = 1 / b              a burst's length is geometric with mean 1 / r
    p = P(good → bad) = r * q / (1 - q)    the stationary share of the bad state is p / (p + r) = q

Independent losses with rate q are the chain in which b = 1 / (1 - q): a burst goes on with probability q.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_RUNS = 128
"""Pairs of runs that are drawn at a time. Part of what a seed means: another number would give another pattern."""


class LossModel(Protocol):
    """Decides packet by packet."""

    def lost(self) -> bool:
        """Whether the next packet is lost."""
        ...


class NoLoss:
    """Every packet arrives."""

    def lost(self) -> bool:
        return False


class BurstLoss:
    """The two-state chain, drawn as runs: so many arrive, so many are lost, and so on.

    Args:
        rate: long-run share of lost packets, 0 < rate < 1.
        mean_burst: mean number of packets lost in a row, at least 1.
        seed: the same seed gives the same pattern.

    Raises:
        ValueError: no chain has these parameters: the runs between such bursts would be shorter than one packet.
    """

    def __init__(self, rate: float, mean_burst: float, seed: int) -> None:
        self.to_good, self.to_bad = transitions(rate, mean_burst)
        self._rng = np.random.default_rng(seed)
        self._starts_bad = bool(self._rng.random() < rate)
        self._pattern: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._at = 0

    def lost(self) -> bool:
        if self._at == self._pattern.size:
            self._pattern = self._more()
            self._at = 0
        self._at += 1
        return bool(self._pattern[self._at - 1])

    def draw(self, packets: int) -> NDArray[np.bool_]:
        """The fate of the next packets, shape (packets,): what as many calls of `lost` would give."""
        parts = [self._pattern[self._at :]]
        drawn = parts[0].size
        while drawn < packets:
            parts.append(self._more())
            drawn += parts[-1].size
        joined = np.concatenate(parts)
        self._pattern, self._at = joined[packets:], 0
        return joined[:packets]

    def _more(self) -> NDArray[np.bool_]:
        """The next runs. A geometric length has no memory, so the chain may start within a run."""
        lengths = np.empty(2 * _RUNS, dtype=np.int64)
        bad_first = int(self._starts_bad)
        lengths[1 - bad_first :: 2] = self._rng.geometric(self.to_good, _RUNS)
        lengths[bad_first::2] = self._rng.geometric(self.to_bad, _RUNS)
        states = np.zeros(2 * _RUNS, dtype=np.bool_)
        states[1 - bad_first :: 2] = True
        return np.repeat(states, lengths)


def independent(rate: float, seed: int) -> BurstLoss:
    """Each packet by its own draw."""
    return BurstLoss(rate, 1 / (1 - rate), seed)


def transitions(rate: float, mean_burst: float) -> tuple[float, float]:
    """(r, p): the chance to leave the bad state, and to enter it.

    Raises:
        ValueError: out of range, or p would exceed 1.
    """
    if not 0 < rate < 1 or mean_burst < 1:
        raise ValueError(
            f"a loss rate between 0 and 1 and a burst of 1 packet or more, not {rate:g} and {mean_burst:g}"
        )
    to_good = 1 / mean_burst
    to_bad = to_good * rate / (1 - rate)
    if to_bad > 1 + 1e-9:
        least = rate / (1 - rate)
        raise ValueError(f"a loss rate of {rate:g} needs bursts of {least:.2f} packets or more, not {mean_burst:g}")
    return to_good, min(to_bad, 1.0)


def bursts(pattern: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Lengths of the runs of lost packets in a pattern, in order."""
    edges = np.flatnonzero(np.diff(np.pad(pattern.astype(np.int8), 1)))
    return np.asarray(edges[1::2] - edges[::2], dtype=np.int64)
