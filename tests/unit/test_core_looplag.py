"""The event loop's lag: on the fast loop, whose time a test can hold still."""

from __future__ import annotations

import asyncio

import pytest

from callm_voice.core.fastloop import FastClock, run
from callm_voice.core.looplag import PERIOD_S, LoopLag

pytestmark = pytest.mark.unit


def sampled(seconds: float, stall_s: float = 0.0) -> list[float]:
    """The lags of a loop that is idle for so long; `stall_s` of time pass in one callback in the middle."""
    clock = FastClock()

    async def main() -> list[float]:
        lag = LoopLag()
        lag.start()
        await asyncio.sleep(seconds / 2)
        clock.skipped_s += stall_s  # as a blocking call would let time pass
        await asyncio.sleep(seconds / 2)
        lag.stop()
        return list(lag.lags_ms)

    try:
        return run(main, clock)
    finally:
        clock.close()


def test_it_looks_every_50_ms_of_the_clock_also_when_idle_time_is_skipped() -> None:
    assert len(sampled(10.0)) == pytest.approx(10.0 / PERIOD_S, abs=1)


def test_a_stall_shows_as_one_late_look_for_every_period_that_it_took() -> None:
    """Absolute times: a sampler that waits for its own last look would show a stall once, however long it was."""
    late = [lag for lag in sampled(2.0, stall_s=1.0) if lag > PERIOD_S * 1000]
    assert len(late) >= 1.0 / PERIOD_S - 2
    assert late[0] >= 1000 - PERIOD_S * 1000
    assert late[:10] == sorted(late[:10], reverse=True)


def test_skipped_idle_time_is_no_lag() -> None:
    lags = sorted(sampled(60.0))
    assert lags[len(lags) // 2] < PERIOD_S * 1000 / 2


async def test_stop_leaves_no_timer_and_can_be_called_twice() -> None:
    lag = LoopLag()
    lag.stop()
    lag.start()
    lag.stop()
    lag.stop()
    seen = len(lag.lags_ms)
    await asyncio.sleep(PERIOD_S * 1.5)
    assert len(lag.lags_ms) == seen
