"""A local proxy that stands between the client and a model's server and breaks their talk in one way, by name.

It listens on a real socket, on the call's own event loop, and passes everything on but what its fault is about. So a
fault works with any model: an oracle, an embedded one, a vendor. Chat requests are counted from `arm()`, which is when
the prompts are read; before that the proxy passes everything on.

What it puts into the model's mouth (a call of a tool that does not exist) it takes out of later requests again: the
model goes on as if it had not answered yet, and the desk is the only one that sees the fault.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import httpx

from callm_voice.core.clock import Clock
from callm_voice.llm.client import LOOPBACK
from callm_voice.llm.fault_answers import (
    REFUSALS,
    REWRITES,
    WHOLE_ANSWERS,
    Strip,
    endless_chunk,
    has_token,
    reply_head,
    rewritten,
    role_chunk,
)

UPSTREAM_S = 600.0
MAX_HEAD_BYTES = 64_000
_HOP_BY_HOP = frozenset({"host", "content-length", "connection", "transfer-encoding", "keep-alive"})


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def is_chat(self) -> bool:
        return self.method == "POST" and self.path.endswith("/chat/completions")


class FaultProxy:
    """One fault for one call. `route` opens it, `aclose` closes it.

    Args:
        name: `llm-...`; see `bench.faults.KINDS`.
        hits: whether the fault is due at the n-th chance, from 1.
    """

    def __init__(self, name: str, hits: Callable[[int], bool], clock: Clock) -> None:
        self._name, self._hits, self._clock = name, hits, clock
        self._upstream = ""
        self._client: httpx.AsyncClient | None = None
        self._listener: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._armed = False
        self._chances = 0
        self._dropped: set[int] = set()
        self._strip = Strip()

    async def route(self, base_url: str) -> str:
        """Listen, and stand before `base_url`; the URL to ask instead."""
        parts = urlsplit(base_url)
        self._upstream = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        self._client = httpx.AsyncClient(timeout=UPSTREAM_S, trust_env=parts.hostname not in LOOPBACK)
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_HEAD_BYTES)
        port = self._listener.sockets[0].getsockname()[1]
        return urlunsplit(("http", f"127.0.0.1:{port}", parts.path, "", ""))

    def arm(self) -> None:
        """From now on requests count."""
        self._armed = True
        self._refuse_if_due()

    async def aclose(self) -> None:
        """Close all sockets and wait for all tasks. Does nothing the second time."""
        if self._listener is not None:
            self._listener.close()
        for task, writer in list(self._connections.items()):
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    # -- the client's side -------------------------------------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer
        try:
            while (request := await _read_request(reader)) is not None:
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client has left
        except asyncio.CancelledError:
            pass  # by `aclose`; asyncio's own callback for such tasks would print a traceback
        finally:
            del self._connections[task]
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False: the connection is not kept."""
        if not (request.is_chat and self._armed):
            return await self._pass_on(request, writer)
        if self._name in REWRITES:
            return await self._pass_rewritten(request, writer)
        if self._name == "llm-expired-keepalive":
            return await self._expire(request, writer)
        self._chances += 1
        if not self._hits(self._chances) or self._name == "llm-refused":
            kept = await self._pass_on(request, writer)
            self._refuse_if_due()
            return kept
        return await self._break(request, reader, writer)

    async def _break(self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if self._name in REFUSALS:
            writer.write(REFUSALS[self._name])
            await writer.drain()
            return True
        if self._name in WHOLE_ANSWERS:
            writer.write(reply_head() + _chunk(WHOLE_ANSWERS[self._name]) + _chunk(b""))
            await writer.drain()
            return True
        if self._name == "llm-endless":
            return await self._never_end(writer)
        if self._name == "llm-stall-first":
            writer.write(reply_head() + _chunk(role_chunk()))
            await writer.drain()
        else:
            await self._pass_first_token(request, writer)
        if self._name == "llm-cut":
            writer.transport.abort()
        else:
            await reader.read(1)  # until the client leaves
        return False

    async def _expire(self, request: _Request, writer: asyncio.StreamWriter) -> bool:
        """Close as the request arrives; the same request on a fresh connection is answered."""
        number = self._chances + 1
        if self._hits(number) and number not in self._dropped:
            self._dropped.add(number)
            return False
        self._chances = number
        return await self._pass_on(request, writer)

    def _refuse_if_due(self) -> None:
        """Stop listening, and close what is open, if the next request is to be refused."""
        if self._name != "llm-refused" or not self._armed or not self._hits(self._chances + 1):
            return
        if self._listener is not None:
            self._listener.close()
        for writer in self._connections.values():
            writer.close()

    async def _never_end(self, writer: asyncio.StreamWriter) -> bool:
        writer.write(reply_head() + _chunk(role_chunk()))
        number = 0
        while not writer.is_closing():
            writer.write(_chunk(endless_chunk(number)))
            await writer.drain()
            await self._clock.sleep_until(self._clock.now_s())
            number += 1
        return False

    # -- the server's side -------------------------------------------------------------------------------------------

    @property
    def _http(self) -> httpx.AsyncClient:
        assert self._client is not None, "not routed yet"
        return self._client

    def _open(self, request: _Request) -> httpx.Request:
        headers = {name: value for name, value in request.headers.items() if name not in _HOP_BY_HOP}
        body = self._strip.taken_out(request.body) if request.is_chat else request.body
        return self._http.build_request(request.method, self._upstream + request.path, headers=headers, content=body)

    async def _pass_on(self, request: _Request, writer: asyncio.StreamWriter) -> bool:
        """Everything, as it comes."""
        try:
            response = await self._http.send(self._open(request), stream=True)
        except httpx.HTTPError as error:
            return await self._bad_gateway(error, writer)
        try:
            writer.write(reply_head(response.status_code, response.headers))
            async for block in response.aiter_bytes():
                if block:
                    writer.write(_chunk(block))
                    await writer.drain()
            writer.write(_chunk(b""))
            await writer.drain()
        except httpx.HTTPError:
            writer.transport.abort()
            return False
        finally:
            await response.aclose()
        return True

    async def _pass_first_token(self, request: _Request, writer: asyncio.StreamWriter) -> None:
        """The server's answer to its first token, and nothing more of it."""
        response = await self._http.send(self._open(request), stream=True)
        try:
            writer.write(reply_head(response.status_code, response.headers))
            rest = b""
            async for block in response.aiter_bytes():
                *events, rest = (rest + block).split(b"\n\n")
                for event in events:
                    writer.write(_chunk(event + b"\n\n"))
                    if has_token(event):
                        await writer.drain()
                        return
        finally:
            await response.aclose()

    async def _pass_rewritten(self, request: _Request, writer: asyncio.StreamWriter) -> bool:
        """The server's whole answer in one piece, its tool calls changed if the fault is due."""
        try:
            response = await self._http.send(self._open(request))
        except httpx.HTTPError as error:
            return await self._bad_gateway(error, writer)

        def due() -> bool:
            self._chances += 1
            return self._hits(self._chances)

        body = response.content
        if response.status_code == 200:
            body = rewritten(self._name, body, json.loads(request.body), due, self._strip)
        writer.write(reply_head(response.status_code, response.headers) + _chunk(body) + _chunk(b""))
        await writer.drain()
        return True

    async def _bad_gateway(self, error: httpx.HTTPError, writer: asyncio.StreamWriter) -> bool:
        body = json.dumps({"error": {"message": f"the model's server does not answer: {error}"}}).encode()
        writer.write(reply_head(502, {"content-type": "application/json"}) + _chunk(body) + _chunk(b""))
        await writer.drain()
        return True


async def _read_request(reader: asyncio.StreamReader) -> _Request | None:
    """The next request of a connection; None: it was closed between two."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    return _Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))


def _chunk(data: bytes) -> bytes:
    """One chunk of a chunked body (RFC 9112 section 7.1); the empty one ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)
