"""The one clock. No other module reads the wall clock; it is handed a `Clock`.

Two paces (DESIGN §3): `real` is wall time; `fast` is wall time plus skipped idle time. The seam between the two is
`busy`: all work that is really in flight (an executor job, an HTTP request until its body ends) is counted there at
its source, so that a fast loop may skip ahead only while nothing is in flight.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, ParamSpec, Protocol, TypeVar

Pace = Literal["real", "fast"]
MODEL_WORK = frozenset({"stt", "tts", "llm"})
"""Kinds of work in flight that are a model's time; the rest (loading, servers) is ours."""
_monotonic_s = time.monotonic  # bound here: the fast pace patches `time` for Pipecat's sake
_unix_s = time.time
P = ParamSpec("P")
T = TypeVar("T")


class Clock(Protocol):
    """What every timed module is handed. All times are seconds as float."""

    @property
    def pace(self) -> Pace:
        """The pace of this clock."""
        ...

    def now_s(self) -> float:
        """Monotonic seconds on this clock; equals the running loop's `time()`."""
        ...

    def unix_s(self) -> float:
        """Seconds since the epoch, for stamps in records. Never for measuring."""
        ...

    async def sleep_until(self, t_s: float) -> None:
        """Return at `now_s() >= t_s`; yields to the loop once even if that is in the past."""
        ...

    def busy(self, what: str) -> AbstractContextManager[None]:
        """Count one piece of in-flight work (`what` names it: `stt`, `tts`, `llm`, ...) while the block runs."""
        ...

    async def in_thread(self, what: str, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking engine in the pool of threads, counted as in flight."""
        ...


class RealClock:
    """Wall time.

    Args:
        threads: size of the pool that blocking engines run in.
    """

    pace: Pace = "real"

    def __init__(self, *, threads: int = 4) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="callm-engine")
        self.in_flight: Counter[str] = Counter()
        self.date_jump_s = 0.0
        """How far the date has been moved since (an injected fault); monotonic times know nothing of it."""
        self._models = 0
        self._models_wall_s = 0.0
        self._models_since_s = 0.0

    def now_s(self) -> float:
        return _monotonic_s()

    def unix_s(self) -> float:
        return _unix_s() + self.date_jump_s

    async def sleep_until(self, t_s: float) -> None:
        await asyncio.sleep(max(0.0, t_s - self.now_s()))

    @property
    def models_wall_s(self) -> float:
        """Wall seconds so far during which at least one model was at work (`MODEL_WORK`). At the fast pace all of it
        is on the critical path, because time is skipped only while nothing is in flight."""
        running_s = _monotonic_s() - self._models_since_s if self._models else 0.0
        return self._models_wall_s + running_s

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        self._begin(what)
        try:
            yield
        finally:
            self._done(what)

    async def in_thread(self, what: str, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        # Counted until the thread is done, not until the waiter is: a cancelled waiter leaves its job running.
        loop = asyncio.get_running_loop()
        self._begin(what)
        job = self._pool.submit(fn, *args, **kwargs)
        result = asyncio.wrap_future(job)
        # Registered after `result`: the waiter must be woken before the count falls, or a fast loop would skip ahead
        # in the gap between the two.
        job.add_done_callback(lambda _: loop.is_closed() or loop.call_soon_threadsafe(self._done, what))
        return await result

    def _begin(self, what: str) -> None:
        self.in_flight[what] += 1
        if what in MODEL_WORK:
            if not self._models:
                self._models_since_s = _monotonic_s()
            self._models += 1

    def _done(self, what: str) -> None:
        self.in_flight[what] -= 1
        if what in MODEL_WORK:
            self._models -= 1
            if not self._models:
                self._models_wall_s += _monotonic_s() - self._models_since_s

    def close(self) -> None:
        """Stop the pool; jobs that still run are waited for."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def stopwatch() -> Callable[[], float]:
    """Seconds of wall time since this call, for progress lines and process start-up bounds outside a call."""
    start_s = _monotonic_s()
    return lambda: _monotonic_s() - start_s


def utc_stamp(unix_s: float) -> str:
    """`2026-01-31T09:30:00Z` for a record's fields."""
    return dt.datetime.fromtimestamp(unix_s, tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
