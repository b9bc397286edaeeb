"""An event loop for somebody else's code: nothing that hangs in it keeps the process from ending."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any


class ServiceLoop(asyncio.SelectorEventLoop):
    """Its `to_thread` jobs run in daemon threads: the process would wait at its end for one that hangs in the pool."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[threading.Thread] = []
        """Those that may still run. Native code that does when the interpreter ends takes the process down with it."""

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        if executor is not None:
            return super().run_in_executor(executor, func, *args)
        job: Future[Any] = Future()

        def work() -> None:
            if not job.set_running_or_notify_cancel():
                return
            try:
                job.set_result(func(*args))
            except BaseException as error:  # noqa: BLE001 - the waiter gets it, as from any executor
                job.set_exception(error)

        thread = threading.Thread(target=work, name="service-job", daemon=True)
        self.jobs = [*(t for t in self.jobs if t.is_alive()), thread]
        thread.start()
        return asyncio.wrap_future(job, loop=self)


async def first_of(*waited: Coroutine[Any, Any, Any] | asyncio.Task[Any]) -> None:
    """Return when one of them is done; those that are coroutines are cancelled then."""
    own = {asyncio.ensure_future(w) for w in waited if not isinstance(w, asyncio.Task)}
    await asyncio.wait({*own, *(w for w in waited if isinstance(w, asyncio.Task))}, return_when=asyncio.FIRST_COMPLETED)
    for task in own:
        task.cancel()
    await asyncio.wait(own)
