"""An agent on a media stream in a process of its own, without ears: it answers sound with sound and works by a script.

    python tests/support/media_bot.py SCRIPT.json

The script is a list of steps: {"say": MS}, {"mark": NAME}, {"wait": "speech"} (until the caller spoke and stopped),
{"tool": NAME, "args": {...}} (over plain HTTP), {"pause": S}, {"send": TEXT}, {"cut": true}; at its end the stream is
closed. It prints one JSON line with its port, and ends when its stdin ends: with exit code 1 if it could not read what
it was sent or do a step, for any other reason than that the call was over.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

QUIET_MS = 400
LOUD_CODES = 48
"""A µ-law code whose magnitude bits are below this is loud (G.711 table 2: inverted, so small is loud)."""


class Call:
    """One stream and where its script stands."""

    def __init__(self, socket: ServerConnection, steps: list[dict[str, Any]]) -> None:
        self._socket, self._steps = socket, steps
        self._start: dict[str, Any] = {}
        self._began, self._stopped, self._over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._loud = False
        self._quiet_ms = 0

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:  # what cannot be read ends the script too
            reading = group.create_task(self._read())
            await self._began.wait()
            async with httpx.AsyncClient(trust_env=False) as client:
                for step in self._steps:
                    await self._do(step, client)
            reading.cancel()

    async def _read(self) -> None:
        async for text in self._socket:
            message = json.loads(text)
            if message["event"] == "start":
                self._start = message["start"]
                self._began.set()
            elif message["event"] == "media":
                self._hear(base64.b64decode(message["media"]["payload"]))

    def _hear(self, payload: bytes) -> None:
        magnitudes = np.frombuffer(payload, np.uint8) & 0x7F
        if np.count_nonzero(magnitudes < LOUD_CODES) > 10:
            self._loud, self._quiet_ms = True, 0
        elif self._loud:
            self._quiet_ms += 20
            if self._quiet_ms >= QUIET_MS:
                self._loud = False
                self._stopped.set()

    async def _do(self, step: dict[str, Any], client: httpx.AsyncClient) -> None:
        ids = {"streamSid": self._start["streamSid"]}
        if "say" in step:
            # A tone in µ-law: codes that swing between loud positive and loud negative values at 400 Hz.
            period = bytes([0x90] * 10 + [0x10] * 10)
            sound = base64.b64encode(period * (8 * step["say"] // len(period))).decode()
            await self._socket.send(json.dumps({"event": "media", **ids, "media": {"payload": sound}}))
        elif "mark" in step:
            await self._socket.send(json.dumps({"event": "mark", **ids, "mark": {"name": step["mark"]}}))
        elif "clear" in step:
            await self._socket.send(json.dumps({"event": "clear", **ids}))
        elif "wait" in step:
            self._stopped.clear()
            await self._stopped.wait()
        elif "tool" in step:
            url = f"{self._start['customParameters']['tools_url']}/tools/{step['tool']}"
            (await client.post(url, json=step.get("args", {}))).raise_for_status()
        elif "pause" in step:
            await asyncio.sleep(step["pause"])
        elif "send" in step:
            await self._socket.send(step["send"])
        elif "cut" in step:
            self._socket.transport.abort()


async def main(steps: list[dict[str, Any]]) -> int:
    ended, failed = asyncio.Event(), False
    loop = asyncio.get_running_loop()

    async def answer(socket: ServerConnection) -> None:
        nonlocal failed
        try:
            await Call(socket, steps).run()
        except* ConnectionClosed:
            pass
        except* Exception:
            failed = True
            raise  # the server logs it

    def watch() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=watch, daemon=True).start()
    async with serve(answer, "127.0.0.1", 0, compression=None) as server:
        print(json.dumps({"port": next(iter(server.sockets)).getsockname()[1]}), flush=True)
        await ended.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(json.loads(Path(sys.argv[1]).read_text("utf-8")))))
