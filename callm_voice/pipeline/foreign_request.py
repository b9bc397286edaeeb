"""What is asked of a service once, and where what it answers comes out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from pipecat.frames.frames import DataFrame, Frame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from callm_voice.core.errors import CallmError


@dataclass
class DoneFrame(DataFrame):
    """Comes out of the service behind all that belongs to a request."""


class Request:
    """One utterance or sentence. Made and used on the host's loop."""

    def __init__(self) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(self, frame: Frame) -> None:
        """A frame that came out of the service."""
        if isinstance(frame, DoneFrame):
            self.end()

    def end(self) -> None:
        """Nothing more belongs to it."""
        if not self.over.done():
            self.over.set_result(None)

    def fail(self, error: CallmError) -> None:
        """It came to nothing."""
        if not self.over.done():
            self.over.set_exception(error)

    async def wait(self) -> None:
        """Return when it is over."""
        await self.over


class Outlet(FrameProcessor):
    """Stands behind the service; everything that comes out of it goes to `came` as well."""

    def __init__(self, came: Callable[[Frame], None]) -> None:
        super().__init__()
        self._came = came

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction == FrameDirection.DOWNSTREAM:
            self._came(frame)
        await self.push_frame(frame, direction)
