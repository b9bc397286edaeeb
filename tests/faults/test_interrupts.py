"""Ctrl-C when nobody is ready for it: while modules are imported, and while a pool starts its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import command, hearing_ctrl_c
from support.whole_run import children, is_alive

from callm_voice.bench.packcheck.run import cores
from callm_voice.core.clock import stopwatch

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]
LIMIT_S = 120.0


def importing(*args: str) -> subprocess.Popen[str]:
    """The command, which tells on stderr what it has imported, line by line."""
    with hearing_ctrl_c():
        return subprocess.Popen(
            [sys.executable, "-X", "importtime", "-m", "callm_voice", *args],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("module", "args"),
    [
        ("typer.models", ["--help"]),
        ("callm_voice.cli.common", ["--help"]),
        ("callm_voice.bench.callspec", ["call", "--task", "healthcare/C5-H1", "--model", "oracle", "--line", "text"]),
        ("callm_voice.llm.spec", ["profile", "--model", "oracle"]),
    ],
    ids=["the command line's library", "the commands", "a call's modules", "a profile's modules"],
)
def test_ctrl_c_while_modules_are_imported_is_one_line(module: str, args: list[str], tmp_path: Path) -> None:
    process = importing(*args, *(["--out", str(tmp_path / "out")] if "--help" not in args else []))
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("import time:") and line.split("|")[-1].strip().startswith(module):
            process.send_signal(signal.SIGINT)
            break
    _, rest = process.communicate(timeout=LIMIT_S)
    said = [line for line in rest.splitlines() if not line.startswith("import time:")]
    assert process.returncode == 130, said
    assert said[-1].startswith("callm-voice: interrupted")
    assert "Traceback" not in rest


LOST_CTRL_C = """
import signal, time, weakref
from callm_voice.cli import commands, main

class Thing: pass

def command():
    thing = Thing()
    kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    time.sleep(60)

commands.main = command
main.run()
"""


def test_a_ctrl_c_that_meets_a_callback_of_the_interpreter_is_not_lost() -> None:
    """What is raised in a weak reference's callback is printed and forgotten; an import has such callbacks."""
    with hearing_ctrl_c():
        done = subprocess.run([sys.executable, "-c", LOST_CTRL_C], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 130, done.stderr
    assert done.stderr.splitlines() == ["callm-voice: interrupted; what was unfinished is redone next time"]


@pytest.mark.skipif(cores() < 2, reason="one core: no pool is started")
def test_ctrl_c_at_a_terminal_ends_a_pool_without_a_word_of_its_processes() -> None:
    """A terminal sends it to all processes of the job, also to those that have only just been started."""
    args = command("packs", "check", "legal")
    with hearing_ctrl_c():
        process = subprocess.Popen(
            args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
    waited_s = stopwatch()
    workers: list[int] = []
    while len(workers) < 2 and process.poll() is None and waited_s() < LIMIT_S:
        workers = [pid for pid in children(process.pid) if "spawn_main" in command_line(pid)]
    if len(workers) < 2:
        process.kill()
        pytest.fail(f"no pool was started: {process.communicate()[1]}")
    os.killpg(process.pid, signal.SIGINT)
    _, rest = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, rest
    assert rest.splitlines()[-1].startswith("callm-voice: interrupted")
    assert "Traceback" not in rest
    assert [pid for pid in workers if is_alive(pid)] == []


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return ""
