"""Calls of people as the server holds them, with a process of the test's own in the place of the worker."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.person_calls import BusyError, Limits, OfferError, PersonCall, PersonCalls, SecondOfferError
from callm_voice.core.errors import CallmError, SetupError, UsageError

pytestmark = pytest.mark.unit

WORKER = """
import json, os, sys
order = json.loads(sys.stdin.readline())
def say(**message):
    print(json.dumps(message), flush=True)
"""
ANSWERS = 'say(answer="sdp of " + order["offer"])\n'
OPENS = ANSWERS + 'say(open=100)\nsay(event={"type": "call_started"})\n'
DONE = 'say(done={"folder": order["call"]["run_dir"] + "/calls/t1", "status": "pass"})\n'
LISTENS = 'told = json.loads(sys.stdin.readline())\nsay(progress="told " + told["hang_up"])\n'
FOLDER = 'work = order["call"]["run_dir"] + "/calls/t1.partial"\nos.makedirs(work)\nsay(folder=work)\n'
WAITS = "sys.stdin.read()\n"
HANGS = "import signal\nsignal.pause()\n"
LIMIT_S = 30.0


def calls(script: str, **fields: Any) -> PersonCalls:
    return PersonCalls(command=(sys.executable, "-c", WORKER + script), **fields)


def spec(run_dir: Path) -> CallSpec:
    return CallSpec(task="healthcare/C5-H1", model="oracle", caller="person", run_dir=run_dir)


async def told(held: PersonCalls, call_id: str = "one") -> list[dict[str, Any]]:
    """All messages of a call, once it is over."""
    call = held.get(call_id)
    assert call is not None
    async with asyncio.timeout(LIMIT_S):
        return [message async for _, message in call.follow()]


async def opened(held: PersonCalls, call_id: str = "one") -> None:
    """Wait until the line is open."""
    call = held.get(call_id)
    assert call is not None
    async with asyncio.timeout(LIMIT_S):
        async for _, message in call.follow():
            if "open" in message:
                return


async def refused(held: PersonCalls, run_dir: Path) -> CallmError:
    with pytest.raises(CallmError) as caught:
        await held.start("one", spec(run_dir), "offer")
    assert held.get("one") is None
    return caught.value


async def test_the_answer_comes_back_and_all_messages_are_relayed(tmp_path: Path) -> None:
    held = calls(OPENS + DONE)
    assert await held.start("one", spec(tmp_path), "offer") == "sdp of offer"
    messages = await told(held)
    assert [next(iter(m)) for m in messages] == ["open", "event", "done"]
    call = held.get("one")
    assert call is not None
    assert (call.state, call.folder) == ("over", tmp_path / "calls/t1")
    assert held.running == []


async def test_who_comes_late_gets_all_from_the_beginning_and_who_comes_back_the_rest(tmp_path: Path) -> None:
    held = calls(OPENS + DONE)
    await held.start("one", spec(tmp_path), "offer")
    whole = await told(held)
    call = held.get("one")
    assert call is not None
    assert [message async for _, message in call.follow()] == whole
    assert [n async for n, _ in call.follow(after=2)] == [2]


async def test_a_second_offer_for_the_same_call_is_refused_and_the_call_goes_on(tmp_path: Path) -> None:
    held = calls(OPENS + LISTENS + DONE)
    await held.start("one", spec(tmp_path), "offer")
    with pytest.raises(SecondOfferError):
        await held.start("one", spec(tmp_path), "another")
    assert [call.id for call in held.running] == ["one"]
    await held.close()


async def test_no_more_calls_at_once_than_allowed(tmp_path: Path) -> None:
    held = calls(OPENS + LISTENS + DONE, max_calls=1)
    await held.start("one", spec(tmp_path), "offer")
    with pytest.raises(BusyError):
        await held.start("two", spec(tmp_path), "offer")
    await held.close()
    await held.start("two", spec(tmp_path), "offer")
    await held.close()


@pytest.mark.parametrize(("kind", "error"), [("usage", UsageError), ("offer", OfferError), ("setup", SetupError)])
async def test_a_worker_that_refuses_says_why_and_was_no_call(
    tmp_path: Path, kind: str, error: type[CallmError]
) -> None:
    held = calls(f'say(error="the reason", kind="{kind}")\n')
    found = await refused(held, tmp_path)
    assert isinstance(found, error)
    assert found.message == "the reason"


async def test_a_worker_that_dies_early_is_told_of_with_its_last_words(tmp_path: Path) -> None:
    found = await refused(calls('sys.exit("out of luck")\n'), tmp_path)
    assert "exit code 1" in found.message
    assert "out of luck" in found.message


async def test_a_worker_that_dies_in_the_call_is_told_of_and_its_folder_stays_unfinished(tmp_path: Path) -> None:
    held = calls(FOLDER + OPENS + "os._exit(7)\n")
    await held.start("one", spec(tmp_path), "offer")
    assert "exit code 7" in (await told(held))[-1]["error"]
    assert (tmp_path / "calls/t1.partial").is_dir()


@pytest.mark.parametrize("nonsense", ["{", "[]", "7"])
async def test_a_worker_that_talks_nonsense_is_ended(tmp_path: Path, nonsense: str) -> None:
    held = calls(ANSWERS + f'print("{nonsense}", flush=True)\n' + WAITS)
    await held.start("one", spec(tmp_path), "offer")
    assert "makes no sense" in (await told(held))[-1]["error"]


async def test_a_worker_that_does_not_answer_is_killed(tmp_path: Path) -> None:
    held = calls(FOLDER + HANGS, limits=Limits(answer_s=1.0))
    found = await refused(held, tmp_path)
    assert "took too long" in found.message
    assert not (tmp_path / "calls").exists()


async def test_a_worker_that_never_opens_the_line_is_killed_and_leaves_nothing(tmp_path: Path) -> None:
    held = calls(FOLDER + ANSWERS + HANGS, limits=Limits(setup_s=0.2))
    await held.start("one", spec(tmp_path), "offer")
    assert "loading took too long" in (await told(held))[-1]["error"]
    assert not (tmp_path / "calls").exists()


async def test_a_worker_that_does_not_end_after_the_call_is_killed(tmp_path: Path) -> None:
    held = calls(OPENS + 'say(event={"type": "call_ended"})\n' + HANGS, limits=Limits(finish_s=0.2))
    await held.start("one", spec(tmp_path), "offer")
    assert "took too long" in (await told(held))[-1]["error"]


async def test_hanging_up_is_told_to_the_worker_which_writes_the_call(tmp_path: Path) -> None:
    held = calls(OPENS + LISTENS + DONE)
    await held.start("one", spec(tmp_path), "offer")
    await opened(held)
    assert held.hang_up("one", "the caller hung up")
    assert {"progress": "told the caller hung up"} in await told(held)
    assert not held.hang_up("one", "again")


async def test_hanging_up_before_the_line_is_open_leaves_nothing(tmp_path: Path) -> None:
    held = calls(FOLDER + ANSWERS + HANGS)
    await held.start("one", spec(tmp_path), "offer")
    assert held.hang_up("one", "the caller hung up")
    assert (await told(held))[-1]["error"] == "the caller hung up before the desk answered"
    assert not (tmp_path / "calls").exists()


async def test_the_end_of_the_server_hangs_every_call_up(tmp_path: Path) -> None:
    held = calls(OPENS + LISTENS + DONE)
    for name in ("one", "two"):
        await held.start(name, spec(tmp_path / name), "offer")
        await opened(held, name)
    async with asyncio.timeout(LIMIT_S):
        await held.close()
    assert held.running == []
    found = [held.get("one"), held.get("two")]
    assert [call.folder for call in found if call] == [tmp_path / "one/calls/t1", tmp_path / "two/calls/t1"]


async def test_a_process_that_cannot_be_started_is_told_of_and_takes_no_place(tmp_path: Path) -> None:
    held = PersonCalls(command=(str(tmp_path / "no such program"),), max_calls=1)
    for _ in range(2):
        found = await refused(held, tmp_path)
        assert isinstance(found, SetupError)
        assert "cannot be started: No such file or directory" in found.message
    assert held.running == []
    assert not held._tasks


async def test_a_machine_without_room_for_a_file_refuses_calls_and_takes_them_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = calls(OPENS + DONE, max_calls=1)
    with monkeypatch.context() as full:
        full.setattr(tempfile, "TemporaryFile", _no_room)
        async with asyncio.timeout(LIMIT_S):
            found = await refused(held, tmp_path)
    assert "No space left" in found.message
    assert await held.start("one", spec(tmp_path), "offer") == "sdp of offer"
    assert "done" in (await told(held))[-1]


def _no_room() -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("nonsense", ['{"done": 1}', '{"open": "long"}', '{"event": 7}'])
async def test_a_worker_whose_message_lacks_what_belongs_to_it_is_ended(tmp_path: Path, nonsense: str) -> None:
    held = calls(ANSWERS + f"print('{nonsense}', flush=True)\n" + WAITS)
    await held.start("one", spec(tmp_path), "offer")
    assert "makes no sense" in (await told(held))[-1]["error"]


async def test_hanging_up_while_a_call_that_took_too_long_is_ended_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both at once: its time is over, and the process that was killed is not gone yet."""
    ending, ended = asyncio.Event(), asyncio.Event()
    end = PersonCalls._end

    async def slowly(self: PersonCalls, call: PersonCall, stderr: Any) -> None:
        ending.set()
        await ended.wait()
        await end(self, call, stderr)

    monkeypatch.setattr(PersonCalls, "_end", slowly)
    held = calls(OPENS + HANGS, limits=Limits(finish_s=0.2))
    await held.start("one", spec(tmp_path), "offer")
    await opened(held)
    call = held.get("one")
    assert call is not None
    call._within(0.0)
    async with asyncio.timeout(LIMIT_S):
        await ending.wait()
    assert held.hang_up("one", "the caller hung up")
    ended.set()
    assert [m["error"] for m in await told(held) if "error" in m] == [
        "the call or its writing took too long; the call was ended"
    ]
