"""The far end of a WebRTC connection, made of aiortc alone as an ordinary program makes it: tracks, its own pacing."""

from __future__ import annotations

import asyncio
import fractions
from dataclasses import dataclass, field

import numpy as np
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame

RATE_HZ = 8000
SAMPLES = RATE_HZ // 50


class ToneTrack(MediaStreamTrack):
    """A tone for as long as it is asked, a packet every 20 ms."""

    kind = "audio"

    def __init__(self, hz: float = 440.0, peak: int = 8000) -> None:
        super().__init__()
        self._hz, self._peak, self._at, self._zero_s = hz, peak, 0, 0.0

    async def recv(self) -> AudioFrame:
        loop = asyncio.get_running_loop()
        if not self._at:
            self._zero_s = loop.time()
        await asyncio.sleep(max(0.0, self._zero_s + self._at / RATE_HZ - loop.time()))
        t_s = (self._at + np.arange(SAMPLES)) / RATE_HZ
        pcm = (self._peak * np.sin(2 * np.pi * self._hz * t_s)).astype(np.int16)
        frame = AudioFrame.from_ndarray(pcm.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE_HZ, self._at, fractions.Fraction(1, RATE_HZ)
        self._at += SAMPLES
        return frame


@dataclass
class FarEnd:
    """One connection; `heard` fills with what its track receives, (samples,) int16 each."""

    track: MediaStreamTrack | None = None
    heard: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._reading: asyncio.Task[None] | None = None
        self.connection.on("track", self._listen)

    async def answer(self, offer: str) -> str:
        await self.connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        if self.track is not None:
            self.connection.addTrack(self.track)
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        return self.connection.localDescription.sdp

    async def offer(self) -> str:
        self.connection.addTrack(self.track or ToneTrack())
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    async def accept(self, answer: str) -> None:
        await self.connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    async def aclose(self) -> None:
        await self.connection.close()
        if self._reading is not None:
            await self._reading

    def _listen(self, track: MediaStreamTrack) -> None:
        self._reading = asyncio.create_task(self._read(track))

    async def _read(self, track: MediaStreamTrack) -> None:
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            self.heard.append(frame.to_ndarray().reshape(-1))
