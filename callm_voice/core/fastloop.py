"""The fast pace: time is wall time plus skipped idle time.

A selector for the asyncio loop looks at the clock's count of work in flight. While anything is in flight it waits like
any loop. When nothing is, and the next timer lies ahead, it adds the gap to `skipped_s` instead of sleeping. So model
latency is measured for real, and only dead air is skipped.

Pipecat reads `time` itself, so a process that runs at this pace patches `time` (`patch_time`) before it imports
Pipecat. One call per process at a time.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from callm_voice.core.clock import Pace, RealClock

T = TypeVar("T")
SWITCH_INTERVAL_S = 0.0005
"""How long a thread may hold the interpreter while the event loop waits for it. Python's default of 5 ms would let the
Python parts of a speech engine delay the reading of a token by that much, which is the measure of the probes."""


class FastClock(RealClock):
    """Wall time plus what the loop skipped."""

    pace: Pace = "fast"

    def __init__(self, *, threads: int = 4) -> None:
        super().__init__(threads=threads)
        self.skipped_s = 0.0

    def now_s(self) -> float:
        return super().now_s() + self.skipped_s

    def unix_s(self) -> float:
        return super().unix_s() + self.skipped_s

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in flight."""
        return not any(self.in_flight.values())


class _SkippingSelector(selectors.BaseSelector):
    """Delegates to the platform's selector, but never sleeps while the clock is idle."""

    def __init__(self, clock: FastClock) -> None:
        self._inner = selectors.DefaultSelector()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return self._inner.select(timeout)
        ready = self._inner.select(0)
        if ready:
            return ready
        if not self._clock.is_idle:
            return self._inner.select(timeout)
        self._clock.skipped_s += timeout
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._inner.get_map()

    def close(self) -> None:
        self._inner.close()


class FastLoop(asyncio.SelectorEventLoop):
    """An event loop on a FastClock's time."""

    def __init__(self, clock: FastClock) -> None:
        self._callm_clock = clock
        super().__init__(_SkippingSelector(clock))

    def time(self) -> float:
        return self._callm_clock.now_s()


def make_clock(pace: Pace) -> RealClock:
    """A clock of the given pace; close it after use."""
    return FastClock() if pace == "fast" else RealClock()


def run(main: Callable[[], Coroutine[Any, Any, T]], clock: RealClock) -> T:
    """Run `main()` to its end on a loop that keeps the clock's time; cancelled by SIGINT like `asyncio.run`."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    factory = (lambda: FastLoop(clock)) if isinstance(clock, FastClock) else None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main())


def patch_time(clock: FastClock) -> None:
    """Let `time.time`, `monotonic`, `perf_counter` and their `_ns` forms of this process include what was skipped.

    Must run before anything imports Pipecat, which binds some of them at import.
    """
    for name in ("time", "monotonic", "perf_counter"):
        setattr(time, name, _shifted(getattr(time, name), clock, 1))
        setattr(time, f"{name}_ns", _shifted(getattr(time, f"{name}_ns"), clock, 1_000_000_000))


def _shifted(original: Callable[[], Any], clock: FastClock, per_s: int) -> Callable[[], Any]:
    """`original` plus the skipped time in its own unit (1 a second: float; 10^9 a second: int)."""
    if per_s == 1:
        return lambda: original() + clock.skipped_s
    return lambda: original() + int(clock.skipped_s * per_s)
