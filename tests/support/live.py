"""A live page's server on a port of this machine, and calls for it to show that go on as a test says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import uvicorn
from support.records import full_record

from callm_voice.bench.livetap import LiveTap, live_tap
from callm_voice.core.clock import RealClock
from callm_voice.core.events import CallEnded, CallStarted, EventLog, UtteranceStarted
from callm_voice.core.runfolder import CallFolder, call_dir, open_call_folder
from callm_voice.line.recorder import Recorder
from callm_voice.web.live import Live
from callm_voice.web.server import config, listen
from callm_voice.web.settings import ServeSettings

RATE_HZ = 8_000
FRAME = 160
LIMIT_S = 30.0
TASK, MODEL, LINE = "C1-E1", "oracle", "pstn-g711u"
_pause = threading.Event()


def until(holds: Callable[[], Any], what: str, limit_s: float = LIMIT_S) -> Any:
    """Look again and again until it holds; what it gave."""
    for _ in range(int(limit_s / 0.02)):
        if found := holds():
            return found
        _pause.wait(0.02)
    raise AssertionError(f"{what}: not within {limit_s:g} s")


class ToldCall:
    """A call whose line and log a test moves by hand; its tap and its folder are the real ones."""

    def __init__(self, folder: CallFolder, tap: LiveTap, log: EventLog, *, sound: bool = True) -> None:
        self.folder, self.tap, self.log = folder, tap, log
        self.recorder = Recorder(RATE_HZ)
        if sound:
            tap.follow(self.recorder)

    @property
    def work(self) -> Path:
        return self.folder.work

    def open_line(self, pace: str = "real") -> None:
        """Tick 0 is now."""
        self.log.start_line(0.0)
        self.log.emit(
            CallStarted, at_s=0.0, task=f"demo/{TASK}", model=MODEL, line=LINE, pipeline="scripted", pace=pace, seed=1
        )

    def tick(self, count: int = 50) -> None:
        """Both parties speak: rising numbers on the left, falling ones on the right."""
        for _ in range(count):
            at = np.arange(self.recorder.ticks * FRAME, (self.recorder.ticks + 1) * FRAME) % 30_000
            self.recorder.add((at + 1).astype(np.int16), (-at - 1).astype(np.int16))

    def say(self, words: str) -> None:
        """One utterance begins."""
        number = len(self.log.of(UtteranceStarted)) + 1
        at_s = self.recorder.duration_ms / 1000
        self.log.emit(UtteranceStarted, at_s=at_s, utterance_id=number, said=words, spoken=words)

    def hang_up(self) -> None:
        """The last event."""
        self.log.emit(CallEnded, at_s=self.recorder.duration_ms / 1000, reason="caller_hangup")

    def complete(self) -> Path:
        """The tap ends, the files are written, the folder gets its name."""
        from callm_voice.core.events import to_jsonl
        from callm_voice.core.runfolder import AUDIO_FILE, EVENTS_FILE

        self.tap.stop()
        self.folder.write_text(EVENTS_FILE, to_jsonl(self.log.events))
        if self.recorder.ticks:
            self.recorder.write(self.folder.path(AUDIO_FILE))
        return self.folder.complete(full_record())

    def all_sound(self) -> bytes:
        """What listeners are to get."""
        return self.recorder.interleaved(0, self.recorder.ticks)


@contextmanager
def told_call(run: Path, *, trial: int = 1, line: str = LINE, sound: bool = True) -> Iterator[ToldCall]:
    """A call under way, until the block ends."""
    clock = RealClock()
    final = call_dir(run, pack="demo", task=TASK, model=MODEL, line=line, trial=trial)
    with ExitStack() as stack:
        stack.callback(clock.close)
        folder = stack.enter_context(open_call_folder(final))
        log = EventLog(clock)
        tap = stack.enter_context(live_tap(folder.work, log))
        yield ToldCall(folder, tap, log, sound=sound)


@dataclass(frozen=True)
class Served:
    """A server that answers."""

    url: str
    """With the slash at its end."""
    live: Live
    server: uvicorn.Server

    @property
    def connections(self) -> int:
        """Open on the server's side."""
        return len(self.server.server_state.connections)

    @property
    def ws(self) -> str:
        return self.url.replace("http://", "ws://")


@contextmanager
def live_server(run: Path, **settings: Any) -> Iterator[Served]:
    """As `callm-voice serve` does it, in a thread; it has ended when the block has."""
    listener = listen("127.0.0.1", 0)
    made = config(ServeSettings(run=run, **settings))
    server = uvicorn.Server(made)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="callm-live-server")
    thread.start()
    try:
        until(lambda: server.started, "the server starts")
        yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}/", made.app.state.live, server)
    finally:
        server.should_exit = True
        thread.join(LIMIT_S)
        listener.close()
        assert not thread.is_alive()


def call_of(server: Served, state: str = "") -> str:
    """Id of the one call that the list shows, as soon as it is in that state."""

    def found() -> str:
        listed = httpx.get(f"{server.url}api/calls", timeout=LIMIT_S).json()
        calls = [*listed["running"], *listed["finished"]]
        return next((str(c["id"]) for c in calls if not state or c["state"] == state), "")

    return str(until(found, f"a call is {state or 'listed'}", 60))
