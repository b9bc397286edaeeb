"""The running calls of a run: what they are, how far they are. Only while somebody wants to know are they asked."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from callm_voice.bench.callspec import TEXT_LINE
from callm_voice.core.clock import RealClock
from callm_voice.core.livefiles import unfinished
from callm_voice.web.index import CallIndex, Entry
from callm_voice.web.lines import Lines
from callm_voice.web.streams import FINISH_S, surely
from callm_voice.web.tails import Heartbeat, Tail, is_over

State = Literal["opening", "running", "ending"]
FORGET_AFTER_S = 30.0
"""Nobody has looked for so long: the files are given back."""


@dataclass(frozen=True)
class Running:
    """One call that is under way."""

    entry: Entry
    state: State
    """`opening`: its line is not open yet. `ending`: its line is closed, and it is being scored."""
    task: str
    model: str
    line: str
    pace: str
    turn: int
    """Of the caller's that began last; 0: the agent's greeting."""
    line_ms: float
    """Length of the line so far."""
    doing: str
    """What happened last, in a word or two."""


DOINGS = {
    "utterance_started": "caller speaks",
    "transcript_ready": "heard",
    "inference_started": "model thinks",
    "tool_started": "tool",
    "handed_off": "handoff",
    "playout_started": "agent speaks",
    "barge_in": "barge-in",
    "call_ended": "hung up",
}


class Watch:
    """All running calls of one run."""

    def __init__(self, index: CallIndex, clock: RealClock) -> None:
        self._index, self._clock = index, clock
        self._watched: dict[Entry, _Watched] = {}
        self._forgets: asyncio.TimerHandle | None = None
        self._forgetting: asyncio.Future[None] | None = None

    async def running(self) -> list[Running]:
        """Those that answer, as far as they have come. A call is seen to run at the second look after it was asked."""
        self._forget_later()
        found = await self._index.look()
        there = set(found.unfinished)
        gone = [e for e, watched in self._watched.items() if e not in there or watched.stale]
        if gone:
            await surely(partial(_close, [self._watched.pop(entry) for entry in gone]), self._clock)
        for entry in found.unfinished:
            if entry not in self._watched:
                self._watched[entry] = _Watched(entry, self._clock)
        seen = await self._clock.in_thread("look", _refresh, list(self._watched.values()))
        return [running for running in seen if running is not None]

    def close(self) -> None:
        """Give all files back, and wait for it: nobody is served any more."""
        if self._forgets is not None:
            self._forgets.cancel()
        _close(self._take_all())

    def _forget_later(self) -> None:
        if self._forgets is not None:
            self._forgets.cancel()
        self._forgets = asyncio.get_running_loop().call_later(FORGET_AFTER_S, self._forget)

    def _forget(self) -> None:
        closing = surely(partial(_close, self._take_all()), self._clock)
        self._forgetting = asyncio.ensure_future(closing)  # the loop itself keeps no task alive

    def _take_all(self) -> list[_Watched]:
        taken = list(self._watched.values())
        self._watched.clear()
        return taken


def _close(all_of_them: list[_Watched]) -> None:
    for watched in all_of_them:
        watched.close()


def _refresh(all_of_them: list[_Watched]) -> list[Running | None]:
    return [watched.refresh() for watched in all_of_them]


class _Watched:
    """One unfinished call, whether it runs or not."""

    def __init__(self, entry: Entry, clock: RealClock) -> None:
        self._entry, self._work, self._clock = entry, unfinished(entry.folder), clock
        self._heart = Heartbeat(self._work, clock)
        self._tail = Tail.events(self._work, clock)
        self._lines = Lines()
        self._opened: dict[str, Any] = {}
        self._turn, self._doing = 0, ""
        self._over_since_s: float | None = None

    @property
    def stale(self) -> bool:
        """What was read is not of the call that may run now: it was killed, or is made again."""
        return self._tail.ended and self._over_since_s is None

    def close(self) -> None:
        """Give the file back."""
        self._tail.close()

    def refresh(self) -> Running | None:
        """Where it is now; None: nobody says."""
        self._heart.look()
        while block := self._tail.read():
            self._take(block)
        if self._tail.ended:
            self._tail.close()
        if not self._heart.beats or not self._is_under_way():
            return None
        names, now = self._entry.names, self._heart.now
        return Running(
            self._entry,
            state="ending" if self._over_since_s is not None else "running" if self._opened else "opening",
            task=str(self._opened.get("task", f"{names[1]}/{names[2]}")),
            model=str(self._opened.get("model", names[3])),
            line=str(self._opened.get("line", names[4])),
            pace=str(self._opened.get("pace", "")),
            turn=self._turn,
            line_ms=now.line_ms if now else 0.0,
            doing=self._doing,
        )

    def _is_under_way(self) -> bool:
        """It stirs, or has ended a moment ago; the folder of a call that could not be written stays as it is."""
        if not is_over(self._work):
            return not self._heart.lost
        now_s = self._clock.now_s()
        if self._over_since_s is None:
            self._over_since_s = now_s
        return now_s - self._over_since_s < FINISH_S

    def _take(self, block: bytes) -> None:
        for line in self._lines.take(block):
            # A line that is none of ours, or too long to be one, tells nothing.
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                if line is not None:
                    self._note(json.loads(line))

    def _note(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        if kind == "call_started":
            self._opened = event
        elif kind == "vad_started" or (kind == "transcript_ready" and self._opened.get("line") == TEXT_LINE):
            self._turn = max(self._turn, event["turn_id"])
        self._doing = DOINGS.get(kind, self._doing)
