"""How late the event loop runs what is due: a timer every 50 ms that does nothing but look at the time.

A loop that is held up (a blocking call, a long callback, a processor that somebody else has) runs a due timer late by
that much. The loop's time is the clock's (`Clock.now_s`); at the fast pace that is wall time plus what was skipped, and
nothing is skipped while a timer is due, so a lag is wall time at either pace.

The times are absolute: after a stall of 200 ms four looks are made, late by 200, 150, 100 and 50 ms. A sampler that
waited for its own last look would see one late look in place of four.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence

PERIOD_S = 0.05
OFFSET_S = 0.01
"""Half a packet off the line's ticks, so that it does not only see the loop when a tick has just woken it."""


class LoopLag:
    """Samples the running loop between `start` and `stop`."""

    def __init__(self) -> None:
        self._lags_ms = array("d")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due_s = 0.0

    @property
    def lags_ms(self) -> Sequence[float]:
        """How late each look was, in milliseconds, never negative, in the order of time."""
        return self._lags_ms

    def start(self) -> None:
        """Begin; must be called on the loop."""
        self._loop = asyncio.get_running_loop()
        self._due_s = self._loop.time() + OFFSET_S
        self._timer = self._loop.call_at(self._due_s, self._look)

    def stop(self) -> None:
        """End. Safe to call twice, and without `start`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        assert self._loop is not None
        self._lags_ms.append(max(0.0, (self._loop.time() - self._due_s) * 1000))
        self._due_s += PERIOD_S
        self._timer = self._loop.call_at(self._due_s, self._look)
