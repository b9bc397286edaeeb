"""HTTP connections of our servers: one on which no whole request comes is closed.

uvicorn waits for ever for the first byte of a connection, for the rest of a request's head, and for its body. Whoever
can reach the port could so hold connections until no file can be opened any more, with no token and no effort.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_LIMIT_S = 10.0
"""From the opening of a connection, or the first byte of a later request, to the end of the request."""


class BoundedHttp(H11Protocol):
    """As uvicorn's own, with `REQUEST_LIMIT_S`. What happens once a request is there is not limited here."""

    _waits: asyncio.TimerHandle | None = None
    _upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._upgraded or self._is_asked():
            self._wait_no_more()
        elif self._waits is None:
            self._wait()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From here on the connection is another protocol's."""
        self._upgraded = True
        super().handle_websocket_upgrade(event)

    def _is_asked(self) -> bool:
        """A whole request has come and is being answered."""
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _wait(self) -> None:
        self._waits = self.loop.call_later(REQUEST_LIMIT_S, self.transport.close)

    def _wait_no_more(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None
