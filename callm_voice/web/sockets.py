"""Websockets that only send: how many there are, what a browser may say on them, and how long it may take to listen.

Close codes (RFC 6455 §7.4.1): 1000 all was sent, 1003 the browser sent bytes, 1008 it listened too slowly or talked too
much, 1009 its message was too large, 1011 the call was lost, or its files cannot be read. A socket too many is refused
with HTTP 503.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing, suppress

from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from callm_voice.web.streams import LostCallError

MAX_MESSAGE_CHARS = 1000
MAX_MESSAGES = 100
"""Nothing that is said on these sockets has a meaning."""
SEND_LIMIT_S = 8.0
"""A browser that takes nothing for so long is gone, or as good as gone."""
CLOSE_LIMIT_S = 1.0
Close = tuple[int, str]
"""Code and reason."""
GONE: Close = (1001, "")
Pieces = AsyncGenerator[str, None] | AsyncGenerator[str | bytes, None]


class Sockets:
    """All open sockets of one server.

    Args:
        most: at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.open = 0

    async def feed(self, socket: WebSocket, pieces: Pieces) -> None:
        """Send all pieces, text or bytes, a message each. The pieces are closed whatever happens."""
        async with aclosing(pieces):
            if self.open >= self._most:
                await refuse(socket, 503, "too many listeners; try again later")
                return
            self.open += 1
            try:
                await socket.accept()
                await _close(socket, await _until_either(_send_all(socket, pieces), _listen(socket)))
            finally:
                self.open -= 1


async def refuse(socket: WebSocket, status: int, why: str) -> None:
    """Answer the handshake with an HTTP status."""
    await socket.send_denial_response(PlainTextResponse(why + "\n", status))


async def _until_either(*jobs: Coroutine[None, None, Close]) -> Close:
    """How the first of them ends; the others are cancelled and waited for."""
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return next(task for task in tasks if task in done).result()


async def _send_all(socket: WebSocket, pieces: Pieces) -> Close:
    try:
        async for piece in pieces:
            stopped = await _send(socket, piece)
            if stopped is not None:
                return stopped
            await asyncio.sleep(0)  # a send that fits the buffer does not wait, and others want their turn
    except LostCallError as lost:
        return 1011, str(lost) or "the call was lost"
    except (OSError, RuntimeError):  # what libsndfile and the disk say; soundfile's errors are RuntimeErrors
        return 1011, "the call's files cannot be read"
    return 1000, "the call is over"


async def _send(socket: WebSocket, piece: str | bytes) -> Close | None:
    """Why there is no sense in sending more; None: it was sent."""
    try:
        async with asyncio.timeout(SEND_LIMIT_S):
            await (socket.send_bytes(piece) if isinstance(piece, bytes) else socket.send_text(piece))
    except TimeoutError:
        return 1008, "too slow"
    except (WebSocketDisconnect, RuntimeError, OSError):  # Starlette says so in three ways
        return GONE
    return None


async def _listen(socket: WebSocket) -> Close:
    """What the browser says, until it may not."""
    for _ in range(MAX_MESSAGES):
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return GONE
        if message.get("bytes") is not None:
            return 1003, "text only"
        if len(message.get("text") or "") > MAX_MESSAGE_CHARS:
            return 1009, "too large"
    return 1008, "too many messages"


async def _close(socket: WebSocket, close: Close) -> None:
    # To a browser that takes nothing, no close frame goes out either: its connection is left to the kernel's limit.
    with suppress(TimeoutError, RuntimeError, WebSocketDisconnect, OSError):
        if close is not GONE:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await socket.close(*close)
