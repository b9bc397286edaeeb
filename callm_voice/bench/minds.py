"""Opening the caller's mind: scripted, or played by a model of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from callm_voice.bench.resolve import ResolvedCall
from callm_voice.caller.base import Caller
from callm_voice.caller.llm import LlmCaller
from callm_voice.caller.patience import Patience
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.core.clock import Clock
from callm_voice.core.ids import derive_seed
from callm_voice.llm.factory import open_model
from callm_voice.llm.server_pool import ServerPool


async def open_caller(
    resolved: ResolvedCall, clock: Clock, on_progress: Callable[[str], None], stack: AsyncExitStack,
    servers: ServerPool | None = None,
) -> Caller:  # fmt: skip
    """The mind of this call's caller; its model server, if it has one, is closed by `stack`.

    Raises:
        ModelError, SetupError: the model that plays it cannot be opened.
    """
    spec, settings = resolved.spec, resolved.pipeline.caller
    patience = Patience(prod_after_ms=settings.prod_after_ms, give_up_after_ms=settings.give_up_after_ms)
    source = str(resolved.pack.task_path(resolved.task.id))
    seed = derive_seed(spec.seed, "mind")
    if resolved.caller_model is None:
        return resolved.faults.mind(ScriptedCaller(resolved.task.brief, seed, source=source, patience=patience))
    name, model_spec = resolved.caller_model
    on_progress(f"opening the caller's model {name}")
    model = await open_model(
        model_spec, name=name, clock=clock, script=None, roles=["caller"], on_progress=on_progress, servers=servers
    )
    stack.push_async_callback(model.aclose)
    mind = LlmCaller(resolved.task.brief, model, name=resolved.spec.caller, source=source, patience=patience)
    await model.warm([mind.prefix()])
    return resolved.faults.mind(mind)
