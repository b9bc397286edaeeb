"""A call's events and its sound from the beginning to the end, whether it runs, ends meanwhile or is long over.

All work on files is done in threads: the event loop, on which everybody else is served, waits for no disk.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path

from callm_voice.core.clock import RealClock
from callm_voice.core.livefiles import CHANNELS, WAV_HEAD_BYTES, unfinished, wav_rate_hz
from callm_voice.core.runfolder import AUDIO_FILE, EVENTS_FILE, is_finished
from callm_voice.web.finished import FRAME_BYTES, PlainFile, Recording
from callm_voice.web.index import Entry
from callm_voice.web.lines import MAX_LINE_BYTES, Lines
from callm_voice.web.tails import Tail, ask, hear_no_more

LOOK_AGAIN_S = 0.2
FINISH_S = 60.0
"""A call that has ended is scored and written; more than this it cannot take."""
Bytes = AsyncGenerator[bytes, None]


class LostCallError(Exception):
    """There is no end of it: the call was killed, or its files are none of ours. Its text, if any, says which."""


class Hearing:
    """Who listens to which call: the last one who goes switches the call's sound off."""

    def __init__(self) -> None:
        self._listeners: Counter[Path] = Counter()
        self._one = threading.Lock()

    @asynccontextmanager
    async def of(self, work: Path, clock: RealClock) -> AsyncIterator[None]:
        """Somebody listens to the call with this unfinished folder."""
        self._listeners[work] += 1
        try:
            await clock.in_thread("ask", self._settle, work)
            yield
        finally:
            self._listeners[work] -= 1
            if not self._listeners[work]:
                del self._listeners[work]
                await surely(partial(self._settle, work), clock)

    def _settle(self, work: Path) -> None:
        # Threads run in any order. Who asks only here who listens leaves the wish as the last of them found it.
        with self._one:
            if self._listeners.get(work, 0):
                ask(work, sound=True)
            else:
                hear_no_more(work)


async def event_lines(entry: Entry, clock: RealClock) -> AsyncGenerator[str, None]:
    """Each event as one line of JSON without its end: of a running call in the order in which they were taken, of a
    finished one by time, as `events.jsonl` has them. It ends when the call's folder is complete.

    Raises:
        LostCallError: after the last event that the call has left, or before a line that is too long to be one.
    """
    work, seen = unfinished(entry.folder), False
    if not entry.finished:
        tail = Tail.events(work, clock)
        async with _closing(tail.close, clock), aclosing(_lines(_grown(tail, clock))) as lines:
            async for line in lines:
                seen = True
                yield line
        await _finish(entry, tail, clock)
    if not seen:
        async with aclosing(_lines(_file(entry.folder / EVENTS_FILE, clock))) as lines:
            async for line in lines:
                yield line


async def sound_blocks(entry: Entry, hearing: Hearing, clock: RealClock) -> AsyncGenerator[str | bytes, None]:
    """First `{"rate_hz": R, "channels": 2}`, then the samples from line tick 0 on: int16, little-endian, the caller's
    and the agent's in turn. Nothing at all of a call that has no sound.

    Raises:
        LostCallError: after the last sample that the call has left.
    """
    work, sent = unfinished(entry.folder), 0
    if not entry.finished:
        tail = Tail.sound(work, clock)
        async with (
            hearing.of(work, clock),
            _closing(tail.close, clock),
            aclosing(_samples(_grown(tail, clock))) as pieces,
        ):
            async for piece in pieces:
                sent += len(piece) if isinstance(piece, bytes) else 0
                yield piece
        await _finish(entry, tail, clock)
    # Whoever came at the very end, or with another who went, has not heard all of it.
    async with aclosing(_recorded(entry.folder / AUDIO_FILE, sent, clock)) as pieces:
        async for piece in pieces:
            yield piece


async def _finish(entry: Entry, tail: Tail, clock: RealClock) -> None:
    """Wait until an ended call's folder is complete.

    Raises:
        LostCallError: the call was killed, or its folder stays unfinished.
    """
    until_s = clock.now_s() + FINISH_S
    while True:
        finished, there = await clock.in_thread("look", _look, entry.folder)
        if finished:
            return
        if tail.lost or clock.now_s() > until_s or not there:
            raise LostCallError
        await clock.sleep_until(clock.now_s() + LOOK_AGAIN_S)


def _look(folder: Path) -> tuple[bool, bool]:
    """Whether a call is finished, and whether its unfinished folder is there."""
    there = unfinished(folder).exists()  # asked first: in between it may get its name
    return is_finished(folder), there


async def _grown(tail: Tail, clock: RealClock) -> Bytes:
    """What a running call writes, block by block."""
    while not tail.ended:
        block = await clock.in_thread("read", tail.read)
        if block:
            yield block
        elif not tail.ended:
            await clock.sleep_until(clock.now_s() + LOOK_AGAIN_S)


async def _file(path: Path, clock: RealClock) -> Bytes:
    """A finished file, block by block; nothing of one that is not there."""
    file = PlainFile(path)
    async with _closing(file.close, clock):
        while block := await clock.in_thread("read", file.read):
            yield block


async def _lines(source: Bytes) -> AsyncGenerator[str, None]:
    """Each whole line that is not empty.

    Raises:
        LostCallError: one is too long; whoever took what follows for all of it would be told too little.
    """
    lines = Lines()
    async with aclosing(source) as blocks:
        async for block in blocks:
            for line in lines.take(block):
                if line is None:
                    raise LostCallError(f"a line of its events is longer than {MAX_LINE_BYTES:,} bytes")
                if line:
                    yield line.decode("utf-8", "replace")


async def _samples(source: Bytes) -> AsyncGenerator[str | bytes, None]:
    """The head, then whole sample pairs."""
    rest, headed = b"", False
    async with aclosing(source) as blocks:
        async for block in blocks:
            rest += block
            if not headed:
                if len(rest) < WAV_HEAD_BYTES:
                    continue
                yield _head(_rate_hz(rest[:WAV_HEAD_BYTES]))
                headed, rest = True, rest[WAV_HEAD_BYTES:]
            whole = len(rest) - len(rest) % FRAME_BYTES
            if whole:
                yield rest[:whole]
                rest = rest[whole:]


def _rate_hz(head: bytes) -> int:
    try:
        return wav_rate_hz(head)
    except ValueError:
        raise LostCallError from None


async def _recorded(path: Path, skip_bytes: int, clock: RealClock) -> AsyncGenerator[str | bytes, None]:
    """The finished recording, from a place on."""
    recording = Recording(path, skip_bytes)
    async with _closing(recording.close, clock):
        rate_hz = await clock.in_thread("read", recording.open)
        if rate_hz is None:
            return
        if not skip_bytes:
            yield _head(rate_hz)
        while block := await clock.in_thread("read", recording.read):
            yield block


@asynccontextmanager
async def _closing(close: Callable[[], None], clock: RealClock) -> AsyncIterator[None]:
    """Close a file in a thread: it waits there for a read that a listener who goes has left behind."""
    try:
        yield
    finally:
        await surely(close, clock)


async def surely(fn: Callable[[], None], clock: RealClock) -> None:
    """In a thread, and to its end, although the listener may be cancelled a second time while it waits."""
    await asyncio.shield(clock.in_thread("close", fn))


def _head(rate_hz: int) -> str:
    return json.dumps({"rate_hz": rate_hz, "channels": CHANNELS})
