"""What we use of aiortc's inside: the one place that knows it.

aiortc gives media to tracks only. The packets themselves pass two methods of its DTLS transport as plain RTP bytes:
`_send_rtp` encrypts and sends them, `_handle_rtp_data` is called with those that came, decrypted. Two more private
names: `_connection`, the ICE agent, which is told on which addresses to open ports, and the sender's `_ssrc`.
`tests/realtime/test_rtc_peer.py` fails if any of it moves.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aiortc import RTCPeerConnection, RTCRtpTransceiver
from aiortc.exceptions import InternalError, InvalidAccessError, InvalidStateError, OperationError

from callm_voice.pipeline.rtc_sdp import RtcError

_FOREIGN = (
    ValueError, AssertionError, IndexError, KeyError, AttributeError, TypeError, ConnectionError, OSError,
    InternalError, InvalidAccessError, InvalidStateError, OperationError,
)  # fmt: skip
"""What a description that looked sound can still make aiortc raise."""


class Transport:
    """The encrypted way of one audio stream.

    Args:
        connection: fresh.
        transceiver: its only stream.
        hosts: addresses to open UDP ports on; None: those of this machine, and loopback.
        on_packet: called with each RTP packet that came, as bytes.
    """

    def __init__(
        self,
        connection: RTCPeerConnection,
        transceiver: RTCRtpTransceiver,
        hosts: Sequence[str] | None,
        on_packet: Callable[[bytes], None],
    ) -> None:
        self._connection = connection
        self._dtls: Any = transceiver.sender.transport
        self._ice: Any = self._dtls.transport._connection
        self._hosts, self._on_packet = hosts, on_packet
        self.ssrc: int = transceiver.sender._ssrc
        """Of our packets; the description names it."""
        self._gather = self._ice.get_component_candidates
        vars(self._ice)["get_component_candidates"] = self._gather_on_hosts
        vars(self._dtls)["_handle_rtp_data"] = self._take

    async def send(self, data: bytes) -> None:
        """Encrypt and send one RTP packet; dropped if the connection is gone."""
        with contextlib.suppress(ConnectionError):
            await self._dtls._send_rtp(data)

    async def settled(self, limit_s: float) -> None:
        """Wait, after the connection was closed, until aiortc's own task that connects has seen it."""
        tasks = {task for task in asyncio.all_tasks() if _runs_for(task, self._connection)}
        if tasks:
            await asyncio.wait(tasks, timeout=limit_s)

    async def _take(self, data: bytes, arrival_time_ms: int) -> None:
        self._on_packet(data)

    async def _gather_on_hosts(self, component: int, addresses: list[str], timeout: int = 5) -> Any:
        hosts = [*addresses, "127.0.0.1"] if self._hosts is None else list(self._hosts)
        return await self._gather(component=component, addresses=hosts, timeout=timeout)


def _runs_for(task: asyncio.Task[Any], connection: RTCPeerConnection) -> bool:
    """Whether a task is one of this connection's own coroutines."""
    coroutine = task.get_coro()
    frame = getattr(coroutine, "cr_frame", None)
    ours = getattr(coroutine, "__qualname__", "").startswith("RTCPeerConnection.")
    return ours and frame is not None and frame.f_locals.get("self") is connection


@contextlib.contextmanager
def mapped(what: str) -> Iterator[None]:
    """Foreign errors become ours, once, here."""
    try:
        yield
    except _FOREIGN as error:
        said = f"{type(error).__name__}: {error}"[:200]
        raise RtcError(f"{what} cannot be used: {said}") from error
