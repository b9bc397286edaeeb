"""A call's events and sound, whenever somebody comes: before, while, at the very end, after, and if it is killed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import soundfile
from support.live import ToldCall, told_call

from callm_voice.core.clock import RealClock
from callm_voice.core.events import from_jsonl
from callm_voice.core.livefiles import LIVE_EVENTS, LIVE_SOUND, NOW_FILE, SOUND_WANTED, live_dir, unfinished
from callm_voice.core.runfolder import EVENTS_FILE, LIVE_DIR, call_dir
from callm_voice.web import finished, lines, tails
from callm_voice.web.index import CallIndex, Entry, look_through
from callm_voice.web.streams import Hearing, LostCallError, event_lines, sound_blocks
from callm_voice.web.tails import Tail, ask, open_plain
from callm_voice.web.watch import Watch

pytestmark = pytest.mark.unit
LIMIT_S = 30.0


@pytest.fixture
async def clock() -> AsyncIterator[RealClock]:
    made = RealClock(threads=8)
    yield made
    made.close()


async def until(holds: Callable[[], bool], what: str) -> None:
    """What another thread or task brings about."""
    for _ in range(int(LIMIT_S / 0.02)):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(what)


def entry_of(run: Path) -> Entry:
    (entry,) = look_through(run).by_id.values()
    return entry


class Listener:
    """Takes all that comes, in a task."""

    def __init__(self, entry: Entry, clock: RealClock, hearing: Hearing | None = None) -> None:
        self.lines: list[str] = []
        self.heads: list[str] = []
        self.pcm = b""
        self.hearing = hearing or Hearing()
        self._tasks = [
            asyncio.create_task(self._take_events(entry, clock)),
            asyncio.create_task(self._take_sound(entry, clock)),
        ]

    async def _take_events(self, entry: Entry, clock: RealClock) -> None:
        async for line in event_lines(entry, clock):
            self.lines.append(line)

    async def _take_sound(self, entry: Entry, clock: RealClock) -> None:
        async for piece in sound_blocks(entry, self.hearing, clock):
            if isinstance(piece, str):
                self.heads.append(piece)
            else:
                self.pcm += piece

    async def until(self, holds: str) -> None:
        """Of `l`, the listener."""
        await until(lambda: bool(eval(holds, {}, {"l": self})), holds)

    async def end(self) -> list[BaseException | None]:
        async with asyncio.timeout(LIMIT_S):
            return await asyncio.gather(*self._tasks, return_exceptions=True)

    async def leave(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self.end()


def check_all(listener: Listener, call: ToldCall) -> None:
    assert from_jsonl("\n".join(listener.lines)) == call.log.events
    assert [json.loads(head) for head in listener.heads] == [{"rate_hz": 8000, "channels": 2}]
    assert listener.pcm == call.all_sound()


async def test_who_comes_before_the_line_opens_gets_everything(tmp_path: Path, clock: RealClock) -> None:
    with told_call(tmp_path) as call:
        listener = Listener(entry_of(tmp_path), clock)
        told = [live_dir(call.work) / name for name in (LIVE_EVENTS, LIVE_SOUND)]
        await until(lambda: all(path.exists() for path in told), "the call tells its listener")
        call.open_line()
        call.tick()
        call.say("hello")
        await listener.until("len(l.lines) == 2 and len(l.pcm) == 32000")
        call.tick(7)
        call.hang_up()
        await clock.in_thread("end", call.complete)
        assert await listener.end() == [None, None]
        check_all(listener, call)


async def test_who_comes_in_the_middle_or_when_all_is_over_gets_everything_too(
    tmp_path: Path, clock: RealClock
) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick(900)
        call.say("hello")
        middle = Listener(entry_of(tmp_path), clock)
        await middle.until("len(l.lines) == 2 and len(l.pcm) == 900 * 640")
        running = entry_of(tmp_path)
        call.tick(3)
        call.hang_up()
        await clock.in_thread("end", call.tap.stop)
        at_the_end = Listener(running, clock)
        await at_the_end.until("len(l.lines) == 3 and len(l.pcm) == 903 * 640")  # and the call has no end yet
        call.complete()
        after = Listener(running, clock)
        long_after = Listener(entry_of(tmp_path), clock)
        for listener in (middle, at_the_end, after, long_after):
            assert await listener.end() == [None, None]
            check_all(listener, call)


async def test_the_last_listener_who_leaves_switches_the_sound_off(tmp_path: Path, clock: RealClock) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick()
        wanted = live_dir(call.work) / SOUND_WANTED
        hearing = Hearing()
        first, second = (Listener(entry_of(tmp_path), clock, hearing) for _ in range(2))
        await first.until("l.pcm")
        await second.until("l.pcm")
        await first.leave()
        assert wanted.exists()
        await second.leave()
        assert not wanted.exists()
        call.tick()
        third = Listener(entry_of(tmp_path), clock, hearing)
        await third.until("len(l.pcm) == 64000")
        assert third.pcm == call.all_sound()
        await third.leave()


@pytest.mark.parametrize("made_again", [False, True])
async def test_a_killed_call_is_lost_after_all_that_it_left(
    made_again: bool, tmp_path: Path, clock: RealClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "LOST_AFTER_S", 60.0 if made_again else 1.5)
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick()
        listener = Listener(entry_of(tmp_path), clock)
        await listener.until("len(l.lines) == 1 and len(l.pcm) == 32000")
        call.tap._dir = tmp_path / "nowhere"  # it stirs no more, and says no goodbye
        if made_again:
            left = tmp_path / "left"
            shutil.copytree(call.work, left)
            shutil.rmtree(call.work)
            left.rename(call.work)
        ended = await listener.end()
        assert [type(error) for error in ended] == [LostCallError, LostCallError]
        check_all(listener, call)


async def test_a_folder_that_was_left_unfinished_is_no_running_call(
    tmp_path: Path, clock: RealClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "LOST_AFTER_S", 1.0)
    with told_call(tmp_path) as call:
        ask(call.work)
        await until((live_dir(call.work) / NOW_FILE).exists, "the call says where it stands")
        call.tap.stop()
        (live_dir(call.work) / "over").unlink()
    watch = Watch(CallIndex(tmp_path, clock), clock)
    for _ in range(8):
        assert await watch.running() == []
        await asyncio.sleep(0.2)
    watch.close()


async def test_the_list_says_where_a_running_call_is(tmp_path: Path, clock: RealClock) -> None:
    watch = Watch(CallIndex(tmp_path, clock), clock)
    with told_call(tmp_path) as call:

        async def seen(state: str, doing: str = "") -> object:
            async with asyncio.timeout(LIMIT_S):
                while True:
                    for running in await watch.running():
                        if running.state == state and running.doing == doing:
                            return running
                    await asyncio.sleep(0.05)

        await seen("opening")
        call.open_line(pace="fast")
        call.tick(100)
        call.say("hello")
        running = await seen("running", "caller speaks")
        assert (running.task, running.model, running.pace) == ("demo/C1-E1", "oracle", "fast")  # type: ignore[attr-defined]
        call.hang_up()
        await clock.in_thread("end", call.tap.stop)
        assert (await seen("ending", "hung up")).line_ms == 2_000.0  # type: ignore[attr-defined]
        call.complete()
        for _ in range(200):
            if not await watch.running():
                break
            await asyncio.sleep(0.05)
        assert await watch.running() == []
    watch.close()


async def test_a_line_that_is_no_event_costs_the_list_nothing(tmp_path: Path, clock: RealClock) -> None:
    watch = Watch(CallIndex(tmp_path, clock), clock)
    with told_call(tmp_path) as call:

        async def seen(doing: str) -> bool:
            for _ in range(600):
                if any(running.doing == doing for running in await watch.running()):
                    return True
                await asyncio.sleep(0.05)
            return False

        call.open_line()
        assert await seen("")
        with (live_dir(call.work) / LIVE_EVENTS).open("ab") as file:
            file.write(b"[" * 200_000 + b"\n" + b"\xff\n[1]\n")
        call.say("hello")
        assert await seen("caller speaks")
    watch.close()


async def test_a_call_without_sound_has_events_alone(tmp_path: Path, clock: RealClock) -> None:
    with told_call(tmp_path, line="text", sound=False) as call:
        listener = Listener(entry_of(tmp_path), clock)
        call.open_line()
        call.hang_up()
        await clock.in_thread("end", call.complete)
        assert await listener.end() == [None, None]
        assert (len(listener.lines), listener.heads, listener.pcm) == (2, [], b"")


async def test_sound_that_is_none_of_ours_is_lost(tmp_path: Path, clock: RealClock) -> None:
    with told_call(tmp_path) as call:
        ask(call.work)
        (live_dir(call.work) / LIVE_SOUND).write_bytes(b"x" * 1_000)
        listener = Listener(entry_of(tmp_path), clock)
        await listener.until("l._tasks[1].done()")
        await listener.leave()
        assert (listener.heads, listener.pcm) == ([], b"")


async def test_no_thread_and_no_file_is_left_of_listeners_who_leave(tmp_path: Path, clock: RealClock) -> None:
    def held() -> set[str]:
        fds = Path("/proc/self/fd")
        return {str(p.resolve()) for p in fds.iterdir()} if fds.is_dir() else set()

    with told_call(tmp_path) as call:
        call.open_line()
        call.tick()
        threads = threading.active_count() + 8  # the clock's pool
        for _ in range(10):
            listener = Listener(entry_of(tmp_path), clock)
            await listener.until("l.pcm and l.lines")
            await listener.leave()
        assert [path for path in held() if str(call.work) in path] == []
        assert threading.active_count() <= threads
        assert [t for t in asyncio.all_tasks() if t is not asyncio.current_task()] == []


def test_a_link_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="link"):
        open_plain(tmp_path / "link")


class LoopOnly:
    """Which work on files below a folder is done on the event loop's own thread."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._loop = str(folder), threading.get_ident()
        self.done: list[str] = []
        self.elsewhere = 0
        for name in ("stat", "open", "mkdir", "unlink", "rmdir", "scandir"):
            self._watch(os, name, patch)
        for name in ("seek", "read", "close"):
            self._watch(soundfile.SoundFile, name, patch)
        for owner, name in ((tails.Tail, "close"), (finished.PlainFile, "close"), (finished.Recording, "open")):
            self._watch(owner, name, patch)

    def _watch(self, owner: Any, name: str, patch: pytest.MonkeyPatch) -> None:
        real = getattr(owner, name)

        def watched(*args: Any, **options: Any) -> Any:
            # What is given back with its last name closes itself, and then there is nothing left to close.
            if self._folder in str(args[0]) if owner is os else not getattr(args[0], "closed", False):
                if threading.get_ident() == self._loop:
                    self.done.append(f"{owner.__name__}.{name}")
                else:
                    self.elsewhere += 1
            return real(*args, **options)

        patch.setattr(owner, name, watched)


async def test_no_listener_s_file_is_touched_on_the_event_loop(
    tmp_path: Path, clock: RealClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick()
        call.say("hello")
        entry, hearing = entry_of(tmp_path), Hearing()
        with monkeypatch.context() as patch:
            seen = LoopOnly(tmp_path, patch)
            leaves, stays = (Listener(entry, clock, hearing) for _ in range(2))
            for listener in (leaves, stays):
                await listener.until("l.pcm and len(l.lines) == 2")
            await leaves.leave()
            call.hang_up()
            await clock.in_thread("end", call.complete)
            assert await stays.end() == [None, None]
            of_a_finished_one = Listener(await clock.in_thread("look", entry_of, tmp_path), clock)
            assert await of_a_finished_one.end() == [None, None]
            watch = Watch(CallIndex(tmp_path, clock), clock)
            assert await watch.running() == []
        check_all(of_a_finished_one, call)
        assert seen.done == []
        assert seen.elsewhere > 20
        watch.close()


async def test_who_waits_for_a_slow_recording_holds_nobody_up_and_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick()
        call.complete()
    entry = entry_of(tmp_path)
    clock = RealClock(threads=1)  # the closing waits for its turn behind the opening
    began, may_go_on = threading.Event(), threading.Event()
    opened: list[Any] = []

    def slow(path: Path) -> Any:
        began.set()
        assert may_go_on.wait(LIMIT_S)
        opened.append(open_plain(path))
        return opened[-1]

    async def listen() -> None:
        async for _ in sound_blocks(entry, Hearing(), clock):
            raise AssertionError("nothing was to be heard")

    with monkeypatch.context() as patch:
        patch.setattr(finished, "open_plain", slow)
        waiting = asyncio.create_task(listen())
        await until(began.is_set, "the recording is being opened")
        assert not waiting.done()
        for _ in range(3):  # who is impatient is not in the way of the closing
            waiting.cancel()
            await asyncio.sleep(0.01)
        may_go_on.set()
        await asyncio.gather(waiting, return_exceptions=True)
        await until(lambda: bool(opened) and opened[0].closed, "what was opened is closed")
    clock.close()
    assert waiting.cancelled()


async def test_a_line_without_end_ends_the_events_with_a_reason(
    tmp_path: Path, clock: RealClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 100_000)

    async def check(listener: Listener) -> None:
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(LostCallError, match="a line of its events is longer than"):
                await listener._tasks[0]
        assert from_jsonl("\n".join(listener.lines)) == call.log.events
        await listener.leave()

    with told_call(tmp_path, line="text", sound=False) as call:
        call.open_line()
        listener = Listener(entry_of(tmp_path), clock)
        await listener.until("len(l.lines) == 1")
        with (live_dir(call.work) / LIVE_EVENTS).open("ab") as file:
            file.write(b"[" * 300_000)
        await check(listener)
        with (call.complete() / EVENTS_FILE).open("ab") as file:
            file.write(b"[" * 300_000 + b"\n[]\n")
        await check(Listener(entry_of(tmp_path), clock))


async def test_where_no_call_answers_nothing_is_left_of_those_who_asked(
    tmp_path: Path, clock: RealClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a killed call has left is looked at again and again, and listened to."""
    monkeypatch.setattr(tails, "LOST_AFTER_S", 0.5)
    work = unfinished(call_dir(tmp_path, pack="demo", task="C1-E1", model="m", line="pstn-g711u", trial=1))
    work.mkdir(parents=True)
    watch, entry = Watch(CallIndex(tmp_path, clock), clock), entry_of(tmp_path)
    assert await watch.running() == []
    assert (work / LIVE_DIR).is_dir(), "it is asked"
    leaves, stays = Listener(entry, clock), Listener(entry, clock)
    await until((work / LIVE_DIR / SOUND_WANTED).exists, "its sound is asked for")
    await leaves.leave()
    assert [type(error) for error in await stays.end()] == [LostCallError, LostCallError]
    for _ in range(4):
        assert await watch.running() == []
        await asyncio.sleep(0.2)
    watch.close()
    assert list(work.iterdir()) == []


def test_who_still_waits_for_an_answer_asks_again_when_another_gives_up(tmp_path: Path) -> None:
    clock = RealClock()
    gives_up, waits = Tail.events(tmp_path, clock), Tail.events(tmp_path, clock)
    assert (gives_up.read(), waits.read()) == (b"", b"")
    gives_up.close()
    assert not live_dir(tmp_path).exists()
    assert waits.read() == b""
    assert live_dir(tmp_path).is_dir()
    (live_dir(tmp_path) / LIVE_EVENTS).write_bytes(b"answer")
    gives_up.close()
    assert waits.read() == b"answer"
    waits.close()
    assert gives_up.read() == b""
    assert (live_dir(tmp_path) / LIVE_EVENTS).exists(), "what a call has written is the call's"
    clock.close()
