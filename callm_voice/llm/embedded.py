"""A GGUF weight run on this machine: the server's process, a slot for each role, prefixes warmed and kept on disk."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx

from callm_voice.core import paths, weights
from callm_voice.core.clock import Clock
from callm_voice.core.errors import HarnessError, MissingDependencyError, ModelError
from callm_voice.llm.client import OpenAiChatModel
from callm_voice.llm.embedded_server import ENVIRONMENT
from callm_voice.llm.http_errors import http_errors
from callm_voice.llm.prefix_cache import PrefixCache, prepare_folder
from callm_voice.llm.process import ServerProcess
from callm_voice.llm.server_pool import ServerPool
from callm_voice.llm.spec import EmbeddedSpec, OpenAiSpec
from callm_voice.llm.types import ChatRequest, StreamEvent, UsageReport
from callm_voice.llm.warm_progress import WarmProgress

MODULE = "callm_voice.llm.embedded_server"
READY_S = 120.0
"""Loading half a gigabyte from a cold disk."""
PREFILL_S = 600.0
"""Reading one role's prompt for the first time on a slow machine."""
SLOT_S = 30.0
Progress = Callable[[str], None]


class EmbeddedChatModel:
    """The running model. Made by `start`.

    Args:
        roles: one slot each, in this order.
        cache: where read prefixes are kept.
    """

    def __init__(
        self, inner: OpenAiChatModel, server: ServerProcess, roles: Sequence[str], cache: PrefixCache, clock: Clock,
        on_progress: Progress, *, pooled: bool = False,
    ) -> None:  # fmt: skip
        self._pooled = pooled
        self.name = inner.name
        self.server = server
        self._inner, self._cache, self._clock, self._on_progress = inner, cache, clock, on_progress
        # Prompts are read before anybody waits for an answer: the limits of an answer are not for that.
        patient = inner.spec.timeouts.model_copy(update={"first_token_s": PREFILL_S})
        self._reader = OpenAiChatModel(inner.spec.model_copy(update={"timeouts": patient}), clock, name=inner.name)
        self._slots = {role: slot for slot, role in enumerate(roles)}
        self._url = inner.spec.base_url.removesuffix("/v1")
        self._http = httpx.AsyncClient(trust_env=False, timeout=httpx.Timeout(SLOT_S))

    @classmethod
    async def start(
        cls, spec: EmbeddedSpec, *, name: str, clock: Clock, roles: Sequence[str], on_progress: Progress,
        weights_file: Path | None = None, cache_folder: Path | None = None, servers: ServerPool | None = None,
        via: Callable[[str], Awaitable[str]] | None = None,
    ) -> EmbeddedChatModel:  # fmt: skip
        """Find the weight, start the server, wait until the model is loaded.

        Args:
            weights_file: instead of the listed weight (tests).
            cache_folder: instead of the machine's cache (tests).
            servers: take a running server out of it, which stays when this model is closed.
            via: see `open_model`.

        Raises:
            MissingWeightError, BadWeightError, MissingDependencyError: what is missing, and how to get it.
            ModelConnectError, ModelTimeoutError: the server does not come up.
        """
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingDependencyError("xllamacpp", "cpu")
        if weights_file is None:
            path = await clock.in_thread("llm", weights.path, spec.weight)
            digest = weights.weight(spec.weight).files[0].sha256
        else:
            path, digest = weights_file, _file_sha256(weights_file)
        roles = list(dict.fromkeys(roles)) or [""]
        folder = cache_folder or paths.cache_dir() / "prefix"
        prepare_folder(folder)
        on_progress(f"loading {spec.weight}")
        options = [
            "--weights", str(path), "--slots", str(len(roles)), "--context", str(spec.context_tokens),
            "--threads", str(spec.threads), "--threads-batch", str(spec.threads_batch), "--slot-dir", str(folder),
        ]  # fmt: skip
        shared: dict[str, Any] = {
            "what": f"the server of {spec.weight}", "clock": clock, "ready_s": READY_S, "env": ENVIRONMENT,
        }  # fmt: skip
        if servers is None:
            server = await ServerProcess.start(MODULE, options, **shared)
        else:
            server = await servers.get(MODULE, options, **shared, for_whom=",".join(roles))
        try:
            cache = PrefixCache(folder, f"{digest}|{server.ready['server']}|{spec.context_tokens}")
            client = _client_spec(spec, int(server.ready["port"]))
            if via is not None:
                client = client.model_copy(update={"base_url": await via(client.base_url)})
            inner = OpenAiChatModel(client, clock, name=name)
        except BaseException:
            if servers is None:
                await server.stop()
            raise
        return cls(inner, server, roles, cache, clock, on_progress, pooled=servers is not None)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `ChatModel.stream`.

        Raises (from the iterator):
            HarnessError: the request's role has no slot.
        """
        extra = {"id_slot": self._slot(request.role), "cache_prompt": True}
        try:
            async with aclosing(self._inner.stream(request, extra_body=extra)) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            raise self._explained(error) from error

    async def warm(self, prefixes: Sequence[ChatRequest] = ()) -> None:
        """Fill each role's slot: from disk if its prefix was read before, else by reading it now and saving it.

        Raises:
            ModelError: the server does not answer.
            DiskError: the cache cannot be written.
        """
        unread = [n for n, prefix in enumerate(prefixes, start=1) if not self._cache.has(self._cache.name(prefix))]
        progress = WarmProgress(prefixes, unread)
        if (line := progress.begins()) is not None:
            self._on_progress(line)
        for number, prefix in enumerate(prefixes, start=1):
            slot, name = self._slot(prefix.role), self._cache.name(prefix)
            if self._cache.has(name) and await self._slot_action(slot, "restore", name):
                self._on_progress(progress.restored(number))
                continue
            self._cache.drop(name)
            self._on_progress(progress.reading(number))
            since_s = self._clock.now_s()
            usage = await self._read_prefix(prefix, slot)
            took_s = self._clock.now_s() - since_s
            await self._save(slot, name)
            self._on_progress(progress.read(number, usage.prompt_tokens if usage else None, took_s))
        await self._inner.warm()

    async def aclose(self) -> None:
        """Close connections; end the server unless it is a pool's."""
        await self._inner.aclose()
        await self._reader.aclose()
        await self._http.aclose()
        if not self._pooled:
            await self.server.stop()

    def _slot(self, role: str) -> int:
        if role not in self._slots:
            known = ", ".join(self._slots)
            raise HarnessError(f"the role {role!r} has no slot in {self.name}; slots: {known}", stage="llm")
        return self._slots[role]

    async def _read_prefix(self, prefix: ChatRequest, slot: int) -> UsageReport | None:
        """Have the model read a prefix: one token is asked for and thrown away."""
        body = {"id_slot": slot, "cache_prompt": True, "max_tokens": 1}
        usage: UsageReport | None = None
        try:
            async with aclosing(self._reader.stream(prefix, extra_body=body)) as events:
                async for event in events:
                    usage = event if isinstance(event, UsageReport) else usage
        except ModelError as error:
            raise self._explained(error) from error
        return usage

    async def _save(self, slot: int, name: str) -> None:
        if await self._slot_action(slot, "save", self._cache.temporary_name(name)):
            self._cache.keep(name)
        else:
            self._cache.drop(name)
            self._on_progress("the prompt could not be saved; it will be read again next time")

    async def _slot_action(self, slot: int, action: str, filename: str) -> bool:
        """Ask the server to save or restore a slot; False: it refused (a damaged file, a full disk)."""
        url = f"{self._url}/slots/{slot}"
        with self._clock.busy("llm"), http_errors(url, (), SLOT_S):
            response = await self._http.post(url, params={"action": action}, json={"filename": filename})
        return response.status_code == 200

    def _explained(self, error: ModelError) -> ModelError:
        """Add the server's last words if it is gone."""
        if self.server.alive:
            return error
        tail = " | ".join(self.server.stderr_tail().splitlines()[-3:])
        error.message = f"{error.message}; the server of {self.name} has ended: {tail}"
        error.args = (error.message,)
        return error


def _client_spec(spec: EmbeddedSpec, port: int) -> OpenAiSpec:
    shared: dict[str, Any] = {
        key: getattr(spec, key)
        for key in ("temperature", "top_p", "max_tokens", "seed", "recover_json_tool_calls", "timeouts")
    }
    return OpenAiSpec(base_url=f"http://127.0.0.1:{port}/v1", model=spec.weight, **shared)


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
