"""Where a fault gets into a call. Each hook gives back what it was given unless the call's fault is about it."""

from __future__ import annotations

import os
import signal
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from callm_voice.bench.fault_engines import FaultyStt, FaultyTts, SilentCaller
from callm_voice.bench.faults import Fault
from callm_voice.caller.base import Caller
from callm_voice.core.clock import RealClock
from callm_voice.core.events import Event, EventLog, ToolStarted, TranscriptReady
from callm_voice.core.runfolder import AUDIO_FILE, EVENTS_FILE, GOLD_FILE, RECORD_FILE, STATE_FILE
from callm_voice.desk.database import CallDatabase
from callm_voice.desk.pack import Pack
from callm_voice.llm.faults import FaultProxy
from callm_voice.speech.engines import SttEngine, TtsEngine

JUMP_S = -3600.0
FULL_DISK = "/dev/full"
"""Every write to it is refused with ENOSPC, by the kernel (Linux)."""
FILES = (EVENTS_FILE, STATE_FILE, GOLD_FILE, AUDIO_FILE, RECORD_FILE)
"""Of a call folder, in the order in which they are written."""


class FaultHooks:
    """The fault of one call, or none.

    Args:
        fault: None: every hook does nothing.
    """

    def __init__(self, fault: Fault | None = None) -> None:
        self._fault = fault
        self._proxy: FaultProxy | None = None

    @property
    def warnings(self) -> list[str]:
        """For the record: a call with a fault in it is no measurement."""
        return [f"fault injected: {self._fault}"] if self._fault else []

    def proxy(self, clock: RealClock, stack: AsyncExitStack) -> Callable[[str], Awaitable[str]] | None:
        """What stands between the client and the model's server."""
        if self._fault is None or not self._fault.name.startswith("llm-"):
            return None
        self._proxy = FaultProxy(self._fault.name, self._fault.hits, clock)
        stack.push_async_callback(self._proxy.aclose)
        return self._proxy.route

    def arm(self) -> None:
        """The model is warm: its requests count from now on."""
        if self._proxy is not None:
            self._proxy.arm()

    def stt(self, engine: SttEngine) -> SttEngine:
        """The agent's recogniser."""
        return FaultyStt(engine, self._fault) if self._fault and self._fault.name.startswith("stt-") else engine

    def tts(self, engine: TtsEngine) -> TtsEngine:
        """The agent's voice."""
        return FaultyTts(engine, self._fault) if self._fault and self._fault.name.startswith("tts-") else engine

    def mind(self, caller: Caller) -> Caller:
        """The caller."""
        return SilentCaller(caller, self._fault) if self._is("caller-silent") and self._fault else caller

    def database(self, pack: Pack, log: EventLog, stack: AsyncExitStack) -> CallDatabase:
        """The call's database; one that is to be locked is a file, as nobody else can reach one in memory."""
        if not self._is("database-locked"):
            return pack.open_database()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="callm-locked-")))
        database = pack.open_database(folder / "call.db")
        other = sqlite3.connect(folder / "call.db", isolation_level=None)
        stack.callback(other.close)
        self._at(ToolStarted, log, lambda: _lock(other))
        return database

    def watch(self, log: EventLog, clock: RealClock) -> None:
        """What happens to the process or its clock at a moment of the call."""
        if self._is("worker-killed"):
            self._at(TranscriptReady, log, lambda: os.kill(os.getpid(), signal.SIGKILL))
        elif self._is("clock-jump"):
            self._at(TranscriptReady, log, lambda: _jump(clock))

    def folder(self, work: Path) -> None:
        """The folder that the call is about to be written into."""
        if self._is("disk-full") and self._fault is not None:
            for number, name in enumerate(FILES, start=1):
                if self._fault.hits(number):
                    (work / name).symlink_to(FULL_DISK)

    def _is(self, name: str) -> bool:
        return self._fault is not None and self._fault.name == name

    def _at(self, kind: type[Event], log: EventLog, act: Callable[[], None]) -> None:
        """Do it when the fault is due, at the n-th event of a kind."""
        seen = 0

        def look(event: Event) -> None:
            nonlocal seen
            if isinstance(event, kind) and self._fault is not None:
                seen += 1
                if self._fault.hits(seen):
                    act()

        log.listen(look)


def _lock(other: sqlite3.Connection) -> None:
    if not other.in_transaction:
        other.execute("BEGIN EXCLUSIVE")


def _jump(clock: RealClock) -> None:
    clock.date_jump_s += JUMP_S
