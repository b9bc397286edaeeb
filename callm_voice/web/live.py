"""What one server holds: the run's calls, who listens, the report; and what the pages are told of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request, WebSocket

from callm_voice.bench.callspec import TEXT_LINE
from callm_voice.core.clock import RealClock
from callm_voice.web.index import CallIndex, Entry
from callm_voice.web.outlines import NEWEST, Outline, Outlines
from callm_voice.web.report import ReportBuilder
from callm_voice.web.settings import ServeSettings
from callm_voice.web.sockets import Sockets
from callm_voice.web.streams import Hearing
from callm_voice.web.watch import Running, Watch
from verifier.trace import clean_json

LOOK_EVERY_S = 0.4
CALL_IN = "/call-in"
"""The page on which a person calls in."""


class Live:
    """One server's own; `live_of` gives it to a route."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.clock = RealClock(threads=8)
        self.index = CallIndex(settings.run, self.clock)
        self.watch = Watch(self.index, self.clock)
        self.hearing = Hearing()
        self.sockets = Sockets(settings.max_sockets)
        self.report = ReportBuilder(self.index, self.clock)
        self._outlines = Outlines()
        self._looking = asyncio.Lock()
        self._seen: dict[str, Any] = {}
        self._seen_s = float("-inf")

    @asynccontextmanager
    async def running(self, app: FastAPI) -> AsyncIterator[None]:
        """From the server's start to its end."""
        building = asyncio.create_task(self.report.run(), name="report")
        try:
            yield
        finally:
            building.cancel()
            with suppress(asyncio.CancelledError):
                await building
            self.watch.close()
            self.clock.close()

    async def overview(self) -> dict[str, Any]:
        """The run's calls, as `/api/calls` gives them."""
        self.report.look()
        async with self._looking:  # one look serves all who ask meanwhile
            if self.clock.now_s() - self._seen_s >= LOOK_EVERY_S:
                self._seen = await self._look()
                self._seen_s = self.clock.now_s()
            return self._seen

    async def _look(self) -> dict[str, Any]:
        running = await self.watch.running()
        finished = (await self.index.look()).finished
        newest = await self.clock.in_thread("read", self._outlines.of, finished[:NEWEST])
        told: dict[str, Any] = clean_json(  # one file that holds what JSON cannot must not cost the whole list
            {
                "run": self.settings.run.name,
                "running": [_running(call) for call in running],
                "finished": [self._finished(outline) for outline in newest],
                "finished_count": len(finished),
                "report": {"ready": self.report.site is not None, "error": self.report.error},
            }
        )
        return told

    async def about(self, entry: Entry) -> dict[str, Any]:
        """One call, for its page."""
        overview = await self.overview()
        found = next((c for c in (*overview["running"], *overview["finished"]) if c["id"] == entry.id), None)
        if found is not None:
            return dict(found)
        # Not among the newest, or it does not answer yet: its folders' names say what it is.
        _, pack, task, model, line, *_ = entry.names
        href = self.report.href(entry)
        return {
            "id": entry.id, "task": f"{pack}/{task}", "model": model, "line": line, "trial": entry.trial,
            "state": "finished" if entry.finished else "opening", "href": f"report/{href}" if href else "",
        }  # fmt: skip

    def _finished(self, outline: Outline) -> dict[str, Any]:
        href = self.report.href(outline.entry)
        return {
            "id": outline.entry.id, "state": "finished", "task": outline.task, "model": outline.model,
            "line": outline.line, "trial": outline.entry.trial, "status": outline.status, "kind": outline.kind,
            "end_reason": outline.end_reason, "started_at": outline.started_at, "line_ms": outline.duration_ms,
            "href": f"report/{href}" if href else "",
        }  # fmt: skip


def _running(call: Running) -> dict[str, Any]:
    return {
        "id": call.entry.id, "state": call.state, "task": call.task, "model": call.model, "line": call.line,
        "trial": call.entry.trial, "pace": call.pace, "turn": call.turn, "line_ms": call.line_ms, "doing": call.doing,
    }  # fmt: skip


def has_sound(entry: Entry) -> bool:
    """Whether the call goes over a line with sound."""
    return entry.names[4] != TEXT_LINE


def live_of(connection: Request | WebSocket) -> Live:
    """The server that this request or websocket came to."""
    found = connection.app.state.live
    assert isinstance(found, Live)
    return found
