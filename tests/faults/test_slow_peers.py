"""Peers that open a connection and do not ask, or ask half: they are let go of, and nobody else notices."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from support.live import Served, live_server, told_call, until
from websockets.sync.client import connect

from callm_voice.bench import http_limits
from callm_voice.web.index import look_through

pytestmark = [pytest.mark.faults, pytest.mark.timeout(200)]
LIMIT_S = 60.0
SHORT_S = 0.5
HEAD = "{} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HEAD.format("GET /static/live.css") + "\r\n"
HALVES = {
    "nothing at all": "",
    "half a head": HEAD.format("GET /api/calls"),
    "half of a later head": WHOLE + HEAD.format("GET /api/calls"),
    "no body": HEAD.format("POST /api/call-in/calls")
    + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    "half of a body that was refused": HEAD.format("POST /nothing") + "Content-Length: 100\r\n\r\n{",
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(http_limits, "REQUEST_LIMIT_S", SHORT_S)
    with live_server(tmp_path / "run") as served:
        yield served


@contextmanager
def peer(server: Served, text: str) -> Iterator[socket.socket]:
    address = urlsplit(server.url)
    assert address.hostname is not None
    assert address.port is not None
    with socket.create_connection((address.hostname, address.port), timeout=LIMIT_S) as made:
        made.sendall(text.encode("ascii"))
        yield made


def until_closed(made: socket.socket) -> None:
    while made.recv(65_536):
        pass


@pytest.mark.parametrize("said", HALVES)
def test_a_connection_on_which_no_whole_request_comes_is_closed(
    said: str, server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with peer(server, HALVES[said]) as made:
        until_closed(made)
    until(lambda: server.connections == 0, "no connection is open", LIMIT_S)
    until(lambda: not server.server.server_state.tasks, "no task is left", LIMIT_S)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("uvicorn")] == []


def test_a_peer_that_goes_in_the_middle_of_its_body_is_no_error_of_the_servers(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with peer(server, HALVES["no body"]):
        until(lambda: server.server.server_state.tasks, "its request is being read", LIMIT_S)
    until(lambda: not server.server.server_state.tasks, "no task is left", LIMIT_S)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("uvicorn")] == []


def test_hundreds_of_them_at_once_keep_nobody_out(server: Served) -> None:
    with ExitStack() as stack:
        idle = [stack.enter_context(peer(server, "")) for _ in range(300)]
        assert httpx.get(f"{server.url}api/calls", timeout=LIMIT_S).status_code == 200
        for made in idle:
            until_closed(made)
    until(lambda: server.connections == 0, "no connection is open", LIMIT_S)


def test_a_kept_connection_and_a_websocket_outlive_the_limit(server: Served) -> None:
    run = server.live.settings.run
    with told_call(run) as call, httpx.Client(timeout=LIMIT_S) as client:
        call.open_line()
        (entry,) = look_through(run).unfinished
        with connect(f"{server.ws}calls/{entry.id}/events") as listener:
            listener.recv(timeout=LIMIT_S)
            for n in range(6):
                assert client.get(f"{server.url}static/live.css").status_code == 200
                call.say(f"sentence {n}")
                assert f"sentence {n}" in str(listener.recv(timeout=LIMIT_S))
                with peer(server, "") as made:  # as long as one that says nothing is borne
                    until_closed(made)
