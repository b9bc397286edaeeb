"""Lets a running call be watched (`core.livefiles`) without a word to its line.

A thread looks several times a second whether a watcher's folder lies there. It reads what the line and the log have
only ever appended to, so no tick waits for it, for a disk or for a listener, and a call that nobody watches pays for
one `stat`. The thread follows wall time at either pace: at the fast one a call's sound grows faster than it plays.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from callm_voice.core.events import EventLog, json_line
from callm_voice.core.livefiles import LIVE_EVENTS, LIVE_SOUND, NOW_FILE, OVER_FILE, SOUND_WANTED, live_dir, wav_head
from callm_voice.line.recorder import Recorder

LOOK_EVERY_S = 0.25
BLOCK_TICKS = 500
"""Copied at once: ten seconds, so that the interpreter is never held for long."""


@contextmanager
def live_tap(work: Path, log: EventLog) -> Iterator[LiveTap]:
    """The tap of one call, until the call is over.

    Args:
        work: the call's unfinished folder.
    """
    tap = LiveTap(work, log)
    tap.start()
    try:
        yield tap
    finally:
        tap.stop()


class LiveTap:
    """Use `live_tap`."""

    def __init__(self, work: Path, log: EventLog) -> None:
        self._dir, self._log = live_dir(work), log
        self._recorder: Recorder | None = None
        self._events = 0
        self._ticks: int | None = None
        """Written so far; None: the file of sound was not begun."""
        self._looks = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="callm-live", daemon=True)

    def follow(self, recorder: Recorder) -> None:
        """The line is open, and this is its recording."""
        self._recorder = recorder

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """The call is over: write the rest and end. Safe to call twice."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        # A call is worth more than its watchers: where the files cannot be written, there is nothing to see.
        with contextlib.suppress(OSError):
            while not self._over.wait(LOOK_EVERY_S):
                # A watcher who saw no answer may take the empty folder away in between: another may ask again.
                with contextlib.suppress(FileNotFoundError):
                    self._look()
            self._look()
            if self._dir.is_dir():
                (self._dir / OVER_FILE).touch()

    def _look(self) -> None:
        if not self._dir.is_dir():
            return
        self._write_events()
        if self._recorder is not None and (self._dir / SOUND_WANTED).exists():
            self._write_sound(self._recorder)
        self._write_now()

    def _write_events(self) -> None:
        """What was logged since, or an empty file to say that somebody is there."""
        news = self._log.events[self._events :]
        with (self._dir / LIVE_EVENTS).open("ab") as file:
            file.write("".join(map(json_line, news)).encode("utf-8", "replace"))
        self._events += len(news)

    def _write_sound(self, recorder: Recorder) -> None:
        with (self._dir / LIVE_SOUND).open("ab") as file:
            if self._ticks is None:
                file.write(wav_head(recorder.rate_hz))
                self._ticks = 0
            while self._ticks < recorder.ticks:
                last = min(recorder.ticks, self._ticks + BLOCK_TICKS)
                file.write(recorder.interleaved(self._ticks, last))
                self._ticks = last

    def _write_now(self) -> None:
        self._looks += 1
        if self._recorder is not None:
            line_ms = float(self._recorder.duration_ms)
        else:
            line_ms = max(0.0, self._log.events[-1].t_ms) if self._log.events else 0.0
        temporary = self._dir / f".{NOW_FILE}"
        temporary.write_text(json.dumps({"line_ms": line_ms, "looks": self._looks}), encoding="ascii")
        temporary.replace(self._dir / NOW_FILE)
