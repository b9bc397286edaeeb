"""Model servers that outlive a call: a worker that makes many calls starts each server once.

A server's process belongs to an event loop, and every call has a loop of its own. So the servers of a pool live on a
loop in a thread beside the calls, which starts, drains and ends them and does nothing else.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from callm_voice.core.clock import Clock, RealClock
from callm_voice.llm.process import ServerProcess

T = TypeVar("T")
MAX_SERVERS = 3
"""Of one worker. An embedded model keeps a gigabyte or two; the one that was used longest ago makes room."""


class ServerPool:
    """Running servers by module and arguments. Close it with `close`.

    Args:
        limit: most servers at once.
    """

    def __init__(self, *, limit: int = MAX_SERVERS) -> None:
        self._limit = limit
        self._servers: dict[tuple[str, ...], ServerProcess] = {}
        self._clock = RealClock(threads=1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def get(
        self, module: str, args: Sequence[str], *, what: str, clock: Clock, ready_s: float,
        env: Mapping[str, str] | None = None, for_whom: str = "",
    ) -> ServerProcess:  # fmt: skip
        """The server of these arguments, started if it does not run; as `ServerProcess.start`, counted on `clock`.

        Args:
            for_whom: two users of different names never get the same server.
        """

        async def found() -> ServerProcess:
            key = (module, for_whom, *args)
            server = self._servers.pop(key, None)
            if server is not None and not server.alive:
                await server.stop()
                server = None
            if server is None:
                while len(self._servers) >= self._limit:
                    await self._servers.pop(next(iter(self._servers))).stop()
                server = await ServerProcess.start(module, args, what=what, clock=self._clock, ready_s=ready_s, env=env)
            self._servers[key] = server  # last: the most recently used
            return server

        with clock.busy("llm"):
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(found(), self._running_loop()))

    def drop(self) -> None:
        """End all servers; the next `get` starts afresh. For after a call that broke: its server may be to blame."""
        if self._loop is not None:
            self._run(self._stop_all)

    def close(self) -> None:
        """End all servers and the thread. Does nothing the second time."""
        if self._loop is not None and self._thread is not None:
            self._run(self._stop_all)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None
        self._clock.close()

    async def _stop_all(self) -> None:
        servers, self._servers = list(self._servers.values()), {}
        await asyncio.gather(*(server.stop() for server in servers))

    def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return asyncio.run_coroutine_threadsafe(work(), self._running_loop()).result()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.SelectorEventLoop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="callm-servers", daemon=True)
            self._thread.start()
        return self._loop
