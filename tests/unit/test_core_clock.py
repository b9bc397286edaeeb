"""The wall clock at the pace `real`: monotonic time, sleeping, counting work in flight, the pool of threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from callm_voice.core.clock import RealClock, stopwatch, utc_stamp

pytestmark = pytest.mark.unit


@pytest.fixture
def clock() -> Iterator[RealClock]:
    clock = RealClock(threads=1)
    yield clock
    clock.close()


async def test_now_is_the_running_loops_time(clock: RealClock) -> None:
    before = asyncio.get_running_loop().time()
    now = clock.now_s()
    assert before <= now <= asyncio.get_running_loop().time()


async def test_sleep_until_returns_no_earlier_than_asked(clock: RealClock) -> None:
    until = clock.now_s() + 0.02
    await clock.sleep_until(until)
    assert clock.now_s() >= until - 1e-3  # the loop may wake a timer early by its resolution


async def test_sleep_until_the_past_yields_once_and_returns(clock: RealClock) -> None:
    order: list[str] = []
    asyncio.get_running_loop().call_soon(order.append, "other")
    await clock.sleep_until(clock.now_s() - 100)
    assert order == ["other"]


def test_busy_counts_while_the_block_runs_and_lets_go_when_it_raises(clock: RealClock) -> None:
    def work() -> None:
        with clock.busy("llm"), clock.busy("llm"):
            assert clock.in_flight["llm"] == 2
            raise KeyError("broken")

    with pytest.raises(KeyError):
        work()
    assert clock.in_flight["llm"] == 0


async def nothing_in_flight(clock: RealClock) -> None:
    """The waiter is woken first, then the count falls."""
    async with asyncio.timeout(10):
        while sum(clock.in_flight.values()):  # noqa: ASYNC110 - the clock has no event for it
            await asyncio.sleep(0)


async def test_a_job_in_a_thread_gives_its_result_and_is_in_flight_until_it_is_done(clock: RealClock) -> None:
    release = threading.Event()
    job = asyncio.ensure_future(clock.in_thread("stt", lambda text, end: text + end, "a", end="b"))
    held = asyncio.ensure_future(clock.in_thread("tts", release.wait, 30))
    await asyncio.sleep(0)
    assert clock.in_flight["tts"] == 1
    release.set()
    assert await job == "ab"
    assert await held is True
    await nothing_in_flight(clock)


async def test_an_error_in_a_thread_reaches_the_waiter_and_nothing_stays_in_flight(clock: RealClock) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await clock.in_thread("stt", int, "x")
    await nothing_in_flight(clock)


async def test_a_job_whose_waiter_is_cancelled_stays_in_flight_until_its_thread_is_done(clock: RealClock) -> None:
    release = threading.Event()
    job = asyncio.ensure_future(clock.in_thread("tts", release.wait, 30))
    await asyncio.sleep(0)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert clock.in_flight["tts"] == 1
    release.set()
    assert await clock.in_thread("after", lambda: True)  # one thread: the held job is done before this one
    assert clock.in_flight["tts"] == 0


def test_model_time_is_counted_once_while_models_overlap_and_not_for_other_work(
    clock: RealClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall_s = iter([1.0, 5.0, 10.0, 12.5, 12.75])
    monkeypatch.setattr("callm_voice.core.clock._monotonic_s", lambda: next(wall_s))
    with clock.busy("load"), clock.busy("llm"):  # from 1
        with clock.busy("tts"):
            pass
        assert clock.models_wall_s == 4.0  # at 5, and it goes on until 10
    with clock.busy("server"):
        assert clock.models_wall_s == 9.0
    with clock.busy("stt"):  # from 12.5 to 12.75
        pass
    assert clock.models_wall_s == 9.25


async def test_model_time_of_a_job_whose_waiter_was_cancelled_runs_until_its_thread_is_done(clock: RealClock) -> None:
    release = threading.Event()
    job = asyncio.ensure_future(clock.in_thread("tts", release.wait, 30))
    await asyncio.sleep(0)
    job.cancel()
    await asyncio.wait({job})
    before_s = clock.models_wall_s
    assert clock.models_wall_s > before_s
    release.set()
    assert await clock.in_thread("after", lambda: True)
    stopped_s = clock.models_wall_s
    assert stopped_s > before_s
    assert await clock.in_thread("after", lambda: True)
    assert clock.models_wall_s == stopped_s, "it stands still"


def test_a_stopwatch_never_runs_backwards() -> None:
    elapsed_s = stopwatch()
    assert 0 <= elapsed_s() <= elapsed_s()


def test_a_stamp_is_utc_to_the_second() -> None:
    assert utc_stamp(1_769_851_800.9) == "2026-01-31T09:30:00Z"
