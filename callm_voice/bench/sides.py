"""The two ends of a voice call, as `voice_call` sees them: whoever the caller is, and wherever the agent runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Protocol

from callm_voice.bench.resolve import ResolvedCall
from callm_voice.bench.workshop import Workshop
from callm_voice.core.clock import RealClock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import EventLog
from callm_voice.core.record import EngineInfo, Usage
from callm_voice.line.leg import Frame, Leg
from callm_voice.line.profile import LineProfile
from callm_voice.pipeline.control import CallControl
from callm_voice.pipeline.foreign_open import open_stt
from callm_voice.speech.engines import SttEngine
from callm_voice.speech.factory import make_stt
from callm_voice.speech.said import SaidLog
from callm_voice.speech.settings import ScriptedSttSettings, SttSettings
from verifier.trace import State, Trace


class AgentSide(Protocol):
    """The agent's end. `start`, then `greet` as the line opens, then the line runs, then `stop`."""

    @property
    def leg(self) -> Leg: ...

    async def start(self) -> None:
        """Be ready for the line to open.

        Raises:
            CallmError: something is missing.
        """
        ...

    def greet(self) -> None:
        """The line opens now."""
        ...

    async def stop(self) -> None:
        """Wait until nothing of it runs any more. Safe to call twice."""
        ...

    def engines(self) -> dict[str, EngineInfo]:
        """What it is made of, by the record's names, with what they did so far. Also asked before `start`."""
        ...

    def trace(self) -> Trace: ...
    def usage(self) -> Usage: ...

    def state(self) -> tuple[State, CallmError | None]:
        """The database at hang-up; an error if it cannot be read."""
        ...


class CallerSide(Protocol):
    """The caller's end. `prepare`, then the line runs, then `aclose`."""

    @property
    def leg(self) -> Leg: ...

    @property
    def rehearsed(self) -> list[Frame]:
        """What it will say, as far as it is known before the line opens (PCM at the line's rate); after `prepare`."""
        ...

    async def prepare(self) -> None:
        """Be ready for the line to open.

        Raises:
            CallmError: something is missing.
        """
        ...

    def agent_played(self, text: str) -> None:
        """Words of the agent's, once they were played; an agent that runs elsewhere never says."""
        ...

    async def aclose(self) -> None:
        """Wait until nothing of it runs any more. Safe to call twice."""
        ...

    def engines(self) -> dict[str, EngineInfo]:
        """What it is made of, by the record's names."""
        ...

    def usage(self) -> Usage | None:
        """Of the model that plays it, if one does."""
        ...


@dataclass
class CallContext:
    """What both sides of one call share. Whatever a side opens it enters into `stack`, which closes it."""

    resolved: ResolvedCall
    profile: LineProfile
    clock: RealClock
    log: EventLog
    control: CallControl
    on_progress: Callable[[str], None]
    shop: Workshop
    stack: AsyncExitStack
    said: SaidLog = field(default_factory=SaidLog)
    """What the caller says when: the scripted recogniser's only source."""
    extra_files: dict[str, str] = field(default_factory=dict)
    """Name → text of what else goes into the call's folder; filled until all is closed."""
    _stt: SttEngine | None = None

    async def stt(self) -> SttEngine:
        """The call's recogniser, opened once: the agent's, and the caller's ears if the pipeline gives it any.

        Raises:
            CallmError: it cannot be opened.
        """
        if self._stt is None:
            self._stt = await open_stt(self.resolved.pipeline.stt, self._make_stt, self.clock, self.stack)
        return self._stt

    def _make_stt(self, settings: SttSettings) -> SttEngine:
        """A scripted recogniser is told by each call what is said in it, so it is never kept."""
        if isinstance(settings, ScriptedSttSettings):
            return make_stt(settings, self.said.lookup)
        return self.shop.engine("stt", make_stt, settings)


OpenAgent = Callable[[CallContext, Callable[[str], None]], Awaitable[AgentSide]]
"""Opens the agent's side; the second argument is to be called with the agent's words as they were played."""
OpenCaller = Callable[[CallContext], Awaitable[CallerSide]]


@dataclass(frozen=True)
class Sides:
    """Who is at the two ends of a call."""

    open_agent: OpenAgent
    open_caller: OpenCaller


def infos(*sides: AgentSide | CallerSide) -> Sequence[EngineInfo]:
    """All engines of both sides."""
    return [info for side in sides for info in side.engines().values()]
