"""The doubles at the far end do not swallow their own faults, and nothing is called inconclusive but what is."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.bots import media_bot
from support.calling_in import CallerIn
from support.gold_model import gold_model
from support.llm_servers import Exchange, raw_server
from support.media_agent import Connection, media_agent
from support.parrot_server import parrot_server
from websockets.asyncio.client import connect

pytestmark = pytest.mark.meta
START = {"event": "start", "start": {"streamSid": "MZ1", "customParameters": {}}}


async def test_a_fault_in_a_servers_script_is_more_than_a_broken_connection() -> None:
    async def broken(_: Exchange) -> None:
        raise ValueError("a fault of the script")

    async def asked() -> None:
        async with raw_server(broken) as server, httpx.AsyncClient(trust_env=False) as http:
            with pytest.raises(httpx.RemoteProtocolError):
                await http.post(f"{server.base_url}/chat/completions", json={})

    with pytest.raises(ValueError, match="a fault of the script"):
        await asked()


@pytest.mark.parametrize("server", [parrot_server, lambda: gold_model([])], ids=["parrot", "gold model"])
def test_a_request_that_a_model_cannot_take_is_more_than_a_broken_connection(
    server: Callable[[], AbstractContextManager[Any]],
) -> None:
    def asked() -> None:
        with server() as model, httpx.Client(trust_env=False) as http, pytest.raises(httpx.RemoteProtocolError):
            http.post(f"http://127.0.0.1:{model.port}/v1/chat/completions", content=iter([b"{}"]))  # without a length

    with pytest.raises(TypeError, match="int"):
        asked()


async def test_a_fault_in_an_agents_script_is_more_than_a_closed_stream() -> None:
    async def broken(_: Connection) -> None:
        raise ValueError("a fault of the script")

    async def called() -> None:
        async with media_agent(broken) as url, connect(url) as socket:
            await socket.wait_closed()

    with pytest.raises(ValueError, match="a fault of the script"):
        await called()


async def phoned(url: str, *messages: str) -> None:
    async with connect(url) as socket:
        for message in messages:
            await socket.send(message)
        await socket.wait_closed()


@pytest.mark.parametrize(
    ("steps", "messages", "says"),
    [
        ([{"tool": "find_account"}], [json.dumps(START)], "KeyError: 'tools_url'"),
        ([{"wait": "speech"}], [json.dumps(START), "no JSON"], "JSONDecodeError"),
    ],
    ids=["a step", "a message"],
)
async def test_a_bot_that_cannot_go_on_fails_the_test(
    steps: list[dict[str, Any]], messages: list[str], says: str, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match=f"(?s)exit code 1: .*{says}"), media_bot(tmp_path, steps) as url:
        await phoned(url, *messages)


async def test_a_call_that_is_over_in_the_middle_of_a_bots_script_is_none_of_its_faults(tmp_path: Path) -> None:
    with media_bot(tmp_path, [{"pause": 0.1}, {"say": 20}, {"say": 20}]) as url:
        async with connect(url) as socket:
            await socket.send(json.dumps(START))


@pytest.mark.parametrize(
    ("detail", "gap_s", "skipped"),
    [("no more packets came for 5 s", 4.0, True), ("no more packets came for 5 s", 0.1, False), ("broke", 4.0, False)],
)
async def test_a_call_that_is_given_up_is_inconclusive_only_if_the_caller_was_late(
    detail: str, gap_s: float, skipped: bool
) -> None:
    caller = CallerIn(None, None)  # type: ignore[arg-type]
    caller.done, caller.longest_gap_s = {"detail": detail}, gap_s
    try:
        with pytest.raises(pytest.skip.Exception if skipped else AssertionError):
            caller._check_going_on("transcript_ready")
    finally:
        await caller.peer.aclose()
        caller._clock.close()
