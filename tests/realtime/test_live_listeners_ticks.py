"""Fifty people connect to the live page at once, and the line of a call that they listen to ticks as before."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from support.cli import command
from support.live import LINE, MODEL, TASK

from callm_voice.bench.livetap import live_tap
from callm_voice.core.clock import RealClock
from callm_voice.core.events import CallStarted, EventLog
from callm_voice.core.fastloop import run
from callm_voice.core.livefiles import LIVE_SOUND, live_dir
from callm_voice.core.runfolder import call_dir, open_call_folder
from callm_voice.line.leg import Frame
from callm_voice.line.line import LineReport, PhoneLine
from callm_voice.line.profile import load_profile

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(180)]
SECONDS = 8.0
BUSY_SHARE = 0.05
"""Of late ticks without any listener: such a machine shows nothing."""
MORE_SHARE = 0.02
LISTENERS = """
import asyncio, sys, httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
url = sys.argv[1]

async def one(call, what):
    try:
        async with connect(f"ws{url[4:]}calls/{call}/{what}", max_size=None) as socket:
            heard = 0
            async for message in socket:
                heard += 1
                if heard == 1:
                    print("listens", flush=True)
    except InvalidStatus as refused:
        print(refused.response.status_code, flush=True)
    except ConnectionClosed:
        return

async def main():
    print("ready", flush=True)
    while not (calls := httpx.get(f"{url}api/calls").json()["running"]):
        await asyncio.sleep(0.1)
    await asyncio.gather(*(one(calls[0]["id"], ("events", "sound")[n % 2]) for n in range(50)))

asyncio.run(main())
"""


class Hum:
    """A leg that hums."""

    def pull(self) -> Frame | None:
        return np.full(160, 500, dtype=np.int16)

    def push(self, frame: Frame) -> None: ...

    def clear(self) -> None: ...


@contextmanager
def listeners(run_dir: Path, heard: list[str]) -> Iterator[None]:
    """A server and fifty listeners, in processes of their own."""
    server = subprocess.Popen(
        command("serve", "--run", str(run_dir), "--port", "0", "--json"), stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    text = ""
    while not text.rstrip().endswith("}"):
        text += server.stdout.readline()
    people = subprocess.Popen([sys.executable, "-c", LISTENERS, json.loads(text)["url"]], stdout=subprocess.PIPE)
    assert people.stdout is not None
    try:
        assert people.stdout.readline() == b"ready\n"  # starting processes costs more than listening does
        yield
        server.terminate()
        assert server.wait(30) == 0
        out, _ = people.communicate(timeout=30)
        heard += out.decode().split()
    finally:
        for process in (people, server):
            if process.poll() is None:
                process.kill()
            process.wait()
        server.stdout.close()


def line_of_a_call(run_dir: Path, trial: int) -> tuple[LineReport, bool]:
    """One call's line for some seconds; whether somebody asked for its sound."""
    clock = RealClock()
    final = call_dir(run_dir, pack="demo", task=TASK, model=MODEL, line=LINE, trial=trial)
    try:
        with open_call_folder(final) as folder:
            log = EventLog(clock)
            with live_tap(folder.work, log) as tap:
                line = PhoneLine(Hum(), Hum(), load_profile(LINE), clock, log, max_duration_s=SECONDS)
                tap.follow(line.recorder)
                log.emit(CallStarted, task=f"demo/{TASK}", model=MODEL, line=LINE, pipeline="-", pace="real", seed=1)
                report = run(line.run, clock)
            return report, (live_dir(folder.work) / LIVE_SOUND).exists()
    finally:
        clock.close()


def test_fifty_connections_make_no_more_ticks_late(tmp_path: Path) -> None:
    before, watched = line_of_a_call(tmp_path / "alone", 1)
    assert not watched
    if before.late_ticks > BUSY_SHARE * before.ticks:
        pytest.skip(f"inconclusive: {before.late_ticks} of {before.ticks} ticks were late without any listener")
    heard: list[str] = []
    with listeners(tmp_path / "watched", heard):
        during, watched = line_of_a_call(tmp_path / "watched", 1)
    assert watched
    assert heard.count("listens") == 32
    assert heard.count("503") == 18
    assert during.late_ticks <= before.late_ticks + MORE_SHARE * during.ticks
