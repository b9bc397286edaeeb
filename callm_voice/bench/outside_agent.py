"""An agent that runs elsewhere, whatever the way to it: what the line tells of it, and what the record says.

Nobody tells what it thinks or plays. So the caller hears it with a recogniser (`bench/caller_side.py`), its stretches
of speech are found by their level, and voice to voice comes from the recording alone (`probes/outside.py`). What it did
to the call's database is known if it used the call's tools; without them the trace is empty and the state is the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from callm_voice.bench.agent_url import AgentUrl, parse_agent
from callm_voice.bench.sides import AgentSide, CallContext
from callm_voice.caller.listen import Listener, SpeechEnded, SpeechStarted
from callm_voice.core.errors import CallmError, EngineError, HarnessError
from callm_voice.core.events import AgentSpeechEnded, AgentSpeechStarted, BargeIn, Event, EventLog, UtteranceStarted
from callm_voice.core.record import EngineInfo, Usage
from callm_voice.line.leg import PTIME_MS, Frame, Leg
from callm_voice.speech.engines import SttEngine
from verifier.trace import State, Trace

FIRST_SOUND_LIMIT_MS = 30_000
"""An agent that was not heard until then is not there."""


class AgentLink(Leg, Protocol):
    """The way to the agent, a leg of the line: the part that differs from protocol to protocol."""

    async def start(self) -> None:
        """Be ready for the line to open.

        Raises:
            CallmError: something is missing.
        """
        ...

    def open(self) -> None:
        """The line opens now. What fails from here on ends the call (`CallControl.fail`)."""
        ...

    async def aclose(self) -> None:
        """Wait until nothing of it runs any more. Safe to call twice."""
        ...

    @property
    def work(self) -> dict[str, float]:
        """What went over it, for the record."""
        ...


class AgentTools(Protocol):
    """The call's tools as they were offered to the agent."""

    def trace(self) -> Trace: ...

    def state(self) -> State:
        """The database now.

        Raises:
            CallmError: it cannot be read.
        """
        ...


class OutsideAgent:
    """See `AgentSide`.

    Args:
        ctx: of the call; the link is closed with its stack.
        link: the way to the agent.
        stt: what the caller hears it with.
        protocol: names the way in the record: `twilio` or `webrtc`.
        settings: what else the record should say of it.
        tools: None: it was offered none of this call's.
    """

    def __init__(
        self,
        ctx: CallContext,
        link: AgentLink,
        stt: SttEngine,
        *,
        protocol: str,
        settings: Callable[[], dict[str, object]] = dict,
        tools: AgentTools | None = None,
    ) -> None:
        self._ctx, self._link, self._stt, self._tools = ctx, link, stt, tools
        self._protocol, self._settings = protocol, settings
        self._leg = ListenedLeg(link, ctx.log, ctx.profile.frame_samples, self._never_spoke)

    @property
    def leg(self) -> Leg:
        return self._leg

    async def start(self) -> None:
        self._ctx.stack.push_async_callback(self._link.aclose)
        with self._ctx.clock.busy("load"):  # what waits for the network is no idle time
            await self._link.start()

    def greet(self) -> None:
        self._link.open()

    async def stop(self) -> None:
        self._leg.close()
        await self._link.aclose()

    def engines(self) -> dict[str, EngineInfo]:
        agent = EngineInfo(
            engine=self._protocol,
            model=agent_url(self._ctx).shown,
            counted=False,
            settings=self._settings(),
            work=self._link.work,
        )
        return {"agent": agent, "stt": self._stt.info}

    def trace(self) -> Trace:
        if self._tools is None:
            return Trace(start_role=self._ctx.resolved.pack.file.start_role)
        return self._tools.trace()

    def usage(self) -> Usage:
        return Usage()

    def state(self) -> tuple[State, CallmError | None]:
        error = self._ctx.control.error or (None if self._leg.spoke else self._silent("during the whole call"))
        if self._tools is None:
            return self._ctx.resolved.pack.seed_state(), error
        try:
            return self._tools.state(), error
        except CallmError as unread:
            return {}, error or unread

    def _never_spoke(self) -> None:
        self._ctx.control.fail(self._silent(f"within {FIRST_SOUND_LIMIT_MS / 1000:g} s"))

    def _silent(self, when: str) -> EngineError:
        return EngineError(f"{agent_url(self._ctx).shown}: the agent did not speak {when}", stage="line")


class ListenedLeg:
    """A leg whose stretches of speech are told as events.

    Args:
        inner: the agent's.
        log: of the call.
        frame_samples: of the line.
        on_never: called once if nothing was heard for `FIRST_SOUND_LIMIT_MS`.
    """

    def __init__(self, inner: Leg, log: EventLog, frame_samples: int, on_never: Callable[[], None]) -> None:
        self._inner, self._log, self._on_never = inner, log, on_never
        self._listener = Listener()
        self._silence: Frame = np.zeros(frame_samples, dtype=np.int16)
        self._stretches = self._now_ms = self._turn_id = 0
        log.listen(self._note)

    @property
    def spoke(self) -> bool:
        """Whether anything was heard of it."""
        return self._stretches > 0

    @property
    def underruns(self) -> int | None:
        """Of the inner leg, if it counts them."""
        count = getattr(self._inner, "underruns", None)
        return count if isinstance(count, int) else None

    def pull(self) -> Frame | None:
        frame = self._inner.pull()
        change = self._listener.push(self._silence if frame is None else frame)
        self._now_ms += PTIME_MS
        if isinstance(change, SpeechStarted):
            self._stretches += 1
            self._log.emit(AgentSpeechStarted, at_s=self._log.to_s(change.at_ms), stretch_id=self._stretches)
        elif isinstance(change, SpeechEnded):
            self._log.emit(AgentSpeechEnded, at_s=self._log.to_s(change.at_ms), stretch_id=self._stretches)
        if self._now_ms == FIRST_SOUND_LIMIT_MS and not self.spoke:
            self._on_never()
        return frame

    def push(self, frame: Frame) -> None:
        self._inner.push(frame)

    def clear(self) -> None:
        self._inner.clear()

    def close(self) -> None:
        """The line is over: what the agent was saying ends with it."""
        if self._listener.speaking:
            self._listener.speaking = False
            at_s = self._log.to_s(self._listener.last_loud_ms)
            self._log.emit(AgentSpeechEnded, at_s=at_s, stretch_id=self._stretches)

    def _note(self, event: Event) -> None:
        """The caller speaks up while the agent does."""
        if isinstance(event, UtteranceStarted):
            if self._listener.speaking:
                self._log.emit(BargeIn, at_s=self._log.to_s(event.t_ms), turn_id=self._turn_id)
            self._turn_id = event.utterance_id


def agent_url(ctx: CallContext) -> AgentUrl:
    """Of the call's agent.

    Raises:
        HarnessError: it is our own.
    """
    if ctx.resolved.spec.agent is None:
        raise HarnessError("this call's agent does not run elsewhere", stage="line")
    return parse_agent(ctx.resolved.spec.agent)


async def open_outside_agent(ctx: CallContext, on_played: Callable[[str], None]) -> AgentSide:
    """The agent at the address of the call's spec, ready but for `start`.

    Raises:
        CallmError: something is missing.
    """
    if agent_url(ctx).kind == "webrtc":
        from callm_voice.bench.webrtc_side import open_webrtc_side

        return await open_webrtc_side(ctx)
    from callm_voice.bench.twilio_side import open_twilio_side

    return await open_twilio_side(ctx)
