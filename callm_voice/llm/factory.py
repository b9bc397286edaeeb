"""From a spec to a model that can be asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from callm_voice.core.clock import Clock
from callm_voice.core.errors import HarnessError
from callm_voice.llm.client import OpenAiChatModel
from callm_voice.llm.embedded import EmbeddedChatModel
from callm_voice.llm.oracle import OracleChatModel
from callm_voice.llm.server_pool import ServerPool
from callm_voice.llm.spec import EmbeddedSpec, ModelSpec, OracleSpec, OutsideSpec
from callm_voice.llm.types import ChatModel


def _silent(_: str) -> None:
    """No progress lines."""


async def open_model(
    spec: ModelSpec | OutsideSpec, *, name: str, clock: Clock, script: Sequence[Mapping[str, Any]] | None = None,
    roles: Sequence[str] = (), on_progress: Callable[[str], None] = _silent, servers: ServerPool | None = None,
    via: Callable[[str], Awaitable[str]] | None = None,
) -> ChatModel:  # fmt: skip
    """Open a model; servers of ours are started. Close it with `aclose`.

    Args:
        name: how results name it.
        script: the dialogue, for the oracle and only for it.
        roles: the roles that will ask; an embedded model keeps a slot for each.
        on_progress: gets short lines while a model is loaded and prompts are read.
        servers: servers of ours are taken out of it and stay when the model is closed.
        via: given the server's base URL, the one to ask instead (a proxy that injects faults).

    Raises:
        UsageError: an environment variable that the spec names is not set.
        SetupError: a weight or a package is missing.
        ModelError: a server does not come up.
    """
    if isinstance(spec, OutsideSpec):
        raise HarnessError(f"{name} thinks elsewhere; there is nothing to open", stage="llm")
    if isinstance(spec, OracleSpec):
        if script is None:
            raise HarnessError("the oracle needs a task's dialogue", stage="llm")
        return await OracleChatModel.start(spec, script, name=name, clock=clock, servers=servers, via=via)
    if script is not None:
        raise HarnessError(f"a script was given to {name}, which is not the oracle", stage="llm")
    if isinstance(spec, EmbeddedSpec):
        return await EmbeddedChatModel.start(
            spec, name=name, clock=clock, roles=roles, on_progress=on_progress, servers=servers,
            via=via,
        )  # fmt: skip
    if via is not None:
        name, spec = name or spec.model, spec.model_copy(update={"base_url": await via(spec.base_url)})
    return OpenAiChatModel(spec, clock, name=name)
