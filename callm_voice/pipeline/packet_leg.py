"""The packet leg: the caller reaches our own agent over a WebRTC connection inside this machine.

Two peers in this process, one at the caller's end and one at the agent's, are joined as telephones are: offer, answer,
ICE on loopback, DTLS. Each direction's RTP packets then go encrypted through the kernel's UDP. Loss and jitter of the
line's profile are done to the packets themselves: a lost one is not sent, a late one is sent late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib.metadata import version

from callm_voice.core.clock import Clock
from callm_voice.core.errors import CallmError
from callm_voice.core.events import Direction
from callm_voice.core.ids import derive_seed
from callm_voice.core.record import EngineInfo
from callm_voice.line.packets import make_network
from callm_voice.line.profile import LineProfile
from callm_voice.line.profile_parts import AdaptiveBuffer
from callm_voice.pipeline.packet_path import LivePath
from callm_voice.pipeline.rtc_peer import MediaSpec, RtcPeer
from callm_voice.pipeline.rtc_sdp import RtcError

CONNECT_LIMIT_S = 10.0
LEAST_BUFFER = AdaptiveBuffer(kind="adaptive", min_ms=0, max_ms=60)
"""For a line without a network: a packet that this machine brings late is waited for instead of being lost."""
_DIRECTIONS: tuple[Direction, Direction] = ("to_agent", "to_caller")


class PacketLeg:
    """The connection of one call, as long as it lasts.

    Args:
        profile: names codec, loss, jitter, buffer and concealment.
        clock: of the call.
        seed: of the call's line. Which packets are lost is what the simulated network would lose with it.
        pressed: the key that the caller presses in this packet time.
        on_error: called once if the connection breaks.
    """

    def __init__(
        self,
        profile: LineProfile,
        clock: Clock,
        seed: int,
        *,
        pressed: Callable[[], str | None],
        on_error: Callable[[CallmError], None],
    ) -> None:
        self._profile, self._on_error = profile, on_error
        network = profile.network
        self._networks = {
            way: None if network is None else make_network(network, derive_seed(seed, way, "packets"))
            for way in _DIRECTIONS
        }
        self._caller, self._agent = (
            RtcPeer(
                rate_hz=profile.rate_hz,
                codec=profile.codec,
                clock=clock,
                on_closed=self._broke,
                media=MediaSpec(
                    buffer=LEAST_BUFFER if network is None else network.buffer,
                    concealment="codec" if network is None else network.concealment,
                    codec_mode=profile.codec_mode,
                    network=self._networks[way],
                ),
                seed=derive_seed(seed, way, "rtp"),
                silent_limit_s=None,
            )
            for way in _DIRECTIONS
        )
        self._pressed = pressed
        self.paths: dict[Direction, LivePath] = {}
        """By direction; after `connect`."""

    async def connect(self, stack: AsyncExitStack) -> None:
        """Join the two ends; `stack` closes them.

        Raises:
            RtcError: they do not come together.
        """
        for peer in (self._caller, self._agent):
            stack.push_async_callback(peer.aclose)
        await self._caller.accept(await self._agent.answer(await self._caller.offer()))
        await asyncio.gather(self._caller.connected(CONNECT_LIMIT_S), self._agent.connected(CONNECT_LIMIT_S))
        to_agent, to_caller = self._networks["to_agent"], self._networks["to_caller"]
        self.paths = {
            "to_agent": LivePath(self._caller, self._agent, to_agent, self._pressed),
            "to_caller": LivePath(self._agent, self._caller, to_caller),
        }

    def info(self) -> EngineInfo:
        """The connection as an engine of the record. Its work is the kernel's and cannot be counted."""
        audio = self._caller.audio
        settings = {} if audio is None else {"codec": audio.codec, "payload_type": audio.payload_type}
        events = audio is not None and audio.events_payload_type is not None
        return EngineInfo(
            engine="webrtc",
            model=f"aiortc {version('aiortc')}",
            counted=False,
            settings={**settings, "telephone_events": events},
            work={
                "packets_received_by_agent": float(self._agent.received),
                "packets_received_by_caller": float(self._caller.received),
            },
        )

    def _broke(self, why: str) -> None:
        self._on_error(RtcError(f"the connection between caller and agent broke: {why}"))
