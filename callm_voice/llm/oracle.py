"""The oracle as a chat model: its server's process and a client for it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx

from callm_voice.core.clock import Clock
from callm_voice.llm.client import OpenAiChatModel
from callm_voice.llm.http_errors import http_errors
from callm_voice.llm.oracle_script import parse_script
from callm_voice.llm.oracle_server import MODEL_ID
from callm_voice.llm.process import ServerProcess
from callm_voice.llm.spec import OpenAiSpec, OracleSpec
from callm_voice.llm.types import ChatRequest, StreamEvent

READY_S = 30.0


class OracleChatModel:
    """A running oracle. Made by `start`."""

    def __init__(self, inner: OpenAiChatModel, server: ServerProcess, clock: Clock) -> None:
        self.name = inner.name
        self.server = server
        self._inner, self._clock = inner, clock

    @classmethod
    async def start(
        cls, spec: OracleSpec, script: Sequence[Mapping[str, Any]], *, name: str, clock: Clock
    ) -> OracleChatModel:
        """Start the server with a task's dialogue.

        Raises:
            UsageError: a step is wrong.
            ModelConnectError, ModelTimeoutError: the server does not come up.
        """
        parse_script(script)
        with tempfile.TemporaryDirectory(prefix="callm-oracle-") as folder:
            file = Path(folder) / "script.json"
            file.write_text(json.dumps(list(script), ensure_ascii=False), encoding="utf-8")
            server = await ServerProcess.start(
                "callm_voice.llm.oracle_server",
                ["--script", str(file), "--ttft-ms", str(spec.ttft_ms), "--tokens-per-s", str(spec.tokens_per_s)],
                what="the oracle's server", clock=clock, ready_s=READY_S,
            )  # fmt: skip
        base_url = f"http://127.0.0.1:{server.ready['port']}/v1"
        inner = OpenAiChatModel(OpenAiSpec(base_url=base_url, model=MODEL_ID, timeouts=spec.timeouts), clock, name=name)
        return cls(inner, server, clock)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `ChatModel.stream`. A script that does not fit the conversation shows as `ModelStatusError` 400."""
        async with aclosing(self._inner.stream(request)) as events:
            async for event in events:
                yield event

    async def warm(self, prefixes: Sequence[ChatRequest] = ()) -> None:
        """Open a connection."""
        await self._inner.warm()

    async def log(self) -> list[dict[str, Any]]:
        """What the server saw and when, in seconds of the system's monotonic clock (real pace only)."""
        url = f"{self._inner.spec.base_url.removesuffix('/v1')}/oracle/log"
        with self._clock.busy("llm"), http_errors(url, (), READY_S):
            async with httpx.AsyncClient(trust_env=False, timeout=READY_S) as http:
                entries: list[dict[str, Any]] = (await http.get(url)).json()
        return entries

    async def aclose(self) -> None:
        """Close connections and end the server."""
        await self._inner.aclose()
        await self.server.stop()
