"""An agent on a media stream, in the test's own event loop: it does what the test says with each connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection, serve

from callm_voice.audio.codec_pcm import G711
from callm_voice.pipeline.twilio_messages import Mark, Media, pack

LIMIT_S = 10.0


@dataclass
class Connection:
    """One call at the agent's end."""

    socket: ServerConnection
    start: dict[str, Any] = field(default_factory=dict)
    received: list[dict[str, Any]] = field(default_factory=list)

    @property
    def stream_sid(self) -> str:
        sid = self.start["streamSid"]
        assert isinstance(sid, str)
        return sid

    async def until(self, event: str) -> dict[str, Any]:
        """Read on until a message of this event."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                message = json.loads(await self.socket.recv())
                self.received.append(message)
                if message["event"] == event:
                    found: dict[str, Any] = message
                    return found

    async def began(self) -> dict[str, Any]:
        """Read `connected` and `start`."""
        await self.until("connected")
        self.start = (await self.until("start"))["start"]
        return self.start

    async def say(self, duration_ms: int, mark: str | None = None) -> None:
        """Send a sound all at once, and a mark behind it."""
        t = np.arange(8 * duration_ms) / 8000
        pcm = (8000 * np.sin(2 * np.pi * 440 * t)).astype(np.int16)
        await self.socket.send(pack(Media(self.stream_sid, G711("pcmu").encode(pcm))))
        if mark is not None:
            await self.socket.send(pack(Mark(self.stream_sid, mark)))


Script = Callable[[Connection], Awaitable[None]]


@asynccontextmanager
async def media_agent(script: Script) -> AsyncIterator[str]:
    """Runs while the block does; yields its URL. What the script raises is raised here at the end."""
    failures: list[Exception] = []

    async def answer(socket: ServerConnection) -> None:
        try:
            await script(Connection(socket))
        except Exception as error:  # noqa: BLE001 - the server would only log it
            failures.append(error)

    async with serve(answer, "127.0.0.1", 0, compression=None, close_timeout=1) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}/media"
    if failures:
        raise failures[0]
