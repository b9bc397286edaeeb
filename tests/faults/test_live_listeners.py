"""Listeners that stall, leave, vanish, talk or are too many: each ends bounded, and nobody else notices."""

from __future__ import annotations

import base64
import os
import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from support.live import LINE, MODEL, TASK, Served, call_of, live_server, told_call, until
from support.records import full_record
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from callm_voice.bench.livetap import live_tap
from callm_voice.core.events import CallEnded, CallStarted, EventLog
from callm_voice.core.fastloop import FastClock, run
from callm_voice.core.runfolder import call_dir, open_call_folder
from callm_voice.line.leg import Frame
from callm_voice.line.line import PhoneLine
from callm_voice.line.profile import load_profile
from callm_voice.web import server as server_module
from callm_voice.web import sockets, tails, watch

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]
TEN_MINUTES = 30_000
"""Ticks: far more sound than the buffers of a connection hold."""


def opened(server: Served, what: str, call_id: str) -> ClientConnection:
    return connect(f"{server.ws}calls/{call_id}/{what}", max_size=None, close_timeout=2, ping_interval=None)


def close_code(connection: ClientConnection) -> int:
    """After all that comes."""
    try:
        while True:
            connection.recv(timeout=60)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006


@contextmanager
def stalled(server: Served, what: str, call_id: str) -> Iterator[socket.socket]:
    """A listener that shakes hands and then reads nothing, not even a ping."""
    address = urlsplit(server.url)
    with socket.socket() as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        peer.connect((address.hostname, address.port))
        key = base64.b64encode(os.urandom(16)).decode()
        peer.sendall(
            f"GET /calls/{call_id}/{what} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert peer.recv(12) == b"HTTP/1.1 101"
        yield peer


def all_gone(server: Served) -> None:
    until(lambda: server.live.sockets.open == 0, "the server feeds nobody any more", 60)
    until(lambda: server.connections == 0, "no connection is open", 60)
    until(lambda: not server.server.server_state.tasks, "no task is left", 60)


def test_what_a_listener_may_not_say_closes_its_socket(tmp_path: Path) -> None:
    with told_call(tmp_path) as call, live_server(tmp_path) as server:
        call.open_line()
        call_id = call_of(server)
        said: list[tuple[bytes | str, int]] = [(b"\x00", 1003), ("x" * 1_001, 1009), ("x" * 70_000, 1009)]
        for what in ("events", "sound"):
            for message, code in said:
                with opened(server, what, call_id) as connection:
                    connection.send(message)
                    assert close_code(connection) == code
        with opened(server, "events", call_id) as connection:
            for _ in range(sockets.MAX_MESSAGES):
                connection.send("hello")
            assert close_code(connection) == 1008
        with opened(server, "events", call_id) as connection:
            connection.send("hello")
            call.hang_up()
            call.complete()
            assert close_code(connection) == 1000
        all_gone(server)


def test_one_listener_too_many_is_refused_and_the_next_one_fits_when_another_has_gone(tmp_path: Path) -> None:
    with told_call(tmp_path) as call, live_server(tmp_path, max_sockets=3) as server, ExitStack() as stack:
        call.open_line()
        call_id = call_of(server)
        three = [stack.enter_context(opened(server, what, call_id)) for what in ("events", "sound", "events")]
        until(lambda: server.live.sockets.open == 3, "three listen")
        with pytest.raises(InvalidStatus) as refused:
            opened(server, "events", call_id)
        assert refused.value.response.status_code == 503
        three[0].close()
        until(lambda: server.live.sockets.open == 2, "one has gone")
        stack.enter_context(opened(server, "events", call_id))
        assert httpx.get(f"{server.url}api/calls").status_code == 200


def test_a_listener_that_stalls_is_cut_off_and_the_others_hear_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "SEND_LIMIT_S", 2.0)
    monkeypatch.setattr(server_module, "STALLED_MS", 3_000)
    with told_call(tmp_path) as call, live_server(tmp_path) as server:
        call.open_line()
        call.tick(TEN_MINUTES)
        call_id = call_of(server)
        with stalled(server, "sound", call_id):
            until(lambda: server.live.sockets.open == 1, "it is fed")
            with opened(server, "sound", call_id) as other:
                heard = b""
                while len(heard) < TEN_MINUTES * 640:
                    piece = other.recv(timeout=60)
                    heard += piece if isinstance(piece, bytes) else b""
                assert heard == call.all_sound()
                until(lambda: server.live.sockets.open == 1, "the stalled one is not fed any more", 60)
            all_gone(server)  # while its peer still holds on to the connection


def test_a_listener_that_vanishes_or_freezes_is_cleaned_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "PING_EVERY_S", 0.5)
    monkeypatch.setattr(server_module, "PING_LIMIT_S", 1.0)
    with told_call(tmp_path) as call, live_server(tmp_path) as server:
        call.open_line()
        call_id = call_of(server)
        with stalled(server, "events", call_id) as vanishing:
            until(lambda: server.live.sockets.open == 1, "it is fed")
            vanishing.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        all_gone(server)  # its connection was reset
        with stalled(server, "events", call_id):
            until(lambda: server.live.sockets.open == 1, "it is fed")
            all_gone(server)  # it holds its connection and answers no ping


def test_a_killed_call_closes_its_listeners_sockets_and_leaves_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "LOST_AFTER_S", 1.5)
    with told_call(tmp_path) as call, live_server(tmp_path) as server:
        call.open_line()
        call.tick()
        with opened(server, "events", call_of(server, "running")) as connection:
            call.tap._dir = tmp_path / "nowhere"  # it stirs no more, and says no goodbye
            assert close_code(connection) == 1011
        url = f"{server.url}api/calls"
        until(lambda: httpx.get(url).json()["running"] == [], "it is not listed any more")


def test_the_list_gives_its_files_back_when_calls_end_and_when_nobody_looks_at_it_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "{}api/calls"
    with told_call(tmp_path) as call, live_server(tmp_path) as server:
        call.open_line()
        call_of(server, "running")
        assert _left_open(tmp_path, looks=1) != []
        call.hang_up()
        call.complete()
        httpx.get(url.format(server.url), timeout=60).raise_for_status()  # the index may still have it unfinished
        assert _left_open(tmp_path) == []
    monkeypatch.setattr(watch, "FORGET_AFTER_S", 1.0)
    with told_call(tmp_path, trial=2) as call, live_server(tmp_path) as server:
        call.open_line()
        call_of(server, "running")
        assert _left_open(tmp_path) == []  # and nobody has looked meanwhile
        assert call_of(server, "running")


def test_the_server_ends_while_people_listen(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        with ExitStack() as stack, live_server(tmp_path) as server:
            connection = stack.enter_context(opened(server, "events", call_of(server)))
            until(lambda: server.live.sockets.open == 1, "it is fed")
            server.server.should_exit = True
            assert close_code(connection) == 1012
        call.tick()
        call.hang_up()
        assert call.complete().is_dir()


class _Hum:
    """A leg that hums, and somewhere in the call waits for what a test wants to see first."""

    def __init__(self, level: int, wait: Callable[[], object] = lambda: None, at_tick: int = 0) -> None:
        self._frame: Frame = np.full(160, level, dtype=np.int16)
        self._frame[::2] = -level
        self._wait, self._ticks_left = wait, at_tick

    def pull(self) -> Frame | None:
        self._ticks_left -= 1
        if self._ticks_left == 0:
            self._wait()
        return self._frame

    def push(self, frame: Frame) -> None: ...

    def clear(self) -> None: ...


def _make_call(run_dir: Path, trial: int, seconds: float, wait: Callable[[], object]) -> None:
    """A line of some minutes at the fast pace, with the tap that every call has. It is over in a second or two, so in
    its middle it waits until people have come."""
    clock = FastClock()
    final = call_dir(run_dir, pack="demo", task=TASK, model=MODEL, line=LINE, trial=trial)
    try:
        with open_call_folder(final) as folder:
            log = EventLog(clock)
            with live_tap(folder.work, log) as tap:
                hums = _Hum(900, wait, at_tick=round(seconds * 25)), _Hum(700)
                line = PhoneLine(*hums, load_profile(LINE), clock, log, max_duration_s=seconds)
                tap.follow(line.recorder)
                log.emit(CallStarted, task=f"demo/{TASK}", model=MODEL, line=LINE, pipeline="-", pace="fast", seed=1)
                run(line.run, clock)
                log.emit(CallEnded, reason="max_duration")
            line.recorder.write(folder.path("call.flac"))
            folder.complete(full_record())
    finally:
        clock.close()


class _Public(threading.Thread):
    """People who come and go: some hear a piece, some vanish in the middle, some stay to the end."""

    def __init__(self, server: Served, seed: int) -> None:
        super().__init__(name=f"public-{seed}")
        self._server, self._draw = server, random.Random(seed)
        self.over = threading.Event()
        self.visits, self.pieces = 0, 0
        self.failed: Exception | None = None

    def run(self) -> None:
        try:
            while not self.over.wait(self._draw.uniform(0.0, 0.4)):
                listed = httpx.get(f"{self._server.url}api/calls", timeout=60).json()
                for call in listed["running"]:
                    self._visit(str(call["id"]))
        except Exception as error:  # noqa: BLE001 - the test tells it
            self.failed = error

    def _visit(self, call_id: str) -> None:
        what = self._draw.choice(["events", "sound"])
        patience, rude = self._draw.choice([1, 5, 40]), self._draw.random() < 0.5
        try:
            with opened(self._server, what, call_id) as connection:
                self.visits += 1
                for _ in range(patience):
                    connection.recv(timeout=60)
                    self.pieces += 1
                if rude:
                    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.socket.close()
        except ConnectionClosed as closed:
            if closed.rcvd is None or closed.rcvd.code != 1000:  # anything but "the call is over"
                raise


def _all_came(public: list[_Public], times: int) -> None:
    """Wait until everybody has come and heard something so often."""
    until(
        lambda: all(min(person.visits, person.pieces) >= times or person.failed for person in public),
        f"everybody has come {times} times",
        120,
    )


def _left_open(folder: Path, looks: int = 300) -> list[str]:
    """Files below `folder` that are open after the time in which the last listener must be cleaned up."""
    for _ in range(looks):
        fds = [fd for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink()]
        found = [name for fd in fds if str(folder) in (name := _target(fd))]
        if not found:
            break
        threading.Event().wait(0.1)
    return found


def _target(fd: Path) -> str:
    try:
        return os.readlink(fd)
    except OSError:  # closed meanwhile
        return ""


@pytest.mark.timeout(900)
def test_an_hour_of_calls_with_listeners_coming_and_going_leaves_nothing_behind(tmp_path: Path) -> None:
    """An hour on the calls' own lines: twelve of five minutes, at the fast pace."""
    with live_server(tmp_path) as server:
        public = [_Public(server, seed) for seed in range(3)]
        for person in public:
            person.start()
        try:
            for trial in range(1, 13):  # four calls for each time that everybody comes
                _make_call(tmp_path, trial, 300.0, partial(_all_came, public, (trial + 3) // 4))
        finally:
            for person in public:
                person.over.set()
            for person in public:
                person.join(120)
        assert not any(person.is_alive() for person in public)
        assert [person.failed for person in public] == [None] * 3
        assert all(person.visits >= 3 and person.pieces >= 3 for person in public)
        all_gone(server)
        assert not server.live.hearing._listeners
        assert _left_open(tmp_path) == []
        assert sum(1 for path in tmp_path.rglob("*") if path.name == "live") == 0
