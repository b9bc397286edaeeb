"""The tools of one call, served on this machine for as long as the call lasts: plain HTTP and MCP at one address.

An agent that runs elsewhere works on the call's database through it, so all three gates can be scored. Each call has a
secret token of its own; who does not know it gets nothing but 401.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from callm_voice import __version__
from callm_voice.bench.tool_options import ToolOptions, choose_token
from callm_voice.bench.toolserver_desk import ToolDesk
from callm_voice.bench.toolserver_http import TokenGate, http_routes
from callm_voice.core.errors import MissingDependencyError, SetupError

if TYPE_CHECKING:
    import uvicorn

START_LIMIT_S = 10.0
CLOSE_LIMIT_S = 5.0
MAX_CONNECTIONS = 64
KEEP_ALIVE_S = 60


class ToolServer:
    """Serves a `ToolDesk`. `start`, then the call, then `aclose`.

    Args:
        desk: of the call.
    """

    def __init__(self, desk: ToolDesk, options: ToolOptions) -> None:
        self.desk, self._options = desk, options
        self._token = choose_token()
        self._base = ""
        self._closing = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._announce: Callable[[], Any] | None = None

    @property
    def url(self) -> str:
        """Of the plain protocol, the token in it; `/tools`, `/roles` and `/prompt` go behind it."""
        return f"{self._base}/{self._token}"

    @property
    def mcp_url(self) -> str:
        """Of the MCP endpoint, the token in it."""
        return f"{self.url}/mcp"

    def without_token(self, text: str) -> str:
        """For the record and messages."""
        return text.replace(self._token, "TOKEN")

    async def start(self) -> None:
        """Listen.

        Raises:
            SetupError: the address cannot be had, or a package is missing.
        """
        try:
            import mcp  # noqa: F401 - both are asked for before anything is opened
            import uvicorn  # noqa: F401
        except ModuleNotFoundError as error:
            raise MissingDependencyError(str(error.name or "mcp"), "live") from error
        listening = _listen(self._options.host, self._options.port)
        port = listening.getsockname()[1]
        host = f"[{self._options.host}]" if ":" in self._options.host else self._options.host
        self._base = (self._options.public_url or f"http://{host}:{port}").rstrip("/")
        ready = asyncio.Event()
        self._serving = asyncio.create_task(self._serve(listening, ready), name="tool-server")
        waiting = asyncio.create_task(ready.wait(), name="tool-server-ready")
        await asyncio.wait({waiting, self._serving}, timeout=START_LIMIT_S, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not ready.is_set():
            await self.aclose()
            raise SetupError(f"the tool server did not start within {START_LIMIT_S:g} s")

    async def aclose(self) -> None:
        """Stop; requests that still run are given up. Safe to call twice."""
        self._closing.set()
        if self._serving is not None:
            done, _ = await asyncio.wait({self._serving}, timeout=CLOSE_LIMIT_S)
            if not done:
                self._serving.cancel()
                await asyncio.wait({self._serving})
            serving, self._serving = self._serving, None
            if not serving.cancelled() and (error := serving.exception()) is not None:
                raise SetupError(f"the tool server broke: {type(error).__name__}: {error}") from error

    async def run_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """One call, over whichever protocol it came."""
        before = self.desk.role
        output = self.desk.call(name, arguments)
        if self.desk.role != before and self._announce is not None:
            await self._announce()
        return output

    async def _serve(self, listening: socket.socket, ready: asyncio.Event) -> None:
        """Until `aclose`: the sessions of MCP end first, so that no open stream holds the server up."""
        from starlette.applications import Starlette
        from starlette.routing import Route

        from callm_voice.bench.toolserver_mcp import McpTools

        protocol = McpTools(self.desk, self.run_tool, __version__)
        self._announce = protocol.announce
        routes = [*http_routes(self.desk, self.run_tool), Route("/mcp", protocol, methods=["GET", "POST", "DELETE"])]
        server = _server(TokenGate(Starlette(routes=routes), self._token), ready)
        running = asyncio.create_task(server.serve([listening]), name="tool-server-http")
        try:
            async with protocol.run():
                await self._closing.wait()
        finally:
            server.should_exit = True
            await running
            await _end_watchers()


async def _end_watchers() -> None:
    """End the task that the library of event streams leaves polling on each event loop for a server's end; the streams
    of ours have ended with their sessions."""
    watchers = {t for t in asyncio.all_tasks() if getattr(t.get_coro(), "__qualname__", "") == "_shutdown_watcher"}
    for watcher in watchers:
        watcher.cancel()
    if watchers:
        await asyncio.wait(watchers)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        host.encode("idna")  # a socket does so too, but is left open where that fails
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise SetupError(
            f"tools cannot be served at {host}:{port}: {said}", hint="choose another --tools-host or --tools-port"
        ) from error


def _server(app: Any, ready: asyncio.Event) -> uvicorn.Server:
    """A server inside this event loop: it leaves signals alone, logs nothing, and says when it listens."""
    import uvicorn

    from callm_voice.bench.http_limits import BoundedHttp

    class Quiet(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready.set()

    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    return Quiet(
        uvicorn.Config(
            app,
            http=BoundedHttp,
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=1,
        )
    )


def is_open_to_others(host: str) -> bool:
    """Whether another machine can reach what listens there."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"
