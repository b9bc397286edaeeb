"""A model server of ours in a process of its own: started, watched, ended; it never outlives us.

The child prints one JSON line on stdout when it is ready. Its stdin is a pipe that we hold: when we end, however that
happens, the pipe closes and the child ends too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from callm_voice.core.clock import Clock
from callm_voice.core.errors import ModelConnectError, ModelTimeoutError

STDERR_LINES = 40
"""How much of the child's stderr is kept for error messages."""
STDERR_LINE_CHARS = 400
GRACE_S = 3.0
"""How long a child may take to end by itself before it is killed."""


class ServerProcess:
    """One running server. Made by `start`."""

    def __init__(self, what: str, process: asyncio.subprocess.Process, clock: Clock) -> None:
        self.what = what
        self._clock = clock
        self.ready: dict[str, Any] = {}
        """What the ready line said."""
        self._process = process
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._drains = [asyncio.create_task(self._drain_stderr())]

    @classmethod
    async def start(
        cls, module: str, args: Sequence[str], *, what: str, clock: Clock, ready_s: float,
        env: Mapping[str, str] | None = None,
    ) -> ServerProcess:  # fmt: skip
        """Run `python -m module args` and wait for its ready line.

        Args:
            what: names the server in messages.
            ready_s: limit for the ready line.
            env: environment variables on top of ours.

        Raises:
            ModelConnectError: it ended, or printed something else; with the end of its stderr.
            ModelTimeoutError: no ready line within `ready_s`.
        """
        with clock.busy("llm"):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", module, *args,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                env={**os.environ, **(env or {})},
                start_new_session=True,  # Ctrl-C is ours: the child ends when we let go of its stdin
            )  # fmt: skip
            server = cls(what, process, clock)
            try:
                async with asyncio.timeout(ready_s):
                    await server._read_ready_line()
            except TimeoutError:
                await server.stop()
                raise ModelTimeoutError(f"{what} was not ready within {ready_s:g} s{server._last_words()}") from None
            except BaseException:
                await server.stop()
                raise
        return server

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.returncode is None

    def stderr_tail(self) -> str:
        """The last lines that it wrote to stderr."""
        return "\n".join(self._stderr)

    async def stop(self, *, grace_s: float = GRACE_S) -> None:
        """End it: close its stdin, then SIGTERM, then SIGKILL. Does nothing the second time."""
        with self._clock.busy("llm"):  # a fast loop must not skip over the grace that the child is given
            await self._end(grace_s)

    async def _end(self, grace_s: float) -> None:
        process = self._process
        if process.stdin is not None and not process.stdin.is_closing():
            process.stdin.close()
            with contextlib.suppress(ConnectionError):
                await process.stdin.wait_closed()
        for signal in (None, process.terminate, process.kill):
            if signal is not None and process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    signal()
            try:
                async with asyncio.timeout(grace_s):
                    await process.wait()
                break
            except TimeoutError:
                continue
        await asyncio.gather(*self._drains, return_exceptions=True)

    async def _read_ready_line(self) -> None:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            await self._process.wait()
            await asyncio.gather(*self._drains, return_exceptions=True)
            code = self._process.returncode
            raise ModelConnectError(f"{self.what} ended with exit code {code} before it was ready{self._last_words()}")
        try:
            ready = json.loads(line)
        except ValueError:
            ready = None
        if not isinstance(ready, dict):
            raise ModelConnectError(f"{self.what} printed no ready line but {line[:120]!r}")
        self.ready = ready
        self._drains.append(asyncio.create_task(self._drain_stdout()))

    async def _drain_stderr(self) -> None:
        assert self._process.stderr is not None
        unfinished = ""
        while block := await self._process.stderr.read(4096):
            *lines, unfinished = (unfinished + block.decode("utf-8", errors="replace")).split("\n")
            self._stderr.extend(line[:STDERR_LINE_CHARS] for line in lines)
            unfinished = unfinished[:STDERR_LINE_CHARS]
        if unfinished:
            self._stderr.append(unfinished)

    async def _drain_stdout(self) -> None:
        assert self._process.stdout is not None
        while await self._process.stdout.read(4096):
            pass

    def _last_words(self) -> str:
        tail = " | ".join(line.strip() for line in list(self._stderr)[-4:] if line.strip())
        return f": {tail[-600:]}" if tail else ""
