"""A call's events and its sound from the beginning to the end, whether it runs, ends meanwhile or is long over."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, closing, contextmanager
from pathlib import Path
from typing import BinaryIO

import soundfile

from callm_voice.core.clock import RealClock
from callm_voice.core.livefiles import CHANNELS, SAMPLE_BYTES, WAV_HEAD_BYTES, unfinished, wav_rate_hz
from callm_voice.core.runfolder import AUDIO_FILE, EVENTS_FILE, is_finished
from callm_voice.web.index import Entry
from callm_voice.web.tails import BLOCK_BYTES, Tail, ask, hear_no_more, open_plain

LOOK_AGAIN_S = 0.2
FINISH_S = 60.0
"""A call that has ended is scored and written; more than this it cannot take."""
FRAME_BYTES = CHANNELS * SAMPLE_BYTES
Bytes = AsyncGenerator[bytes, None]


class LostCallError(Exception):
    """There is no end of it: the call was killed, or its files are none of ours."""


class Hearing:
    """Who listens to which call: the last one who goes switches the call's sound off."""

    def __init__(self) -> None:
        self._listeners: Counter[Path] = Counter()

    @contextmanager
    def of(self, work: Path) -> Iterator[None]:
        """Somebody listens to the call with this unfinished folder."""
        self._listeners[work] += 1
        ask(work, sound=True)
        try:
            yield
        finally:
            self._listeners[work] -= 1
            if not self._listeners[work]:
                del self._listeners[work]
                hear_no_more(work)


async def event_lines(entry: Entry, clock: RealClock) -> AsyncGenerator[str, None]:
    """Each event as one line of JSON without its end: of a running call in the order in which they were taken, of a
    finished one by time, as `events.jsonl` has them. It ends when the call's folder is complete.

    Raises:
        LostCallError: after the last event that the call has left.
    """
    work, seen = unfinished(entry.folder), False
    if not entry.finished:
        ask(work)
        tail = Tail.events(work, clock)
        try:
            async with aclosing(_lines(_grown(tail, clock))) as lines:
                async for line in lines:
                    seen = True
                    yield line
        finally:
            tail.close()
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
        with hearing.of(work):
            tail = Tail.sound(work, clock)
            try:
                async with aclosing(_samples(_grown(tail, clock))) as pieces:
                    async for piece in pieces:
                        sent += len(piece) if isinstance(piece, bytes) else 0
                        yield piece
            finally:
                tail.close()
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
        there = unfinished(entry.folder).exists()  # asked first: in between it may get its name
        if await clock.in_thread("look", is_finished, entry.folder):
            return
        if tail.lost or clock.now_s() > until_s or not there:
            raise LostCallError
        await clock.sleep_until(clock.now_s() + LOOK_AGAIN_S)


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
    try:
        file: BinaryIO = await clock.in_thread("read", open_plain, path)
    except OSError:
        return
    with file:
        while block := await clock.in_thread("read", file.read, BLOCK_BYTES):
            yield block


async def _lines(source: Bytes) -> AsyncGenerator[str, None]:
    rest = b""
    async with aclosing(source) as blocks:
        async for block in blocks:
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
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
    try:
        file = await clock.in_thread("read", open_plain, path)
    except OSError:
        return
    with file, closing(_Recording(file)) as recording:
        sound = recording.sound
        if sound.channels != CHANNELS or skip_bytes >= sound.frames * FRAME_BYTES:
            return
        if not skip_bytes:
            yield _head(sound.samplerate)
        sound.seek(skip_bytes // FRAME_BYTES)
        while (block := await clock.in_thread("read", recording.read)) != b"":
            yield block


class _Recording:
    """A sound file that is read in threads. A listener who goes leaves a read behind, which libsndfile must be let end:
    closing the file under it ends the whole process."""

    def __init__(self, file: BinaryIO) -> None:
        self.sound = soundfile.SoundFile(file)
        self._one = threading.Lock()

    def read(self) -> bytes:
        """The next block; nothing at the end, or when it is closed."""
        with self._one:
            if self.sound.closed:
                return b""
            frames = self.sound.read(BLOCK_BYTES // FRAME_BYTES, dtype="int16", always_2d=True)
            return bytes(frames.astype("<i2").tobytes())

    def close(self) -> None:
        with self._one:
            self.sound.close()


def _head(rate_hz: int) -> str:
    return json.dumps({"rate_hz": rate_hz, "channels": CHANNELS})
