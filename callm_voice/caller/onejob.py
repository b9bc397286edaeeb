"""One task at a time beside the line's ticks, with its errors reported in our own terms."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from callm_voice.core.errors import CallmError, HarnessError


class OneJob:
    """Starts one coroutine after the other as a task that it owns.

    Args:
        on_error: called with what a job raised; anything but a `CallmError` is a fault of our own.
    """

    def __init__(self, on_error: Callable[[CallmError], None]) -> None:
        self._on_error = on_error
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether a job has not ended yet."""
        return self._task is not None and not self._task.done()

    def start(self, job: Callable[[], Awaitable[None]]) -> None:
        """Run `job()` beside the caller of this.

        Raises:
            HarnessError: another job has not ended yet.
        """
        if self.busy:
            raise HarnessError("two jobs of the caller at a time", stage="caller")

        async def run() -> None:
            await job()

        self._task = asyncio.create_task(run(), name="caller")
        self._task.add_done_callback(self._ended)

    async def aclose(self) -> None:
        """Cancel what runs and wait for its end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    def _ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if isinstance(error, CallmError):
            self._on_error(error)
        elif error is not None:
            self._on_error(HarnessError(f"the caller broke: {type(error).__name__}: {error}", stage="caller"))
