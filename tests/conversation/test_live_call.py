"""`callm-voice serve` beside a whole scripted call of another process: what listeners get is what the folder has."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import soundfile
from support.cli import QUICK_ORACLE, callm, command
from support.live import until
from support.whole_run import start_run
from websockets.sync.client import connect

from callm_voice.core.events import from_jsonl
from callm_voice.core.runfolder import find_calls

pytestmark = [pytest.mark.conversation, pytest.mark.timeout(400)]
SLOW_S = 180.0


@contextmanager
def serving(*args: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The command, and what it printed."""
    process = subprocess.Popen(command("serve", "--port", "0", "--json", *args), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        text = ""
        while not text.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, "the command ended"
            text += line
        yield process, json.loads(text)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


def received(url: str) -> list[str | bytes]:
    """All messages until the call is over."""
    with connect(url, max_size=None) as connection:
        found = list(connection)  # ends in order at 1000 only
        assert connection.close_code == 1000
    return found


def test_listeners_of_a_running_call_get_its_events_and_its_recording(tmp_path: Path) -> None:
    run = tmp_path / "run"
    args = (
        "call", "--task", "healthcare/C1-E1", "--model", QUICK_ORACLE, "--pipeline", "scripted", "--pace", "fast",
        "--out", str(run),
    )  # fmt: skip
    with serving("--run", str(run)) as (server, told):
        call = start_run(args, tmp_path / "call.log")
        listed = until(lambda: httpx.get(f"{told['url']}api/calls", timeout=60).json()["running"], "it runs", SLOW_S)
        ws = told["url"].replace("http", "ws") + f"calls/{listed[0]['id']}/"
        events = received(f"{ws}events")
        assert call.wait(60) == 0
        (folder,) = find_calls(run)
        live = from_jsonl("".join(f"{line}\n" for line in events))
        written = from_jsonl((folder / "events.jsonl").read_text("utf-8"))
        assert sorted(live, key=lambda e: e.t_ms) == written
        assert [type(e).__name__ for e in live].count("CallEnded") == 1
        head, *blocks = received(f"{ws}sound")
        pcm, rate_hz = soundfile.read(folder / "call.flac", dtype="int16")
        assert json.loads(head) == {"rate_hz": rate_hz, "channels": 2}
        assert b"".join(block for block in blocks if isinstance(block, bytes)) == pcm.tobytes()
        assert not (folder / "live").exists()
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0


def test_sigterm_ends_the_server_in_order_too(tmp_path: Path) -> None:
    with serving("--run", str(tmp_path), "--token", "secret") as (server, told):
        assert told["token_needed"] is True
        assert "secret" not in told["url"]
        assert httpx.get(told["url"]).status_code == 401
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


def test_an_address_that_others_reach_needs_a_token(tmp_path: Path) -> None:
    ran = callm("serve", "--run", str(tmp_path), "--host", "0.0.0.0")
    assert ran.code == 2
    assert ran.error_lines == [line for line in ran.err.splitlines() if "a token is needed" in line] != []


def test_a_port_that_is_taken_and_a_run_that_is_a_file_are_told_in_a_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = callm("serve", "--run", str(tmp_path), "--port", str(port))
    assert ran.code == 3
    assert len(ran.error_lines) == 1
    assert str(port) in ran.error_lines[0]
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    assert callm("serve", "--run", str(file)).code == 2
