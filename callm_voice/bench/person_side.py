"""The caller's side when a person calls: a WebRTC connection from a browser, and the call's own pipeline as the agent.

The answer to the browser's offer goes back before anything is loaded, so that the connection is made meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from callm_voice.bench.desk_side import open_desk_side
from callm_voice.bench.sides import AgentSide, CallContext, Sides
from callm_voice.core.errors import SetupError
from callm_voice.core.ids import derive_seed
from callm_voice.core.record import EngineInfo, Usage
from callm_voice.line.leg import Frame, Leg
from callm_voice.pipeline.person_leg import PersonLeg
from callm_voice.pipeline.rtc_peer import RtcPeer

CONNECT_LIMIT_S = 20.0
"""Once the engines are loaded. The connection is made meanwhile, so mostly nothing of it is waited for."""
SCRIPTED_WORDS = "someone speaks"
"""All that a scripted recogniser, which knows what is said and hears nothing, can be told of a person."""
Answer = Callable[[str], None]


class PersonCall:
    """One person's call, from the offer on.

    Args:
        offer: the browser's session description.
        on_answer: called with ours.
    """

    def __init__(self, offer: str, on_answer: Answer) -> None:
        self._offer, self._on_answer = offer, on_answer
        self._ctx: CallContext | None = None
        self._peer: RtcPeer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._gone = ""

    def sides(self) -> Sides:
        """For `run_call`."""
        return Sides(self._open_agent, self._open_caller)

    def hang_up(self, why: str) -> None:
        """The person hangs up. From any thread, at any time."""
        self._gone = self._gone or why
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end, why)

    def _end(self, why: str) -> None:
        self._gone = self._gone or why
        if self._ctx is not None:
            self._ctx.control.end("caller_hangup", why)

    async def _open_agent(self, ctx: CallContext, on_played: Callable[[str], None]) -> AgentSide:
        """Answer, then load.

        Raises:
            RtcError: the offer cannot be taken; says why.
            CallmError: something is missing.
        """
        self._ctx, self._loop = ctx, asyncio.get_running_loop()
        peer = RtcPeer(
            rate_hz=ctx.profile.rate_hz,
            codec=None,
            clock=ctx.clock,
            on_closed=self._end,
            hosts=None,  # a browser offers the addresses of its machine's networks, never loopback
            seed=derive_seed(ctx.resolved.spec.seed, "person"),
        )
        ctx.stack.push_async_callback(peer.aclose)
        self._peer = peer
        self._on_answer(await peer.answer(self._offer))
        return await open_desk_side(ctx, on_played)

    async def _open_caller(self, ctx: CallContext) -> PersonSide:
        assert self._peer is not None
        return PersonSide(ctx, self._peer, self._check_there)

    def _check_there(self) -> None:
        if self._gone:
            raise SetupError(f"the caller left before the desk answered: {self._gone}", stage="caller")


class PersonSide:
    """See `CallerSide`."""

    def __init__(self, ctx: CallContext, peer: RtcPeer, check_there: Callable[[], None]) -> None:
        self._ctx, self._peer, self._check_there = ctx, peer, check_there
        self._leg = PersonLeg(peer, ctx.log, lambda begin, end: ctx.said.add(SCRIPTED_WORDS, begin, end))

    @property
    def leg(self) -> Leg:
        return self._leg

    @property
    def rehearsed(self) -> list[Frame]:
        """Nobody knows what a person will say."""
        return []

    async def prepare(self) -> None:
        """Wait until the person is connected.

        Raises:
            RtcError: the connection cannot be made.
            SetupError: the person has left.
        """
        self._ctx.on_progress("waiting for the caller's connection")
        await self._peer.connected(CONNECT_LIMIT_S)
        self._check_there()

    def agent_played(self, text: str) -> None:
        """A person hears for themselves."""

    async def aclose(self) -> None:
        self._leg.hang_up()
        await self._peer.aclose()

    def engines(self) -> dict[str, EngineInfo]:
        peer, audio, counts = self._peer, self._peer.audio, self._peer.counts
        return {
            "caller": EngineInfo(
                engine="person",
                model="webrtc",
                settings={
                    "codec": audio.codec if audio else None,
                    "telephone_events": bool(audio and audio.events_payload_type is not None),
                    "concealed_by": peer.concealed_by,
                },
                counted=False,
                work={
                    "packets_received": float(peer.received),
                    "packets_sent": float(peer.sent),
                    "late": float(counts.late),
                    "concealed": float(counts.concealed),
                    "jitter_buffer_ms": round(peer.buffer_ms, 1),
                },
            )
        }

    def usage(self) -> Usage | None:
        """No model plays a person."""
        return None
