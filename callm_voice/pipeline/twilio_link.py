"""The websocket under a Twilio media stream, a thin shell: sending never blocks, what comes goes to the core."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from callm_voice.core.errors import CallmError, EngineError, MissingDependencyError
from callm_voice.llm.secrets import redact, safe_url
from callm_voice.pipeline.twilio_messages import BadMessage

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

CONNECT_LIMIT_S = 10.0
CLOSE_LIMIT_S = 2.0
MAX_MESSAGE_BYTES = 1 << 20
"""Of the agent's; in base64, 98 s of sound."""
MAX_WAITING = 500
"""Messages to the agent that wait to be sent: 10 s of sound."""
PING_EVERY_S = 10.0
PONG_LIMIT_S = 30.0
"""An agent that does not answer a ping for so long is gone; many load their models while the call is open."""
NOT_A_MESSAGE = 1007
"""Close code of RFC 6455 §7.4.1 for data that is not of the expected form."""


def agent_error(message: str, hint: str = "") -> EngineError:
    """The agent that runs elsewhere cannot be reached, or does not keep to its protocol."""
    return EngineError(message, hint=hint, stage="line")


class TwilioLink:
    """One websocket to the agent. `connect`, then `send` and what comes, then `aclose`.

    Args:
        url: of the agent.
        on_message: takes what comes; BadMessage ends the link.
        on_end: called once, when the link ended by itself: with None if the agent closed it in good order.
    """

    def __init__(
        self, url: str, *, on_message: Callable[[str | bytes], None], on_end: Callable[[CallmError | None], None]
    ) -> None:
        self._url, self._shown = url, safe_url(url)
        self._on_message, self._on_end = on_message, on_end
        self._outbox: asyncio.Queue[str] = asyncio.Queue(MAX_WAITING)
        self._socket: ClientConnection | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._over = False

    async def connect(self) -> None:
        """Open the websocket.

        Raises:
            EngineError: it cannot be opened, and why.
            MissingDependencyError: the package for it is not installed.
        """
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import WebSocketException
        except ModuleNotFoundError as error:
            raise MissingDependencyError("websockets", "live") from error
        options: dict[str, Any] = {} if not is_loopback(self._url) else {"proxy": None}
        try:
            self._socket = await connect(
                self._url,
                open_timeout=CONNECT_LIMIT_S,
                close_timeout=CLOSE_LIMIT_S,
                ping_interval=PING_EVERY_S,
                ping_timeout=PONG_LIMIT_S,
                max_size=MAX_MESSAGE_BYTES,
                compression=None,
                **options,
            )
        except TimeoutError as error:
            raise agent_error(f"{self._shown}: no answer within {CONNECT_LIMIT_S:g} s") from error
        # ImportError: the environment names a SOCKS proxy, and the package for it is not there.
        except (OSError, WebSocketException, ValueError, ImportError) as error:
            raise agent_error(
                f"{self._shown}: cannot be reached: {self._said(error)}", "is the agent running at that address?"
            ) from error
        self._tasks = [
            asyncio.create_task(self._read(self._socket), name="twilio-read"),
            asyncio.create_task(self._write(self._socket), name="twilio-write"),
        ]

    def send(self, text: str) -> None:
        """Send when the agent takes it. One that takes nothing for too long ends the link."""
        if self._over:
            return
        try:
            self._outbox.put_nowait(text)
        except asyncio.QueueFull:
            self._end(agent_error(f"{self._shown}: the agent does not read; {MAX_WAITING} messages wait to be sent"))

    async def aclose(self, last: str | None = None) -> None:
        """Send `last`, if the agent still takes it, and close. Safe to call twice."""
        if self._socket is None:
            return
        socket, self._socket = self._socket, None
        if last is not None and not self._over:
            self.send(last)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._outbox.join(), CLOSE_LIMIT_S)
        self._over = True
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        await socket.close()

    async def _write(self, socket: ClientConnection) -> None:
        from websockets.exceptions import ConnectionClosed

        while True:
            text = await self._outbox.get()
            try:
                await socket.send(text)
            except ConnectionClosed:
                return  # the reader says why
            finally:
                self._outbox.task_done()

    async def _read(self, socket: ClientConnection) -> None:
        from websockets.exceptions import ConnectionClosedError

        try:
            async for message in socket:
                self._on_message(message)
                await asyncio.sleep(0)  # an agent that floods must not hold the line up
        except BadMessage as error:
            self._end(agent_error(f"{self._shown}: the agent sent what is no message of a media stream: {error}"))
            await socket.close(NOT_A_MESSAGE, str(error).encode("ascii", "replace").decode()[:120])
        except ConnectionClosedError as error:
            self._end(agent_error(f"{self._shown}: the connection broke: {self._said(error)}"))
        else:
            self._end(None)

    def _said(self, error: BaseException) -> str:
        """What a library says, without what is secret in the address: it may repeat it."""
        return one_line(redact(str(error).replace(self._url, self._shown), ())) or type(error).__name__

    def _end(self, error: CallmError | None) -> None:
        if not self._over:
            self._over = True
            self._on_end(error)


def is_loopback(url: str) -> bool:
    """Whether it leads to this machine, where no proxy has a business."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def one_line(text: str) -> str:
    """The beginning of what somebody else said, without control characters: it is shown on a terminal."""
    shown = "".join(char if char.isprintable() else " " for char in text[:800])
    return " ".join(shown.split())[:200]
