"""The oracle as a chat model: its server's process and a client for it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx

from callm_voice.core.clock import Clock
from callm_voice.core.errors import ModelProtocolError
from callm_voice.llm.client import OpenAiChatModel
from callm_voice.llm.http_errors import http_errors
from callm_voice.llm.oracle_script import MODEL_ID, parse_script
from callm_voice.llm.process import ServerProcess
from callm_voice.llm.server_pool import ServerPool
from callm_voice.llm.spec import OpenAiSpec, OracleSpec
from callm_voice.llm.types import ChatRequest, StreamEvent

READY_S = 30.0


class OracleChatModel:
    """A running oracle. Made by `start`."""

    def __init__(self, inner: OpenAiChatModel, server: ServerProcess, clock: Clock, *, pooled: bool = False) -> None:
        self.name = inner.name
        self.server = server
        self._inner, self._clock, self._pooled = inner, clock, pooled

    @classmethod
    async def start(
        cls, spec: OracleSpec, script: Sequence[Mapping[str, Any]], *, name: str, clock: Clock,
        servers: ServerPool | None = None, via: Callable[[str], Awaitable[str]] | None = None,
    ) -> OracleChatModel:  # fmt: skip
        """Start the server with a task's dialogue.

        Args:
            servers: take a running server out of it, which stays when this model is closed.
            via: see `open_model`.

        Raises:
            UsageError: a step is wrong.
            ModelConnectError, ModelTimeoutError: the server does not come up.
        """
        parse_script(script)
        module, what = "callm_voice.llm.oracle_server", "the oracle's server"
        options = ["--ttft-ms", str(spec.ttft_ms), "--tokens-per-s", str(spec.tokens_per_s)]
        if servers is None:
            with tempfile.TemporaryDirectory(prefix="callm-oracle-") as folder:
                file = Path(folder) / "script.json"
                file.write_text(json.dumps(list(script), ensure_ascii=False), encoding="utf-8")
                options = ["--script", str(file), *options]
                server = await ServerProcess.start(module, options, what=what, clock=clock, ready_s=READY_S)
        else:
            server = await servers.get(module, options, what=what, clock=clock, ready_s=READY_S)
        base_url = f"http://127.0.0.1:{server.ready['port']}/v1"
        base_url = await via(base_url) if via is not None else base_url
        inner = OpenAiChatModel(OpenAiSpec(base_url=base_url, model=MODEL_ID, timeouts=spec.timeouts), clock, name=name)
        made = cls(inner, server, clock, pooled=servers is not None)
        if servers is not None:
            try:
                await made._give_script(script)
            except BaseException:
                await made.aclose()
                raise
        return made

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `ChatModel.stream`. A script that does not fit the conversation shows as `ModelStatusError` 400."""
        async with aclosing(self._inner.stream(request)) as events:
            async for event in events:
                yield event

    async def warm(self, prefixes: Sequence[ChatRequest] = ()) -> None:
        """Open a connection."""
        await self._inner.warm()

    async def _give_script(self, script: Sequence[Mapping[str, Any]]) -> None:
        url = f"{self._inner.spec.base_url.removesuffix('/v1')}/oracle/script"
        with self._clock.busy("llm"), http_errors(url, (), READY_S):
            async with httpx.AsyncClient(trust_env=False, timeout=READY_S) as http:
                answer = await http.put(url, content=json.dumps(list(script), ensure_ascii=False).encode())
        if answer.status_code != 200:
            raise ModelProtocolError(f"{url}: the script was refused: {answer.text[:200]}")

    async def log(self) -> list[dict[str, Any]]:
        """What the server saw and when, in seconds of the system's monotonic clock (real pace only)."""
        url = f"{self._inner.spec.base_url.removesuffix('/v1')}/oracle/log"
        with self._clock.busy("llm"), http_errors(url, (), READY_S):
            async with httpx.AsyncClient(trust_env=False, timeout=READY_S) as http:
                entries: list[dict[str, Any]] = (await http.get(url)).json()
        return entries

    async def aclose(self) -> None:
        """Close connections; end the server unless it is a pool's."""
        await self._inner.aclose()
        if not self._pooled:
            await self.server.stop()
