"""Which calls a run holds, found by their folders' names alone, so that a large run is looked through often.

Ids come from folder names and lead back only through this index: no path is ever made of what a browser sends. Links
are passed over, so nothing outside the run is found.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from callm_voice.core.clock import RealClock
from callm_voice.core.ids import short_hash
from callm_voice.core.runfolder import PARTIAL

LOOK_EVERY_S = 1.0
COST_SHARE = 20
"""A look at a run so large that it takes long is taken so much more seldom that it costs at most a twentieth."""
DEPTHS = {"calls": 5, "invalid": 6}
"""`calls/PACK/TASK/MODEL/LINE/tN`, `invalid/PACK/TASK/MODEL/LINE/tN/aK`."""


@dataclass(frozen=True)
class Entry:
    """One call of the run."""

    id: str
    """Stays the same when the call is finished."""
    run: Path
    names: tuple[str, ...]
    """Of its folders below the run; `names[1:5]` are pack, task, model and line."""
    finished: bool
    changed_ns: int = 0
    """When the folder got its name."""

    @property
    def folder(self) -> Path:
        """Where it stands, or will."""
        return self.run.joinpath(*self.names)

    @property
    def trial(self) -> str:
        """`t1`, or `t1/a2` of an attempt that does not count."""
        return "/".join(self.names[5:])


@dataclass(frozen=True)
class Found:
    """What one look found."""

    finished: tuple[Entry, ...] = ()
    """Newest first."""
    unfinished: tuple[Entry, ...] = ()
    by_id: dict[str, Entry] = field(default_factory=dict)
    """A call that is made again is the one that is under way."""


class CallIndex:
    """The calls of one run.

    Args:
        run: its folder; it need not be there yet.
    """

    def __init__(self, run: Path, clock: RealClock) -> None:
        self.run, self._clock = run, clock
        self._found = Found()
        self._next_s = 0.0
        self._lock = asyncio.Lock()

    async def look(self) -> Found:
        """The calls, at most a second old where the run is not very large."""
        async with self._lock:
            began_s = self._clock.now_s()
            if began_s >= self._next_s:
                self._found = await self._clock.in_thread("look", look_through, self.run)
                now_s = self._clock.now_s()
                self._next_s = now_s + max(LOOK_EVERY_S, COST_SHARE * (now_s - began_s))
            return self._found

    async def entry(self, call_id: str) -> Entry | None:
        """The call of this id; None: there is none."""
        return (await self.look()).by_id.get(call_id)


def look_through(run: Path) -> Found:
    """All calls of a run."""
    entries = [entry for top in DEPTHS for entry in _entries(run, top)]
    finished = sorted((e for e in entries if e.finished), key=lambda e: (-e.changed_ns, e.names))
    unfinished = sorted((e for e in entries if not e.finished), key=lambda e: e.names)
    return Found(tuple(finished), tuple(unfinished), {e.id: e for e in (*finished, *unfinished)})


def _entries(run: Path, top: str) -> Iterator[Entry]:
    level: list[tuple[str, ...]] = [(entry.name,) for entry in _folders(run) if entry.name == top]
    for _ in range(DEPTHS[top] - 1):
        level = [(*names, entry.name) for names in level for entry in _folders(run.joinpath(*names))]
    for names in level:
        for entry in _folders(run.joinpath(*names)):
            finished = not entry.name.endswith(PARTIAL)
            own = (*names, entry.name.removesuffix(PARTIAL))
            try:
                changed_ns = entry.stat(follow_symlinks=False).st_mtime_ns if finished else 0
            except FileNotFoundError:  # moved away since it was found: the call is made again
                continue
            yield Entry(call_id(own), run, own, finished, changed_ns)


def call_id(names: tuple[str, ...]) -> str:
    """Of a call, from the names of its folders below the run."""
    return short_hash("/".join(names).encode("utf-8", "surrogateescape"))


def _folders(path: Path) -> list[os.DirEntry[str]]:
    """Folders in a folder, none if it is gone meanwhile; a link is not one."""
    try:
        with os.scandir(path) as found:
            return [entry for entry in found if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
