"""Opening the desk of one call: model server, database, agent; the same by voice and by text."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

from callm_voice.bench.resolve import ResolvedCall
from callm_voice.core.clock import RealClock
from callm_voice.core.errors import CallmError, ModelError
from callm_voice.core.events import EventLog
from callm_voice.core.record import EngineInfo
from callm_voice.core.runfolder import ORACLE_FILE
from callm_voice.desk.agent import AgentLimits, DeskAgent
from callm_voice.desk.database import CallDatabase, DatabaseUnavailableError
from callm_voice.llm.factory import open_model
from callm_voice.llm.oracle import OracleChatModel
from callm_voice.llm.server_pool import ServerPool
from callm_voice.llm.spec import NamedSpec, OracleSpec
from verifier.trace import State


async def open_desk(
    resolved: ResolvedCall,
    clock: RealClock,
    log: EventLog,
    on_progress: Callable[[str], None],
    stack: AsyncExitStack,
    extra_files: dict[str, str] | None = None,
    servers: ServerPool | None = None,
) -> tuple[DeskAgent, CallDatabase]:
    """The desk with its model warmed up; closed by `stack`.

    Args:
        extra_files: gets the log of the oracle's server when `stack` closes it.
        servers: servers of ours are taken out of it and stay.

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
        servers=servers,
        via=resolved.faults.proxy(clock, stack),
    )
    stack.push_async_callback(model.aclose)
    if extra_files is not None and isinstance(model, OracleChatModel):
        stack.push_async_callback(_keep_log, model, extra_files)
    database = resolved.faults.database(resolved.pack, log, stack)
    stack.callback(database.close)
    limits = AgentLimits(inferences_per_turn=resolved.pipeline.limits.inferences_per_turn)
    desk = DeskAgent(resolved.pack, database, model, log, clock, limits)
    await model.warm(desk.requests_to_warm())
    resolved.faults.arm()
    return desk, database


async def _keep_log(model: OracleChatModel, extra_files: dict[str, str]) -> None:
    """What the server saw, for `calibrate`. A server that is gone has ended the call already; it left no log."""
    with suppress(ModelError):
        lines = [json.dumps(entry, ensure_ascii=False) + "\n" for entry in await model.log()]
        extra_files[ORACLE_FILE] = "".join(lines)


def model_info(model: NamedSpec) -> EngineInfo:
    """The model as an engine of the record. A spec names environment variables, never keys."""
    name, spec = model
    settings = spec.model_dump(mode="json", exclude_none=True)
    return EngineInfo(engine=spec.kind, model=name, scripted=isinstance(spec, OracleSpec), settings=settings)


def final_state(database: CallDatabase, error: CallmError | None) -> tuple[State, CallmError | None]:
    """The database at hang-up, and what broke the call: if it cannot be read, that did, unless something had before."""
    try:
        return database.dump(), error
    except DatabaseUnavailableError as locked:
        return {}, error or locked
