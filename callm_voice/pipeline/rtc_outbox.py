"""Packets on their way out of one end of a connection: lost and delayed as a network does it, in order, never waited
for."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from callm_voice.core.clock import Clock
from callm_voice.line.network import PacketNetwork


class Outbox:
    """`put` at any time after `start`; a task sends.

    Args:
        clock: times the delays.
        send: encrypts and sends one packet.
        network: drops and delays packets before they are sent; None: none.
    """

    def __init__(self, clock: Clock, send: Callable[[bytes], Awaitable[None]], network: PacketNetwork | None) -> None:
        self._clock, self._send, self._network = clock, send, network
        self._waiting: deque[tuple[float, bytes]] = deque()
        """With the time at which each leaves."""
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._left = 0

    @property
    def open(self) -> bool:
        """Whether packets are sent."""
        return self._task is not None

    @property
    def due(self) -> int:
        """Packets that have left, or should have by now."""
        now_s = self._clock.now_s()
        return self._left + sum(leaves_s <= now_s for leaves_s, _ in self._waiting)

    def start(self) -> None:
        """The connection is there."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="rtc-send")

    def put(self, packet: bytes) -> None:
        """Send one packet now, or as late as the network has it; or never."""
        leaves_s = self._clock.now_s()
        if self._network is not None:
            arrival_ms = self._network.send(leaves_s * 1000)
            if arrival_ms is None:
                return
            leaves_s = arrival_ms / 1000
        self._waiting.append((leaves_s, packet))
        self._wake.set()

    async def aclose(self) -> None:
        """What still waits is not sent."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            while self._waiting:
                leaves_s, packet = self._waiting[0]
                if leaves_s > self._clock.now_s():
                    await self._clock.sleep_until(leaves_s)
                self._waiting.popleft()  # not before: until it leaves, `due` has to see when it should
                self._left += 1
                await self._send(packet)
            self._wake.clear()
            await self._wake.wait()
