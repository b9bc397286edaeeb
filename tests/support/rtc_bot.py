"""An agent behind `POST /api/offer` in a process of its own, made of aiortc alone, that does as it is told.

    python tests/support/rtc_bot.py MODE

    talk      a tone of half a second as it is called, and another whenever the caller has spoken and stopped
    mute      it is there and sends silence
    vanish    speaks, and after two seconds its process is gone without a word
    hang_up   speaks, and after two seconds closes the connection
    500       answers with an error and a long text

It prints one JSON line with its port, and ends when its stdin ends.
"""

from __future__ import annotations

import asyncio
import fractions
import json
import os
import sys
import threading

import numpy as np
from aiohttp import web
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame

RATE_HZ, SAMPLES = 8000, 160
QUIET_PACKETS = 20
GONE_AFTER_S = 2.0


class Mouth(MediaStreamTrack):
    """Silence, and a tone of so many packets when it is asked for."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self.speak = 0
        self._at, self._zero_s = 0, 0.0

    async def recv(self) -> AudioFrame:
        loop = asyncio.get_running_loop()
        self._zero_s = self._zero_s or loop.time()
        await asyncio.sleep(max(0.0, self._zero_s + self._at / RATE_HZ - loop.time()))
        t_s = (self._at + np.arange(SAMPLES)) / RATE_HZ
        pcm = (8000 * (self.speak > 0) * np.sin(2 * np.pi * 500 * t_s)).astype(np.int16)
        self.speak = max(0, self.speak - 1)
        frame = AudioFrame.from_ndarray(pcm.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE_HZ, self._at, fractions.Fraction(1, RATE_HZ)
        self._at += SAMPLES
        return frame


async def listen(track: MediaStreamTrack, mouth: Mouth) -> None:
    """Speak when the caller has spoken and is quiet again."""
    loud, quiet = False, 0
    while True:
        try:
            frame = await track.recv()
        except MediaStreamError:
            return
        if np.abs(frame.to_ndarray().astype(int)).max() > 1000:
            loud, quiet = True, 0
        elif loud:
            quiet += 1
            if quiet == QUIET_PACKETS:
                loud, mouth.speak = False, 25


class Bot:
    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._held: list[RTCPeerConnection] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def offer(self, request: web.Request) -> web.Response:
        told = await request.json()
        if self._mode == "500":
            return web.Response(status=500, text="the bot \x1b[31mbroke\n" * 50)
        answer = await self._connect(told["sdp"])
        return web.json_response({"sdp": answer, "type": "answer", "pc_id": "1"})

    async def _connect(self, sdp: str) -> str:
        connection, mouth = RTCPeerConnection(RTCConfiguration(iceServers=[])), Mouth()
        self._held.append(connection)
        connection.on("track", lambda track: self._start(listen(track, mouth if self._mode == "talk" else Mouth())))
        await connection.setRemoteDescription(RTCSessionDescription(sdp, "offer"))
        connection.addTrack(mouth)
        await connection.setLocalDescription(await connection.createAnswer())
        mouth.speak = 0 if self._mode == "mute" else 25
        if self._mode in ("vanish", "hang_up"):
            self._start(self._leave(connection))
        return connection.localDescription.sdp

    async def _leave(self, connection: RTCPeerConnection) -> None:
        joined = asyncio.Event()
        connection.on("connectionstatechange", lambda: connection.connectionState == "connected" and joined.set())
        await joined.wait()
        await asyncio.sleep(GONE_AFTER_S)
        if self._mode == "vanish":
            os._exit(9)
        await connection.close()

    def _start(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for connection in self._held:
            await connection.close()


async def main(mode: str) -> None:
    ended, loop, bot = asyncio.Event(), asyncio.get_running_loop(), Bot(mode)

    def watch() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=watch, daemon=True).start()
    app = web.Application()
    app.router.add_post("/api/offer", bot.offer)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
    await ended.wait()
    await bot.close()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
