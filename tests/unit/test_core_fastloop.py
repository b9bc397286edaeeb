"""The fast pace skips idle time and nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from callm_voice.core.clock import stopwatch
from callm_voice.core.fastloop import FastClock, make_clock, run

pytestmark = pytest.mark.unit


@pytest.fixture
def clock() -> Iterator[FastClock]:
    made = FastClock()
    yield made
    made.close()


def test_an_idle_hour_is_skipped(clock: FastClock) -> None:
    async def main() -> float:
        start_s = clock.now_s()
        await asyncio.sleep(3600)
        return clock.now_s() - start_s

    wall = stopwatch()
    assert run(main, clock) == pytest.approx(3600, abs=1)
    assert wall() < 60


def test_work_in_a_thread_is_waited_for_in_wall_time(clock: FastClock) -> None:
    """A timer that lies behind the job must not come early because the loop skipped to it."""
    release = threading.Event()

    async def main() -> tuple[float, list[str]]:
        order: list[str] = []
        asyncio.get_running_loop().call_later(0.05, lambda: (order.append("timer"), release.set()))
        before_s = clock.skipped_s
        await clock.in_thread("job", lambda: order.append("job") if release.wait(30) else order.append("lost"))
        return clock.skipped_s - before_s, order

    skipped_s, order = run(main, clock)
    assert order == ["timer", "job"]
    assert skipped_s == 0


def test_a_busy_block_stops_the_skipping(clock: FastClock) -> None:
    async def main() -> float:
        before_s = clock.skipped_s
        with clock.busy("llm"):
            await asyncio.sleep(0.05)
        return clock.skipped_s - before_s

    assert run(main, clock) == 0


def test_a_cancelled_waiter_leaves_its_job_counted(clock: FastClock) -> None:
    release = threading.Event()

    async def main() -> tuple[bool, bool]:
        waiter = asyncio.create_task(clock.in_thread("job", release.wait, 30))
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.wait({waiter})
        counted = not clock.is_idle
        release.set()
        waited_s = stopwatch()  # wall time: the loop's own may be skipped
        while not clock.is_idle and waited_s() < 30:  # noqa: ASYNC110 - a thread changes it
            await asyncio.sleep(0)
        return counted, clock.is_idle

    assert run(main, clock) == (True, True)


def test_timers_keep_their_order(clock: FastClock) -> None:
    async def main() -> list[int]:
        order: list[int] = []
        loop = asyncio.get_running_loop()
        for i, delay_s in enumerate((3.0, 1.0, 2.0)):
            loop.call_later(delay_s, order.append, i)
        await asyncio.sleep(5)
        return order

    assert run(main, clock) == [1, 2, 0]


def test_the_real_pace_has_no_fast_clock() -> None:
    made = make_clock("real")
    try:
        assert made.pace == "real"
        assert not isinstance(made, FastClock)
    finally:
        made.close()


def test_nothing_is_skipped_between_a_job_s_end_and_its_waiter(clock: FastClock) -> None:
    """A timer far ahead must not come before the result of a job that is done already."""

    async def main() -> float:
        asyncio.get_running_loop().call_later(1000, lambda: None)
        before_s = clock.skipped_s
        for _ in range(300):
            await clock.in_thread("job", lambda: None)
        return clock.skipped_s - before_s

    assert run(main, clock) == 0
