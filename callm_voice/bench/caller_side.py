"""The usual caller: simulated, in this process."""

from __future__ import annotations

from callm_voice.bench.minds import open_caller
from callm_voice.bench.sides import CallContext
from callm_voice.caller.base import Caller
from callm_voice.caller.leg import CallerLeg
from callm_voice.core.ids import derive_seed
from callm_voice.core.paths import cache_dir
from callm_voice.core.record import EngineInfo, Usage
from callm_voice.line.leg import Frame, Leg
from callm_voice.speech.engines import TtsEngine
from callm_voice.speech.factory import make_tts
from callm_voice.speech.spoken import to_spoken
from callm_voice.speech.tts_cache import CachedTts


async def open_simulated_caller(ctx: CallContext) -> SimulatedCaller:
    """Mind, voice and ears, ready but for `prepare`; closed by the call's stack.

    Raises:
        CallmError: something is missing.
    """
    resolved, settings = ctx.resolved, ctx.resolved.pipeline.caller
    made = await ctx.clock.in_thread(
        "load", ctx.shop.engine, "caller_tts", make_tts, resolved.caller_voice.settings
    )  # fmt: skip
    tts = CachedTts(made, cache_dir() / "caller-audio")
    mind = await open_caller(resolved, ctx.clock, ctx.on_progress, ctx.stack, ctx.shop.servers)
    leg = CallerLeg(
        mind,
        tts,
        clock=ctx.clock,
        log=ctx.log,
        rate_hz=ctx.profile.rate_hz,
        to_spoken=to_spoken,
        seed=derive_seed(resolved.spec.seed, "caller"),
        settings=settings,
        ears=await ctx.stt() if _needs_ears(ctx) else None,
        on_hang_up=lambda why: ctx.control.end("caller_hangup", why),
        on_error=ctx.control.fail,
        on_said=ctx.said.add,
    )
    ctx.stack.push_async_callback(leg.aclose)
    return SimulatedCaller(ctx, leg, mind, tts)


def _needs_ears(ctx: CallContext) -> bool:
    """Whether the caller hears the agent with a recogniser: one that runs elsewhere tells nobody what it played."""
    return ctx.resolved.pipeline.caller.ears == "stt" or ctx.resolved.spec.agent is not None


class SimulatedCaller:
    """See `CallerSide`."""

    def __init__(self, ctx: CallContext, leg: CallerLeg, mind: Caller, tts: TtsEngine) -> None:
        self._ctx, self._leg, self._mind, self._tts = ctx, leg, mind, tts

    @property
    def leg(self) -> Leg:
        return self._leg

    @property
    def rehearsed(self) -> list[Frame]:
        return self._leg.rehearsed

    async def prepare(self) -> None:
        self._ctx.on_progress("the caller rehearses its lines")
        await self._leg.prepare()

    def agent_played(self, text: str) -> None:
        self._leg.agent_played(text)

    async def aclose(self) -> None:
        await self._leg.aclose()
        if self._ctx.control.error is None:
            await self._leg.hear_rest()

    def engines(self) -> dict[str, EngineInfo]:
        """The voice as it was, with the name under which it was drawn."""
        info = self._tts.info
        drawn = self._ctx.resolved.caller_voice.record()
        return {"caller_tts": info.model_copy(update={"work": self._leg.work, "settings": {**info.settings, **drawn}})}

    def usage(self) -> Usage | None:
        return self._mind.usage()
