"""Server processes: they come up, say why if they do not, and never outlive us."""

import asyncio
import os
import sys

import pytest

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import ModelConnectError, ModelTimeoutError
from callm_voice.llm.process import ServerProcess

pytestmark = pytest.mark.unit
READY = 'import sys; print(\'{"ready": true, "port": 7}\', flush=True); '


@pytest.fixture
def clock():
    clock = RealClock()
    yield clock
    clock.close()


@pytest.fixture
def start(clock, tmp_path, monkeypatch):
    """Start a module whose source is given."""

    async def start(source: str, ready_s: float = 20.0) -> ServerProcess:
        (tmp_path / "fake_server.py").write_text(source)
        env = {"PYTHONPATH": str(tmp_path)}
        return await ServerProcess.start("fake_server", [], what="the fake", clock=clock, ready_s=ready_s, env=env)

    return start


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def until(holds) -> None:
    """Return when the condition holds; fails after ten seconds."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.01)


async def test_a_server_tells_its_port_and_ends_with_its_stdin(start, clock):
    server = await start(READY + "sys.stdin.read()")
    assert (server.ready["port"], server.alive) == (7, True)
    await server.stop()
    assert not server.alive
    assert gone(server.pid)
    assert not any(clock.in_flight.values())


async def test_stopping_twice_does_nothing(start):
    server = await start(READY + "sys.stdin.read()")
    await server.stop()
    await server.stop()


async def test_one_that_ignores_everything_is_killed(start):
    server = await start("import signal; signal.signal(15, signal.SIG_IGN)\n" + READY + "\nwhile True: signal.pause()")
    await server.stop(grace_s=0.1)
    assert gone(server.pid)


async def test_one_that_fails_says_so_with_its_last_words(start):
    with pytest.raises(ModelConnectError, match=r"the fake ended with exit code 3 .*: no such weight"):
        await start("import sys; print('no such weight', file=sys.stderr); sys.exit(3)")


async def test_one_that_is_never_ready_is_given_up(start):
    with pytest.raises(ModelTimeoutError, match=r"the fake was not ready within 0.3 s"):
        await start("import sys; sys.stdin.read()", ready_s=0.3)


async def test_one_that_prints_something_else_is_refused(start):
    with pytest.raises(ModelConnectError, match="no ready line but b'hello"):
        await start("print('hello', flush=True)\nimport sys; sys.stdin.read()")


async def test_much_output_does_not_block_it_and_its_end_is_kept(start):
    noise = "print('x' * 300000, flush=True); print('y\\n' * 100000 + 'last', file=sys.stderr, flush=True); "
    server = await start(READY + noise + "sys.stdin.read()")
    await until(lambda: server.stderr_tail().endswith("last"))
    await server.stop()


async def test_a_child_of_ours_ends_when_its_parent_is_killed(tmp_path):
    """The grandchild waits by `wait_for_parent_end`; its parent is killed without any chance to clean up."""
    child = "from callm_voice.llm.child import wait_for_parent_end; wait_for_parent_end()"
    parent = (
        "import subprocess, sys; "
        f"p = subprocess.Popen([sys.executable, '-c', {child!r}], stdin=subprocess.PIPE); "
        "print(p.pid, flush=True); sys.stdin.read()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", parent, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    pid = int(await process.stdout.readline())
    assert not gone(pid)
    process.kill()
    await process.wait()
    await until(lambda: gone(pid) or _is_zombie(pid))


def _is_zombie(pid: int) -> bool:
    """An orphan whose new parent does not collect it has ended all the same."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
