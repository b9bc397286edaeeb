"""The streaming client for any OpenAI-compatible server. Nothing is retried inside a measured inference.

Times are taken by a task that does nothing but read, so a slow consumer does not make tokens late. The connection is
opened (TCP, TLS) before the request is sent: `warm()` does it before the call, and if the server closed the idle
connection since, `stream()` opens another one first. Neither counts as the model's time: `StreamOpened.sent_s` is when
the request itself went out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx

from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError, ModelError, ModelStatusError
from callm_voice.llm.deltas import StreamParser
from callm_voice.llm.http_errors import LostConnectionError, http_errors, status_error, timeout_error
from callm_voice.llm.request import offered_tools, request_body
from callm_voice.llm.secrets import Secret, read_env, resolve_headers, safe_url
from callm_voice.llm.spec import OpenAiSpec
from callm_voice.llm.types import ChatRequest, StreamEvent, StreamOpened

DRAIN_S = 0.25
"""How long the end of a body is waited for after `[DONE]`, so that the connection can be used again."""
ERROR_BODY_S = 2.0
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class OpenAiChatModel:
    """A model behind an HTTP server.

    Args:
        spec: where it is and how it is asked.
        name: how results name it.

    Raises:
        UsageError: an environment variable that the spec names is not set.
    """

    def __init__(self, spec: OpenAiSpec, clock: Clock, *, name: str = "") -> None:
        self.spec, self.name = spec, name or spec.model
        self._clock = clock
        self._url = f"{spec.base_url}/chat/completions"
        self._shown = safe_url(self._url)
        headers, secrets = resolve_headers(spec.headers, what=f"the model {self.name}")
        if spec.api_key_env:
            key = read_env(spec.api_key_env, what=f"the model {self.name}")
            headers["Authorization"] = f"Bearer {key.reveal()}"
            secrets = (*secrets, key)
        self._secrets: tuple[Secret, ...] = secrets
        url = urlsplit(spec.base_url)
        local = url.hostname in LOOPBACK
        self._http = httpx.AsyncClient(
            headers={**headers, "Accept-Encoding": "identity"},
            http2=False,
            trust_env=not local,  # no proxy between us and a server of our own
            verify=not (local and url.scheme == "http"),  # loading the certificates takes 20 ms, and nobody would ask
            follow_redirects=False,
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=4, keepalive_expiry=600),
            timeout=httpx.Timeout(None, connect=spec.timeouts.connect_s, pool=spec.timeouts.connect_s),
        )
        self._socket: Any = None
        """The network stream of the connection that was used last."""
        self._readers: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"OpenAiChatModel({self.name!r}, {self._shown!r})"

    async def stream(
        self, request: ChatRequest, *, extra_body: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[StreamEvent, None]:
        """See `ChatModel.stream`. `extra_body` is merged over the request's body."""
        body = request_body(self.spec, request, extra_body)
        queue: asyncio.Queue[StreamEvent | CallmError | None] = asyncio.Queue()
        reader = asyncio.create_task(self._read(body, offered_tools(request), queue), name="llm-reader")
        self._readers.add(reader)
        reader.add_done_callback(self._readers.discard)
        try:
            while (item := await queue.get()) is not None:
                if isinstance(item, CallmError):
                    raise item
                yield item
            await reader  # an error that is none of ours shows here
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def warm(self, prefixes: Sequence[ChatRequest] = ()) -> None:
        """Have an open connection; does nothing if there is one. The prefixes are not sent: a vendor bills for them.

        Raises:
            ModelConnectError, ModelTimeoutError: the server cannot be reached.
            ModelStatusError: it refuses the key (401, 403) or says that it cannot serve (5xx).
        """
        with self._clock.busy("llm"):
            await self._connect(check=True)

    async def aclose(self) -> None:
        """Close all connections; open streams end."""
        for reader in list(self._readers):
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        await self._http.aclose()

    async def _connect(self, *, check: bool) -> None:
        """Open a connection with a cheap request unless one is open. A server without `/models` may say 404."""
        if self._socket is not None and not self._socket.get_extra_info("is_readable"):
            return  # open and silent; a server that has closed it makes it readable
        url = f"{self.spec.base_url}/models"
        limit_s = self.spec.timeouts.connect_s + self.spec.timeouts.first_token_s
        kept, self._socket = self._socket is not None, None
        with http_errors(safe_url(url), self._secrets, self.spec.timeouts.connect_s):
            try:
                async with asyncio.timeout(limit_s):
                    response = await self._get(url, on_kept_connection=kept)
            except TimeoutError:
                raise timeout_error(safe_url(url), f"nothing came within {limit_s:g} s") from None
        self._socket = response.extensions.get("network_stream")
        if check and (response.status_code in (401, 403) or response.status_code >= 500):
            raise status_error(response, response.content, safe_url(url), self._secrets, self._clock.unix_s())

    async def _get(self, url: str, *, on_kept_connection: bool) -> httpx.Response:
        """GET; asked once more if the server closed the kept connection in the moment in which it was used."""
        try:
            return await self._http.get(url)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if not on_kept_connection:
                raise
            return await self._http.get(url)

    async def _read(
        self, body: bytes, tools: frozenset[str], queue: asyncio.Queue[StreamEvent | CallmError | None]
    ) -> None:
        """Run the whole exchange; everything that it finds goes into the queue, None last."""
        try:
            with self._clock.busy("llm"):
                await self._connect(check=False)
                try:
                    await _Exchange(self, body, tools, queue).run()
                except LostConnectionError:
                    # The server closed the idle connection in the moment in which we used it, and answered nothing. We
                    # guess that the request was not taken, as RFC 9110 section 9.2.2 says that clients do. Sent again
                    # once, and timed anew, on a fresh one.
                    self._socket = None
                    await self._connect(check=False)
                    await _Exchange(self, body, tools, queue, sent_before=True).run()
        except CallmError as error:
            queue.put_nowait(error)
        finally:
            queue.put_nowait(None)


class _Exchange:
    """One request and its answer."""

    def __init__(
        self, model: OpenAiChatModel, body: bytes, tools: frozenset[str],
        queue: asyncio.Queue[StreamEvent | CallmError | None], *, sent_before: bool = False,
    ) -> None:  # fmt: skip
        self._model, self._body, self._queue = model, body, queue
        self._parser = StreamParser(tools, recover_calls=model.spec.recover_json_tool_calls)
        self._sent_before = sent_before
        self._sent_s = self._now_s()
        self._fresh = False
        """Whether the request opened a connection of its own."""

    async def run(self) -> None:
        """Send, read to the end.

        Raises:
            ModelError: mapped, with the URL.
            LostConnectionError: the kept connection was closed before anything came back.
        """
        model = self._model
        with http_errors(model._shown, model._secrets, model.spec.timeouts.connect_s):
            response = await self._send()
            try:
                if response.status_code != 200:
                    raise await self._refused(response)
                self._queue.put_nowait(StreamOpened(self._now_s(), sent_s=self._sent_s))
                await self._read_body(response)
            finally:
                await response.aclose()

    async def _send(self) -> httpx.Response:
        model = self._model
        request = model._http.build_request(
            "POST", model._url, content=self._body,
            headers={"Content-Type": "application/json", "Accept": "text/event-stream"},
            extensions={"trace": self._trace},
        )  # fmt: skip
        try:
            async with asyncio.timeout(model.spec.timeouts.first_token_s + model.spec.timeouts.connect_s):
                response = await model._http.send(request, stream=True)
        except TimeoutError:
            raise self._timeout("no answer to the request") from None
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
            if self._fresh or self._sent_before:
                raise
            raise LostConnectionError from error
        model._socket = response.extensions.get("network_stream")
        return response

    async def _trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Called by httpx at each step of the exchange."""
        if name == "connection.connect_tcp.started":
            self._fresh = True
        elif name == "http11.send_request_headers.started":
            self._sent_s = self._now_s()

    async def _read_body(self, response: httpx.Response) -> None:
        body = response.aiter_bytes()
        while not self._parser.finished:
            try:
                async with asyncio.timeout_at(self._deadline_s()):
                    data = await anext(body, None)
            except TimeoutError:
                raise self._timeout("no answer token") from None
            t_s = self._now_s()
            events = self._parser.end(t_s) if data is None else self._parser.feed(data, t_s)
            for event in events:
                self._queue.put_nowait(event)
        with suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(DRAIN_S):
                async for _ in body:
                    pass

    def _deadline_s(self) -> float:
        limits, parser = self._model.spec.timeouts, self._parser
        if parser.first_token_s is None:
            return self._sent_s + limits.first_token_s
        return max(parser.first_token_s, parser.last_progress_s or 0.0) + limits.stall_s

    def _timeout(self, what: str) -> ModelError:
        limits, parser = self._model.spec.timeouts, self._parser
        if parser.first_token_s is not None:
            return timeout_error(self._model._shown, f"the answer stalled for {limits.stall_s:g} s")
        thought = f" ({parser.reasoning_chars} characters of thinking came)" if parser.reasoning_chars else ""
        return timeout_error(self._model._shown, f"{what} within {limits.first_token_s:g} s{thought}")

    async def _refused(self, response: httpx.Response) -> ModelStatusError:
        body = b""
        with suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(ERROR_BODY_S):
                async for block in response.aiter_bytes():
                    body += block
                    if len(body) > 4000:
                        break
        model = self._model
        return status_error(response, body, model._shown, model._secrets, model._clock.unix_s())

    def _now_s(self) -> float:
        return self._model._clock.now_s()
