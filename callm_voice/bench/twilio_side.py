"""An agent that is called as Twilio calls it: its websocket gets a media stream, and with it where the tools are."""

from __future__ import annotations

from callm_voice.bench.agent_tools import open_tools
from callm_voice.bench.outside_agent import OutsideAgent, agent_url
from callm_voice.bench.sides import AgentSide, CallContext
from callm_voice.core.events import AgentCleared, DtmfHeard
from callm_voice.pipeline.twilio_leg import TwilioLeg


async def open_twilio_side(ctx: CallContext) -> AgentSide:
    """The agent of the call's spec, ready but for `start`.

    Raises:
        CallmError: something is missing.
    """
    ctx.on_progress("loading the recogniser that hears the agent")
    stt = await ctx.stt()
    tools = await open_tools(ctx)
    leg = TwilioLeg(
        agent_url(ctx).url,
        tools.told(),
        on_hang_up=lambda why: ctx.control.end("agent_hangup", why),
        on_error=ctx.control.fail,
        on_key=lambda key: ctx.log.emit(DtmfHeard, turn_id=tools.turn_id, digit=key),
        on_clear=lambda dropped_ms: ctx.log.emit(AgentCleared, dropped_ms=dropped_ms),
    )
    return OutsideAgent(ctx, leg, stt, protocol="twilio", settings=tools.settings, tools=tools)
