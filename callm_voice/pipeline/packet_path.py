"""A direction of the line whose packets are really sent: from one WebRTC peer to another, by UDP on this machine.

Stands in the line's channel where the simulated network stands otherwise (`line.packets.Packets`), so microphone, band,
further codecs, recording and counts are the same. A packet cannot be played on the tick on which it leaves, so sound is
one packet time later than in the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from callm_voice.audio.pcm import Pcm
from callm_voice.core.events import ConcealedBy
from callm_voice.line.jitter import Counts
from callm_voice.line.leg import PTIME_MS
from callm_voice.line.network import PacketNetwork
from callm_voice.line.packets import Burst, BurstNotes
from callm_voice.pipeline.rtc_peer import RtcPeer

MOST_TURNS = 10
"""Of the event loop; a packet that is not there then was dropped by the kernel."""


def _none() -> None:
    return None


class LivePath:
    """See `Packets`.

    Args:
        source, sink: the two ends, connected before the first `process`.
        network: what the source's packets go through before they are sent; None: nothing.
        pressed: the key that is pressed in this packet time, so that an event goes instead of the sound.
    """

    def __init__(
        self,
        source: RtcPeer,
        sink: RtcPeer,
        network: PacketNetwork | None,
        pressed: Callable[[], str | None] = _none,
    ) -> None:
        self._source, self._sink, self._network, self._pressed = source, sink, network, pressed
        self._notes = BurstNotes(sink.concealed_by)
        self._tick = 0

    @property
    def delay_ms(self) -> float:
        """Of the jitter buffer now, and the packet time until a packet can be played."""
        return self._sink.buffer_ms + PTIME_MS

    @property
    def counts(self) -> Counts:
        """Of the jitter buffer so far."""
        return self._sink.counts

    @property
    def concealed_by(self) -> ConcealedBy:
        """What stands in for missing packets."""
        return self._sink.concealed_by

    @property
    def sent(self) -> int:
        """Packets so far, copies of a key's end among them."""
        return self._source.sent

    @property
    def lost(self) -> int:
        """Packets that were never sent because the network lost them."""
        return self._network.lost if self._network else 0

    @property
    def mean_burst(self) -> float | None:
        """Mean number of slots concealed in a row so far; None: none were."""
        return self._notes.mean_burst

    def process(self, frame: Pcm) -> Pcm:
        """Send this packet time's frame; what is heard at the far end meanwhile. Both (samples,) int16."""
        before = self.lost
        self._source.send(frame, self._pressed())
        if self.lost > before:
            self._notes.lost(self._tick)
        pulled, heard = self._sink.pull_slot()
        self._notes.note(pulled, self._tick)
        self._tick += 1
        return heard

    async def arrived(self) -> None:
        """Let the loop run until the sink has all that has left the source. On loopback a datagram is there as soon as
        it is sent; what takes turns of the loop is to read and decrypt it."""
        for _ in range(MOST_TURNS):
            if self._sink.received >= self._source.due:
                return
            await asyncio.sleep(0)

    def finished_bursts(self, *, end: bool = False) -> list[Burst]:
        """Bursts that are over and were not given out before; with `end` the open one too."""
        return self._notes.finished(end=end)
