"""One call by voice: both sides and the line are opened, the line runs until somebody hangs up, all is closed again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from callm_voice.bench.assemble import CallResult
from callm_voice.bench.caller_side import open_simulated_caller
from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.desk_side import open_desk_side
from callm_voice.bench.outside_agent import open_outside_agent
from callm_voice.bench.pace import keep_pace
from callm_voice.bench.packet_side import open_packets
from callm_voice.bench.resolve import ResolvedCall
from callm_voice.bench.sides import AgentSide, CallContext, CallerSide, Sides, infos
from callm_voice.bench.silence import SilenceWatch, silence_limit_ms
from callm_voice.bench.transcript import build_transcript
from callm_voice.bench.workshop import Workshop
from callm_voice.core.clock import Pace, RealClock, stopwatch
from callm_voice.core.errors import CallmError
from callm_voice.core.events import CallEnded, CallStarted, EventLog
from callm_voice.core.ids import derive_seed
from callm_voice.core.record import PERSON, EngineInfo, WallTime
from callm_voice.line.channel import rehearsed_level
from callm_voice.line.line import PhoneLine
from callm_voice.line.profile import LineProfile
from callm_voice.line.recorder import Recorder
from callm_voice.line.told import line_settings, line_work
from callm_voice.pipeline.control import CallControl

if TYPE_CHECKING:
    from callm_voice.pipeline.packet_leg import PacketLeg

Progress = Callable[[str], None]
USUAL = Sides(open_desk_side, open_simulated_caller)
"""Our own pipeline and a simulated caller, both in this process."""


def sides_of(spec: CallSpec) -> Sides:
    """Who is at the two ends of a call, by its spec."""
    return USUAL if spec.agent is None else Sides(open_outside_agent, open_simulated_caller)


@dataclass(frozen=True)
class _Opening:
    """How the call began."""

    pace: Pace
    warnings: list[str]
    unix_s: float


async def voice_call(
    resolved: ResolvedCall,
    clock: RealClock,
    log: EventLog,
    on_progress: Progress,
    shop: Workshop | None = None,
    sides: Sides = USUAL,
    on_line: Callable[[Recorder], None] = lambda _: None,
) -> CallResult:
    """Run the call.

    Args:
        shop: engines and servers are taken out of it and stay there.
        sides: who is at the two ends.
        on_line: called with the recording, which grows from then on.

    Raises:
        CallmError: something was missing before the line opened. What breaks later ends the call and stands in the
            result.
    """
    assert resolved.profile is not None
    async with AsyncExitStack() as stack:
        ctx = CallContext(
            resolved, resolved.profile, clock, log, CallControl(log), on_progress, shop or Workshop(), stack
        )
        agent, caller = await _open(ctx, sides)
        packets = await open_packets(ctx, caller)
        engines = [*infos(agent, caller), *([packets.info()] if packets else [])]
        pace, warnings = keep_pace(engines, clock, stack)
        for warning in warnings:
            on_progress(f"warning: {warning}")
        line = await _line(ctx, agent, caller, packets)
        on_line(line.recorder)
        opening = _Opening(pace, warnings, clock.unix_s())
        log.emit(
            CallStarted,
            task=resolved.task_name,
            model=resolved.model.name,
            line=resolved.profile.id,
            pipeline=resolved.pipeline.id,
            pace=pace,
            seed=resolved.spec.seed,
        )
        wall_s, models_before_s = stopwatch(), clock.models_wall_s
        silence = SilenceWatch(log, clock, ctx.control, limit_ms=silence_limit_ms(resolved))
        await _run_line(line, agent, ctx.control, silence)
        wall = WallTime(line_s=round(wall_s(), 6), models_s=round(clock.models_wall_s - models_before_s, 6))
        log.emit(CallEnded, reason=ctx.control.reason, detail=ctx.control.detail)
        await agent.stop()
        await caller.aclose()
        return await _result(ctx, agent, caller, line, packets, opening, wall)


async def _open(ctx: CallContext, sides: Sides) -> tuple[AgentSide, CallerSide]:
    """Everything that a call needs before its line opens; closed by the stack.

    Raises:
        CallmError: something is missing.
    """
    caller: CallerSide | None = None

    def played(text: str) -> None:
        if caller is not None:
            caller.agent_played(text)

    agent = await sides.open_agent(ctx, played)
    caller = await sides.open_caller(ctx)
    await caller.prepare()
    await agent.start()
    return agent, caller


async def _line(ctx: CallContext, agent: AgentSide, caller: CallerSide, packets: PacketLeg | None) -> PhoneLine:
    """The line, told how loud the caller's rehearsed lines are."""
    seed = derive_seed(ctx.resolved.spec.seed, "line")
    speech_dbov = await ctx.clock.in_thread("load", rehearsed_level, caller.rehearsed, ctx.profile, seed)
    return PhoneLine(
        caller.leg,
        agent.leg,
        ctx.profile,
        ctx.clock,
        ctx.log,
        seed,
        max_duration_s=ctx.resolved.pipeline.limits.max_duration_s,
        speech_dbov=speech_dbov,
        packets=packets.paths if packets else None,
    )


async def _result(
    ctx: CallContext, agent: AgentSide, caller: CallerSide, line: PhoneLine, packets: PacketLeg | None,
    opening: _Opening, wall: WallTime,
) -> CallResult:  # fmt: skip
    """What the call left behind."""
    # In a thread: a large database takes longer than a packet to read, and other calls of this loop go on.
    state, error = await ctx.clock.in_thread("state", agent.state)
    return CallResult(
        started_unix_s=opening.unix_s,
        reason=ctx.control.reason,
        detail=ctx.control.detail,
        fault=error.fault if error else None,
        trace=agent.trace(),
        state=state,
        usage=agent.usage(),
        events=ctx.log.events,
        transcript=build_transcript(
            ctx.log.events, end_ms=line.recorder.duration_ms, person=ctx.resolved.spec.caller == PERSON
        ),
        engines={
            **agent.engines(),
            **caller.engines(),
            "codec": codec_info(ctx.profile, line),
            **({"leg": packets.info()} if packets else {}),
        },
        ticks=line.ticks,
        rate_hz=ctx.profile.rate_hz,
        recorder=line.recorder,
        caller_usage=caller.usage(),
        wall=wall,
        pace=opening.pace,
        warnings=[*opening.warnings, *ctx.resolved.faults.warnings],
        extra_files=ctx.extra_files,
    )


async def _run_line(line: PhoneLine, agent: AgentSide, control: CallControl, silence: SilenceWatch) -> None:
    """Run the line until the call is over, whoever ends it."""
    agent.greet()
    running = asyncio.create_task(line.run(), name="line")
    over = asyncio.create_task(control.wait(), name="call-over")
    watch = asyncio.create_task(silence.run(), name="silence")
    try:
        await asyncio.wait({running, over}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            line.hang_up(control.reason, control.detail)
        report = await running
        control.end(report.end_reason, report.end_detail)
    except CallmError as error:
        control.fail(error)
    finally:
        over.cancel()
        watch.cancel()
        if not running.done():
            running.cancel()
            await asyncio.wait({running})


def codec_info(profile: LineProfile, line: PhoneLine) -> EngineInfo:
    """The line as an engine of the record: what it is, and what became of its packets."""
    return EngineInfo(engine=profile.codec, settings=line_settings(profile, line), work=line_work(line))
