"""Opening the desk of one call: model server, database, agent; the same by voice and by text."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from callm_voice.bench.resolve import ResolvedCall
from callm_voice.core.clock import Clock
from callm_voice.core.events import EventLog
from callm_voice.core.record import EngineInfo
from callm_voice.desk.agent import AgentLimits, DeskAgent
from callm_voice.desk.database import CallDatabase
from callm_voice.llm.factory import open_model
from callm_voice.llm.spec import NamedSpec, OracleSpec


async def open_desk(
    resolved: ResolvedCall, clock: Clock, log: EventLog, on_progress: Callable[[str], None], stack: AsyncExitStack
) -> tuple[DeskAgent, CallDatabase]:
    """The desk with its model warmed up; closed by `stack`.

    Raises:
        ModelError, SetupError: the model cannot be opened.
    """
    spec = resolved.model.spec
    on_progress(f"opening the model {resolved.model.name}")
    model = await open_model(
        spec,
        name=resolved.model.name,
        clock=clock,
        # The one exception to blindness: the oracle plays the gold path, in a process of its own.
        script=resolved.gold.dialogue if isinstance(spec, OracleSpec) else None,
        roles=list(resolved.pack.roles),
        on_progress=on_progress,
    )
    stack.push_async_callback(model.aclose)
    database = resolved.pack.open_database()
    stack.callback(database.close)
    limits = AgentLimits(inferences_per_turn=resolved.pipeline.limits.inferences_per_turn)
    desk = DeskAgent(resolved.pack, database, model, log, clock, limits)
    await model.warm(desk.requests_to_warm())
    return desk, database


def model_info(model: NamedSpec) -> EngineInfo:
    """The model as an engine of the record. A spec names environment variables, never keys."""
    name, spec = model
    settings = spec.model_dump(mode="json", exclude_none=True)
    return EngineInfo(engine=spec.kind, model=name, scripted=isinstance(spec, OracleSpec), settings=settings)
