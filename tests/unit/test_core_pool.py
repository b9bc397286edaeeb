"""Pools whose processes are deaf to Ctrl-C and end with the block that made them."""

from __future__ import annotations

import math
import multiprocessing
import signal
from concurrent.futures import Future
from typing import Any

import pytest

from callm_voice.core.clock import stopwatch
from callm_voice.core.pool import in_order, process_pool

pytestmark = [pytest.mark.unit, pytest.mark.timeout(120)]
LIMIT_S = 60.0


def until_running(future: Future[Any]) -> None:
    waited_s = stopwatch()
    while not future.running():
        assert waited_s() < LIMIT_S


def test_a_process_of_a_pool_does_not_hear_ctrl_c_and_we_still_do() -> None:
    with process_pool(1) as pool:
        blocked = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result(LIMIT_S)
    assert signal.SIGINT in blocked
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_an_interrupted_block_ends_its_processes_and_waits_for_no_result() -> None:
    def interrupted() -> None:
        with process_pool(1) as pool:
            until_running(pool.submit(signal.pause))
            raise KeyboardInterrupt

    before = multiprocessing.active_children()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert multiprocessing.active_children() == before


def test_results_come_in_the_order_of_the_items() -> None:
    with process_pool(2) as pool:
        assert list(in_order(pool, math.factorial, range(7), chunk=2)) == [math.factorial(n) for n in range(7)]


def test_what_a_job_raises_comes_at_its_place() -> None:
    with process_pool(1) as pool:
        results = in_order(pool, math.factorial, [3, -1, 4], chunk=1)
        assert next(results) == 6
        with pytest.raises(ValueError, match="negative"):
            next(results)
