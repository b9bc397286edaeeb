"""A clock that a test moves by hand. It speaks the `Clock` protocol; nothing here reads the wall clock."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SETTLE_ROUNDS = 20
"""Rounds of the event loop that woken tasks are given before time moves on."""


class ManualClock:
    """Time stands still until `advance` or `jump`.

    Args:
        start_s: the first `now_s()`; not zero, so that code which mixes up clocks shows.
    """

    pace = "real"

    def __init__(self, start_s: float = 1000.0) -> None:
        self._now_s = start_s
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []

    def now_s(self) -> float:
        return self._now_s

    def unix_s(self) -> float:
        return 1_700_000_000.0 + self._now_s

    async def sleep_until(self, t_s: float) -> None:
        if t_s <= self._now_s:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (t_s, next(self._order), future))
        await future

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        yield

    async def in_thread(self, what: str, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Runs `fn` in place: a test has one thread."""
        await asyncio.sleep(0)
        return fn(*args, **kwargs)

    async def advance(self, seconds: float) -> None:
        """Move time, waking each sleeper at its own time, in order; ties keep the order of the calls."""
        end_s = self._now_s + seconds
        await self.settle()
        while self._waiting and self._waiting[0][0] <= end_s:
            self._now_s = max(self._now_s, self._waiting[0][0])
            self._wake_due()
            await self.settle()
        self._now_s = end_s

    async def jump(self, seconds: float) -> None:
        """Move time at once, as if the process had been stopped: every sleeper wakes late."""
        self._now_s += seconds
        self._wake_due()
        await self.settle()

    def spend(self, seconds: float) -> None:
        """Move time from inside a step that takes long (a blocking call); nobody is woken."""
        self._now_s += seconds

    async def settle(self) -> None:
        """Let the tasks that can run do so."""
        for _ in range(_SETTLE_ROUNDS):
            await asyncio.sleep(0)

    def _wake_due(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._now_s:
            future = heapq.heappop(self._waiting)[2]
            if not future.done():
                future.set_result(None)
