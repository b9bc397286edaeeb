"""The fast pace: time is wall time plus skipped idle time.

A selector for the asyncio loop looks at the clock's count of work in flight. While anything is in flight it waits like
any loop. When nothing is, and the next timer lies ahead, it adds the gap to `skipped_s` instead of sleeping. So model
latency is measured for real, and only dead air is skipped.

Pipecat reads `time` itself, so a process that runs at this pace patches `time` (`patch_time`) before it imports
Pipecat. One call per process at a time; the next one brings its own clock, which goes on where the last one stood, so
that the monotonic times of a process never go back.
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
        self.carried_s = 0.0
        """What the earlier clocks of this process skipped; in monotonic times only, the date owes them nothing."""

    def now_s(self) -> float:
        return super().now_s() + self.carried_s + self.skipped_s

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


class _PatchedTime:
    """Which clock the patched functions of this process follow."""

    def __init__(self, clock: FastClock) -> None:
        self.clock = clock

    def follow(self, clock: FastClock) -> None:
        """The next call's clock."""
        if clock is not self.clock:
            clock.carried_s = self.clock.carried_s + self.clock.skipped_s
            self.clock = clock

    def monotonic_shift_s(self) -> float:
        return self.clock.carried_s + self.clock.skipped_s

    def date_shift_s(self) -> float:
        return self.clock.skipped_s + self.clock.date_jump_s


_patched: _PatchedTime | None = None


def patch_time(clock: FastClock) -> None:
    """Let `time.time`, `monotonic`, `perf_counter` and their `_ns` forms of this process include what was skipped.

    Must run before anything imports Pipecat, which binds some of them at import, and again with each further call's
    clock before anything reads that clock.
    """
    global _patched
    if _patched is not None:
        _patched.follow(clock)
        return
    _patched = _PatchedTime(clock)
    for name, shift_s in (
        ("time", _patched.date_shift_s),
        ("monotonic", _patched.monotonic_shift_s),
        ("perf_counter", _patched.monotonic_shift_s),
    ):
        setattr(time, name, _shifted(getattr(time, name), shift_s, 1))
        setattr(time, f"{name}_ns", _shifted(getattr(time, f"{name}_ns"), shift_s, 1_000_000_000))


def _shifted(original: Callable[[], Any], shift_s: Callable[[], float], per_s: int) -> Callable[[], Any]:
    """`original` plus the shift in its own unit (1 a second: float; 10^9 a second: int)."""
    if per_s == 1:
        return lambda: original() + shift_s()
    return lambda: original() + int(shift_s() * per_s)
