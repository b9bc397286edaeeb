"""The usual agent: our own pipeline around the desk, in this process."""

from __future__ import annotations

from collections.abc import Callable

from callm_voice.bench.costcap import watch_cost
from callm_voice.bench.desk import final_state, model_info, open_desk
from callm_voice.bench.sides import CallContext
from callm_voice.core.errors import CallmError
from callm_voice.core.record import EngineInfo, Usage
from callm_voice.desk.agent import DeskAgent
from callm_voice.desk.database import CallDatabase
from callm_voice.line.leg import Leg
from callm_voice.pipeline.agent import PipecatAgent
from callm_voice.pipeline.foreign_open import open_tts
from callm_voice.speech.engines import SttEngine, TtsEngine, Vad
from callm_voice.speech.factory import make_tts, make_vad
from verifier.trace import State, Trace


async def open_desk_side(ctx: CallContext, on_played: Callable[[str], None]) -> DeskSide:
    """Engines, desk and model, ready but for `start`; closed by the call's stack.

    Raises:
        CallmError: something is missing.
    """
    resolved, pipeline = ctx.resolved, ctx.resolved.pipeline
    ctx.on_progress("loading speech engines")
    stt = await ctx.stt()
    tts = await open_tts(pipeline.tts, lambda ours: ctx.shop.engine("tts", make_tts, ours), ctx.clock, ctx.stack)
    vad = make_vad(pipeline.vad)
    desk, database = await open_desk(
        resolved, ctx.clock, ctx.log, ctx.on_progress, ctx.stack, ctx.extra_files, ctx.shop.servers
    )
    resolved.faults.watch(ctx.log, ctx.clock)
    watch_cost(resolved, desk, ctx.log, lambda why: ctx.control.end("max_cost", why))
    agent = PipecatAgent(
        pipeline,
        rate_hz=ctx.profile.rate_hz,
        stt=resolved.faults.stt(stt),
        vad=vad,
        tts=resolved.faults.tts(tts),
        desk=desk,
        model_name=resolved.model.name,
        clock=ctx.clock,
        log=ctx.log,
        control=ctx.control,
        on_played=on_played,
    )
    return DeskSide(ctx, agent, desk, database, stt, vad, tts)


class DeskSide:
    """See `AgentSide`."""

    def __init__(
        self, ctx: CallContext, agent: PipecatAgent, desk: DeskAgent, database: CallDatabase, stt: SttEngine, vad: Vad,
        tts: TtsEngine,
    ) -> None:  # fmt: skip
        self._ctx, self._agent, self._desk, self._database = ctx, agent, desk, database
        self._stt, self._vad, self._tts = stt, vad, tts

    @property
    def leg(self) -> Leg:
        return self._agent.leg

    async def start(self) -> None:
        await self._agent.start()
        self._ctx.stack.push_async_callback(self._agent.stop)

    def greet(self) -> None:
        self._agent.greet()

    async def stop(self) -> None:
        await self._agent.stop()

    def engines(self) -> dict[str, EngineInfo]:
        return {
            "model": model_info(self._ctx.resolved.model),
            "stt": self._stt.info.model_copy(update={"work": self._agent.stt_work}),
            "vad": self._vad.info,
            "tts": self._tts.info,
            "endpointing": self._agent.endpointing_info,
        }

    def trace(self) -> Trace:
        return self._desk.trace()

    def usage(self) -> Usage:
        return self._desk.usage()

    def state(self) -> tuple[State, CallmError | None]:
        return final_state(self._database, self._ctx.control.error)
