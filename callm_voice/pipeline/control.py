"""How a call ends: the first reason wins, everyone else is told."""

from __future__ import annotations

import asyncio

from callm_voice.core.errors import CallmError, EngineError, ModelError
from callm_voice.core.events import EndReason, EventLog, Failed


class CallControl:
    """Shared by all parts of one call; all run on one event loop."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._over = asyncio.Event()
        self.reason: EndReason = "cancelled"
        self.detail = ""
        self.error: CallmError | None = None

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def end(self, reason: EndReason, detail: str = "") -> None:
        """End the call; only the first call of this counts."""
        if self._over.is_set():
            return
        self.reason, self.detail = reason, detail
        self._over.set()

    def fail(self, error: CallmError) -> None:
        """End the call because a part of it broke."""
        if self._over.is_set():
            return
        self.error = error
        self._log.emit(
            Failed, stage=error.stage, fault=error.fault, message=error.message, retry_after_s=error.retry_after_s
        )
        self.end(reason_of(error), error.one_line())

    async def wait(self) -> None:
        """Return when the call is over."""
        await self._over.wait()


def reason_of(error: CallmError) -> EndReason:
    """Why a call ended that `error` broke."""
    if isinstance(error, ModelError):
        return "model_error"
    return "engine_error" if isinstance(error, EngineError) else "harness_error"
