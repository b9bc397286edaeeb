"""One call by voice: engines, model and line are opened, the line runs until somebody hangs up, all is closed again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from callm_voice.bench.assemble import CallResult
from callm_voice.bench.costcap import watch_cost
from callm_voice.bench.desk import final_state, model_info, open_desk
from callm_voice.bench.minds import open_caller
from callm_voice.bench.pace import keep_pace
from callm_voice.bench.resolve import ResolvedCall
from callm_voice.bench.silence import SilenceWatch, silence_limit_ms
from callm_voice.bench.transcript import build_transcript
from callm_voice.bench.workshop import Workshop
from callm_voice.caller.base import Caller
from callm_voice.caller.leg import CallerLeg
from callm_voice.core.clock import Pace, RealClock, stopwatch
from callm_voice.core.errors import CallmError
from callm_voice.core.events import CallEnded, CallStarted, EventLog
from callm_voice.core.ids import derive_seed
from callm_voice.core.paths import cache_dir
from callm_voice.core.record import EngineInfo, WallTime
from callm_voice.desk.agent import DeskAgent
from callm_voice.desk.database import CallDatabase
from callm_voice.line.channel import rehearsed_level
from callm_voice.line.line import PhoneLine
from callm_voice.line.profile import LineProfile
from callm_voice.line.told import line_settings, line_work
from callm_voice.pipeline.agent import PipecatAgent
from callm_voice.pipeline.control import CallControl
from callm_voice.pipeline.foreign_open import open_stt, open_tts
from callm_voice.speech.engines import SttEngine, TtsEngine, Vad
from callm_voice.speech.factory import make_stt, make_tts, make_vad
from callm_voice.speech.said import SaidLog
from callm_voice.speech.settings import ScriptedSttSettings, SttSettings
from callm_voice.speech.spoken import to_spoken
from callm_voice.speech.tts_cache import CachedTts

Progress = Callable[[str], None]


@dataclass(frozen=True)
class _Parties:
    """Both ends of the line, and what they are made of."""

    control: CallControl
    stt: SttEngine
    vad: Vad
    tts: TtsEngine
    caller_tts: TtsEngine
    desk: DeskAgent
    database: CallDatabase
    mind: Caller
    caller: CallerLeg
    agent: PipecatAgent
    extra_files: dict[str, str]
    """Filled when all is closed, too."""

    @property
    def engines(self) -> list[EngineInfo]:
        return [e.info for e in (self.stt, self.vad, self.tts, self.caller_tts)] + [self.agent.endpointing_info]


@dataclass(frozen=True)
class _Opening:
    """How the call began."""

    pace: Pace
    warnings: list[str]
    unix_s: float


async def voice_call(
    resolved: ResolvedCall, clock: RealClock, log: EventLog, on_progress: Progress, shop: Workshop | None = None
) -> CallResult:
    """Run the call.

    Args:
        shop: engines and servers are taken out of it and stay there.

    Raises:
        CallmError: something was missing before the line opened. What breaks later ends the call and stands in the
            result.
    """
    assert resolved.profile is not None
    async with AsyncExitStack() as stack:
        parties = await _open(resolved, resolved.profile, clock, log, on_progress, shop or Workshop(), stack)
        pace, warnings = keep_pace(parties.engines, clock, stack)
        for warning in warnings:
            on_progress(f"warning: {warning}")
        line = await _line(resolved, resolved.profile, clock, log, parties)
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
        silence = SilenceWatch(log, clock, parties.control, limit_ms=silence_limit_ms(resolved))
        await _run_line(line, parties.agent, parties.control, silence)
        wall = WallTime(line_s=round(wall_s(), 6), models_s=round(clock.models_wall_s - models_before_s, 6))
        log.emit(CallEnded, reason=parties.control.reason, detail=parties.control.detail)
        await parties.agent.stop()
        await parties.caller.aclose()
        return _result(resolved, resolved.profile, log, parties, line, opening, wall)


async def _open(
    resolved: ResolvedCall, profile: LineProfile, clock: RealClock, log: EventLog, on_progress: Progress,
    shop: Workshop, stack: AsyncExitStack,
) -> _Parties:  # fmt: skip
    """Everything that a call needs before its line opens; closed by `stack`.

    Raises:
        CallmError: something is missing.
    """
    spec, pipeline = resolved.spec, resolved.pipeline
    control, said = CallControl(log), SaidLog()
    on_progress("loading speech engines")
    stt = await open_stt(pipeline.stt, lambda ours: _stt(shop, ours, said), clock, stack)
    tts = await open_tts(pipeline.tts, lambda ours: shop.engine("tts", make_tts, ours), clock, stack)
    caller_tts = CachedTts(
        await clock.in_thread("load", shop.engine, "caller_tts", make_tts, resolved.caller_voice.settings),
        cache_dir() / "caller-audio",
    )
    vad = make_vad(pipeline.vad)
    extra_files: dict[str, str] = {}
    desk, database = await open_desk(resolved, clock, log, on_progress, stack, extra_files, shop.servers)
    resolved.faults.watch(log, clock)
    watch_cost(resolved, desk, log, lambda why: control.end("max_cost", why))
    mind = await open_caller(resolved, clock, on_progress, stack, shop.servers)
    caller = CallerLeg(
        mind,
        caller_tts,
        clock=clock,
        log=log,
        rate_hz=profile.rate_hz,
        to_spoken=to_spoken,
        seed=derive_seed(spec.seed, "caller"),
        settings=pipeline.caller,
        ears=stt if pipeline.caller.ears == "stt" else None,
        on_hang_up=lambda why: control.end("caller_hangup", why),
        on_error=control.fail,
        on_said=said.add,
    )
    stack.push_async_callback(caller.aclose)
    agent = PipecatAgent(
        pipeline,
        rate_hz=profile.rate_hz,
        stt=resolved.faults.stt(stt),
        vad=vad,
        tts=resolved.faults.tts(tts),
        desk=desk,
        model_name=resolved.model.name,
        clock=clock,
        log=log,
        control=control,
        on_played=caller.agent_played,
    )
    on_progress("the caller rehearses its lines")
    await caller.prepare()
    await agent.start()
    stack.push_async_callback(agent.stop)
    return _Parties(control, stt, vad, tts, caller_tts, desk, database, mind, caller, agent, extra_files)


async def _line(
    resolved: ResolvedCall, profile: LineProfile, clock: RealClock, log: EventLog, parties: _Parties
) -> PhoneLine:
    """The line, told how loud the caller's rehearsed lines are."""
    seed = derive_seed(resolved.spec.seed, "line")
    speech_dbov = await clock.in_thread("load", rehearsed_level, parties.caller.rehearsed, profile, seed)
    return PhoneLine(
        parties.caller,
        parties.agent.leg,
        profile,
        clock,
        log,
        seed,
        max_duration_s=resolved.pipeline.limits.max_duration_s,
        speech_dbov=speech_dbov,
    )


def _result(
    resolved: ResolvedCall, profile: LineProfile, log: EventLog, parties: _Parties, line: PhoneLine,
    opening: _Opening, wall: WallTime,
) -> CallResult:  # fmt: skip
    """What the call left behind."""
    control, agent, desk = parties.control, parties.agent, parties.desk
    state, error = final_state(parties.database, control.error)
    return CallResult(
        started_unix_s=opening.unix_s,
        reason=control.reason,
        detail=control.detail,
        fault=error.fault if error else None,
        trace=desk.trace(),
        state=state,
        usage=desk.usage(),
        events=log.events,
        transcript=build_transcript(log.events, end_ms=line.recorder.duration_ms),
        engines={
            "model": model_info(resolved.model),
            "stt": parties.stt.info.model_copy(update={"work": agent.stt_work}),
            "vad": parties.vad.info,
            "tts": parties.tts.info,
            "caller_tts": _caller_info(parties.caller_tts.info, resolved, parties.caller.work),
            "endpointing": agent.endpointing_info,
            "codec": codec_info(profile, line),
        },
        ticks=line.ticks,
        rate_hz=profile.rate_hz,
        recorder=line.recorder,
        caller_usage=parties.mind.usage(),
        wall=wall,
        pace=opening.pace,
        warnings=[*opening.warnings, *resolved.faults.warnings],
        extra_files=parties.extra_files,
    )


def _stt(shop: Workshop, settings: SttSettings, said: SaidLog) -> SttEngine:
    """The recogniser. A scripted one is told by each call what is said in it, so it is never kept."""
    if isinstance(settings, ScriptedSttSettings):
        return make_stt(settings, said.lookup)
    return shop.engine("stt", make_stt, settings)


async def _run_line(line: PhoneLine, agent: PipecatAgent, control: CallControl, silence: SilenceWatch) -> None:
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


def _caller_info(info: EngineInfo, resolved: ResolvedCall, work: dict[str, float]) -> EngineInfo:
    """The caller's voice as it was, with the name under which it was drawn."""
    return info.model_copy(update={"work": work, "settings": {**info.settings, **resolved.caller_voice.record()}})


def codec_info(profile: LineProfile, line: PhoneLine) -> EngineInfo:
    """The line as an engine of the record: what it is, and what became of its packets."""
    return EngineInfo(engine=profile.codec, settings=line_settings(profile, line), work=line_work(line))
