"""An HTTP server for tests that controls every byte and every close, and the text of well-formed streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass
class Exchange:
    """One request that the server got, and the wire to answer on."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int
    """Number of the connection, from 0."""
    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader

    async def send(self, data: bytes) -> None:
        """Raw bytes."""
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> None:
        """The head of a chunked event stream."""
        await self.send(HEAD)

    async def chunk(self, text: str) -> None:
        """One HTTP chunk."""
        data = text.encode()
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def end(self) -> None:
        """The end of the chunked body."""
        await self.send(b"0\r\n\r\n")

    async def stream(self, *chunks: dict[str, Any] | str) -> None:
        """A whole answer, connection kept."""
        await self.head()
        for chunk in chunks:
            await self.chunk(sse(chunk))
        await self.end()

    async def plain(self, status: str, body: str, **headers: str) -> None:
        """An answer that is no stream."""
        more = "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in headers.items())
        data = body.encode()
        await self.send(f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\n{more}\r\n".encode() + data)

    async def until_client_leaves(self) -> None:
        """Return when the client has closed the connection."""
        await self.reader.read()


Handler = Callable[[Exchange], Awaitable[bool | None]]
"""Returns False to have the connection closed."""


@dataclass
class RawServer:
    """A running server."""

    port: int = 0
    seen: list[Exchange] = field(default_factory=list)
    connections: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the handler of a connection is done."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Exchange]:
        return [e for e in self.seen if e.method == "POST"]


@asynccontextmanager
async def raw_server(chat: Handler, *, models: Handler | None = None) -> AsyncIterator[RawServer]:
    """Serve `POST .../chat/completions` with `chat` and everything else with `models` (default: an empty list).

    What a handler raises (but for a connection that the client closed) is raised at the end: the event loop would only
    log it, and the client would see one more broken connection.
    """
    server = RawServer()
    tasks: set[asyncio.Task[None]] = set()
    failures: list[Exception] = []

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        number, server.connections = server.connections, server.connections + 1
        try:
            while (exchange := await _read_request(reader, writer, number)) is not None:
                server.seen.append(exchange)
                if exchange.method == "POST":
                    keep = await chat(exchange)
                elif models is not None:
                    keep = await models(exchange)
                else:
                    keep = await exchange.plain("200 OK", '{"object": "list", "data": []}')
                if keep is False:
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        except Exception as error:  # noqa: BLE001 - raised below
            failures.append(error)
        finally:
            tasks.discard(task)
            server.closed.set()
            writer.close()

    listener = await asyncio.start_server(connection, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)  # cancelled, all of them
    if failures:
        raise failures[0]


async def _read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> Exchange | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Exchange(method, path, headers, json.loads(body) if body else {}, number, writer, reader)


def sse(chunk: dict[str, Any] | str) -> str:
    """One server-sent event."""
    return f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n"


def delta(*, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    return {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def fragment(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    """One element of `delta.tool_calls`; what is None is left out."""
    function = {k: v for k, v in {"name": name, "arguments": arguments}.items() if v is not None}
    found: dict[str, Any] = {} if index is None else {"index": index}
    if call_id is not None:
        found |= {"id": call_id, "type": "function"}
    return {**found, "function": function} if function else found


DONE = "[DONE]"
ROLE = delta(role="assistant", content="")
STOP = delta(finish="stop")
