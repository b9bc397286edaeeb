"""An agent that runs elsewhere and is phoned by WebRTC: `--agent webrtc:URL`."""

from __future__ import annotations

from callm_voice.bench.agent_tools import open_tools
from callm_voice.bench.outside_agent import OutsideAgent, agent_url
from callm_voice.bench.sides import AgentSide, CallContext
from callm_voice.core.errors import MissingDependencyError
from callm_voice.core.ids import derive_seed


async def open_webrtc_side(ctx: CallContext) -> AgentSide:
    """The agent behind the URL that takes the offer.

    Raises:
        CallmError: something is missing on this machine.
    """
    try:
        from callm_voice.pipeline.rtc_leg import RtcLeg
    except ModuleNotFoundError as error:
        raise MissingDependencyError("aiortc", "live") from error
    ctx.on_progress("loading the recogniser that hears the agent")
    stt = await ctx.stt()
    tools = await open_tools(ctx)
    leg = RtcLeg(
        agent_url(ctx).url,
        rate_hz=ctx.profile.rate_hz,
        clock=ctx.clock,
        on_hang_up=lambda why: ctx.control.end("agent_hangup", why),
        on_error=ctx.control.fail,
        told=tools.told(),
        seed=derive_seed(ctx.resolved.spec.seed, "webrtc"),
    )
    return OutsideAgent(
        ctx, leg, stt, protocol="webrtc", settings=lambda: {**leg.agreed(), **tools.settings()}, tools=tools
    )
