"""Voice to voice of our agent over that of a stock Pipecat pipeline, on the same line with the same caller.

python baseline.py ours|stock ORACLE_URL     has one conversation and prints V2V by utterance as JSON
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from calls import TASK, PerfError

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.desk import open_desk
from callm_voice.bench.resolve import ResolvedCall, resolve
from callm_voice.caller.listen import Listener
from callm_voice.caller.voice import Voice
from callm_voice.core import paths, weights
from callm_voice.core.clock import RealClock
from callm_voice.core.events import EventLog
from callm_voice.line.leg import PTIME_MS, Frame, Leg
from callm_voice.line.line import PhoneLine
from callm_voice.line.playout import Ended, PlayoutQueue, Started
from callm_voice.llm.oracle import OracleChatModel
from callm_voice.llm.spec import OracleSpec
from callm_voice.probes.wire import Wire
from callm_voice.speech.engines import Pcm
from callm_voice.speech.factory import make_stt, make_tts, make_vad
from callm_voice.speech.settings import PiperSettings, WhisperSettings
from callm_voice.speech.spoken import to_spoken
from callm_voice.speech.tts_cache import CachedTts

LINE = "clean-16k"
REPLY_AFTER_MS = 1200
"""Quiet of the agent's, after it was heard, before the caller goes on."""
GIVE_UP_AFTER_MS = 12_000
"""Without an answer for so long the caller goes on, and the utterance has no V2V."""
LIMIT_S = 300
TALK = (
    ("Good morning, I'd like to ask about my last visit.", "Of course. What would you like to know?"),
    ("Which doctor did I see in June?", "You saw Doctor Straus on the third of June."),
    ("And how much was the bill?", "It was two hundred dollars. Your plan paid one half of it."),
    ("Can I pay the rest by card over the telephone?", "Yes, you can. We take all the usual cards."),
    ("Do I have to bring anything to the next appointment?", "Only your insurance card. Please come a little early."),
    ("Is there a place where I can park my car?", "There is a garage next door. The first hour is free."),
    ("I think that's all that I wanted to know.", "I'm glad that I could help. Is there anything else?"),
    ("No, thank you very much.", "Thank you for calling. Have a good day."),
)  # fmt: skip
GREETING = "Straus Dermatology, how can I help you today?"


class Agent(Protocol):
    """What is compared: ours or the stock one."""

    async def start(self) -> None: ...

    def greet(self) -> None: ...

    async def stop(self) -> None: ...


class PlayedCaller:
    """A `Leg` that says a list of sounds, each when the agent has answered the one before.

    Args:
        sounds: at the line's rate.
    """

    def __init__(self, sounds: Sequence[Pcm], rate_hz: int) -> None:
        self._sounds = list(sounds)
        self._playout = PlayoutQueue(rate_hz * PTIME_MS // 1000)
        self._listener = Listener()
        self._answered = False
        self._speaking = False
        self._now_ms = self._quiet_ms = 0
        self._next = 0
        self.spans_ms: list[tuple[float, float]] = []
        """Start and end of each utterance on the line."""
        self.over = asyncio.Event()

    def pull(self) -> Frame | None:
        if not self._speaking and self._may_speak():
            self._say()
        frame, notices = self._playout.pull()
        for notice in notices:
            if isinstance(notice, Started):
                self.spans_ms.append((float(self._now_ms), float("inf")))
            elif isinstance(notice, Ended):
                self.spans_ms[-1] = (self.spans_ms[-1][0], float(self._now_ms + PTIME_MS))
                self._speaking, self._answered, self._quiet_ms = False, False, self._now_ms + PTIME_MS
        self._now_ms += PTIME_MS
        return frame

    def push(self, frame: Frame) -> None:
        self._listener.push(frame)
        if self._listener.speaking and not self._speaking:
            self._answered = True

    def clear(self) -> None:
        self._playout.clear()

    def _may_speak(self) -> bool:
        if self._listener.speaking:
            return False
        quiet_ms = self._now_ms - max(self._quiet_ms, self._listener.last_loud_ms)
        return quiet_ms >= (REPLY_AFTER_MS if self._answered else GIVE_UP_AFTER_MS)

    def _say(self) -> None:
        if self._next == len(self._sounds):
            self.over.set()
            return
        self._playout.put(self._next, self._sounds[self._next])
        self._playout.end(self._next)
        self._next += 1
        self._speaking = True


@dataclass(frozen=True)
class _Setting:
    """What both agents share."""

    clock: RealClock
    resolved: ResolvedCall
    base_url: str
    rate_hz: int


def baseline_v2v_ratio() -> dict[str, float]:
    return asyncio.run(_compare())


async def _compare() -> dict[str, float]:
    clock = RealClock()
    script: list[dict[str, Any]] = [{"say": GREETING}]
    for _, answer in TALK:
        script += [{"hear": {}}, {"say": answer}]
    oracle = await OracleChatModel.start(OracleSpec(kind="oracle"), script, name="oracle", clock=clock)
    try:
        url = f"http://127.0.0.1:{oracle.server.ready['port']}/v1"
        ours, stock = [await asyncio.to_thread(_in_a_process, who, url) for who in ("ours", "stock")]
    finally:
        await oracle.aclose()
        clock.close()
    both = [(o, s) for o, s in zip(ours, stock, strict=True) if o is not None and s is not None]
    for who, times in (("ours", ours), ("stock", stock)):
        print(f"  {who}: V2V in ms by utterance", [None if t is None else round(t) for t in times])
    if len(both) < len(TALK) // 2:
        raise PerfError(f"both answered only {len(both)} of {len(TALK)} utterances")
    ours_ms, stock_ms = median(o for o, _ in both), median(s for _, s in both)
    print(f"  medians over {len(both)} utterances: ours {ours_ms:.0f} ms, stock {stock_ms:.0f} ms")
    return {"baseline_v2v_ratio": ours_ms / stock_ms}


def _in_a_process(who: str, url: str) -> list[float | None]:
    done = subprocess.run([sys.executable, __file__, who, url], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise PerfError(f"{who}: {done.stderr[-600:]}")
    times: list[float | None] = json.loads(done.stdout.splitlines()[-1])
    return times


async def _converse(who: str, base_url: str) -> list[float | None]:
    clock = RealClock()
    spec = CallSpec(task=TASK, model=f"openai:{base_url}#oracle", pipeline="cpu", line=LINE, run_dir=Path())
    resolved = resolve(spec)
    assert resolved.profile is not None
    setting = _Setting(clock, resolved, base_url, resolved.profile.rate_hz)
    async with AsyncExitStack() as stack:
        stack.callback(clock.close)
        log = EventLog(clock)
        voice = Voice(
            CachedTts(make_tts(resolved.caller_voice.settings), paths.cache_dir() / "caller-audio"),
            clock, rate_hz=setting.rate_hz, to_spoken=to_spoken, seed=1,
        )  # fmt: skip
        caller = PlayedCaller([(await voice.line(said)).pcm for said, _ in TALK], setting.rate_hz)
        agent, leg = await (_ours if who == "ours" else _stock)(setting, log, stack)
        await agent.start()
        stack.push_async_callback(agent.stop)
        line = PhoneLine(caller, leg, resolved.profile, clock, log, max_duration_s=LIMIT_S)
        agent.greet()
        running = asyncio.create_task(line.run())
        await asyncio.wait({running, asyncio.create_task(caller.over.wait())}, return_when=asyncio.FIRST_COMPLETED)
        line.hang_up("caller_hangup")
        await running
        return _v2v_ms(caller, line)


def _v2v_ms(caller: PlayedCaller, line: PhoneLine) -> list[float | None]:
    """By utterance, from the samples on the line; None: no answer, or one that began before the utterance was over."""
    left, right = (Wire(channel, line.profile.rate_hz) for channel in line.recorder.channels())
    times: list[float | None] = []
    starts = [start for start, _ in caller.spans_ms[1:]] + [float("inf")]
    for (start, end), next_start in zip(caller.spans_ms, starts, strict=True):
        speech_end = left.last_audible_ms(start, end + PTIME_MS)
        assert speech_end is not None
        answer = right.first_audible_ms(speech_end, next_start)
        early = right.first_audible_ms(start, speech_end) is not None
        times.append(None if answer is None or early else answer - speech_end)
    return times


async def _ours(setting: _Setting, log: EventLog, stack: AsyncExitStack) -> tuple[Agent, Leg]:
    from callm_voice.pipeline.agent import PipecatAgent
    from callm_voice.pipeline.control import CallControl

    pipeline = setting.resolved.pipeline
    desk, _ = await open_desk(setting.resolved, setting.clock, log, lambda _: None, stack)
    agent = PipecatAgent(
        pipeline, rate_hz=setting.rate_hz, stt=make_stt(pipeline.stt), vad=make_vad(pipeline.vad),
        tts=make_tts(pipeline.tts), desk=desk, model_name="oracle", clock=setting.clock, log=log,
        control=CallControl(log), on_played=lambda _: None,
    )  # fmt: skip
    return agent, agent.leg


async def _stock(setting: _Setting, log: EventLog, stack: AsyncExitStack) -> tuple[Agent, Leg]:
    from stock_pipeline import StockAgent

    desk, _ = await open_desk(setting.resolved, setting.clock, log, lambda _: None, stack)
    stt, tts = setting.resolved.pipeline.stt, setting.resolved.pipeline.tts
    assert isinstance(stt, WhisperSettings)
    assert isinstance(tts, PiperSettings)
    agent = StockAgent(
        rate_hz=setting.rate_hz, whisper=weights.path(f"whisper-{stt.model}"),
        piper=weights.path(f"piper-{tts.voice}"), base_url=setting.base_url,
        messages=desk.requests_to_warm()[0].messages,
    )  # fmt: skip
    return agent, agent


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_converse(sys.argv[1], sys.argv[2]))))
