"""A call's tools over HTTP and MCP: the same answers, one trace, and nothing without the call's token."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import httpx2
import pytest
from mcp import types
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from support.manual_clock import ManualClock

from callm_voice.bench.tool_options import Offer, ToolOptions
from callm_voice.bench.toolserver import ToolServer, is_open_to_others
from callm_voice.bench.toolserver_desk import ToolDesk
from callm_voice.bench.toolserver_http import MAX_BODY_BYTES
from callm_voice.core import paths
from callm_voice.core.errors import SetupError
from callm_voice.core.events import EventLog
from callm_voice.desk.database import CallDatabase
from callm_voice.desk.pack import Pack, load_pack

pytestmark = pytest.mark.conversation
FIND = {"phone_e164": "+15035550112", "full_name": "Walter Simmons"}
LIMIT_S = 10


@pytest.fixture(scope="module")
def pack() -> Pack:
    return load_pack(paths.find("packs", "customer_support"))


@pytest.fixture
def database(pack: Pack) -> Iterator[CallDatabase]:
    database = pack.open_database()
    yield database
    database.close()


@asynccontextmanager
async def serving(
    pack: Pack, database: CallDatabase, offer: Offer = "role", options: ToolOptions | None = None
) -> AsyncIterator[ToolServer]:
    before = asyncio.all_tasks()
    clock = ManualClock()
    log = EventLog(clock)
    log.start_line(0.0)
    desk = ToolDesk(pack, database, log, clock, offer=offer, turn_id=lambda: 1, on_broken=lambda error: None)
    server = ToolServer(desk, options or ToolOptions(offer=offer))
    await server.start()
    try:
        async with asyncio.timeout(60):
            yield server
    finally:
        async with asyncio.timeout(LIMIT_S):
            await server.aclose()
            await server.aclose()
    left = [task.get_name() for task in asyncio.all_tasks() - before if not task.done()]
    assert left == []


@asynccontextmanager
async def mcp_session(url: str, changed: asyncio.Event | None = None) -> AsyncIterator[ClientSession]:
    async def told(message: object) -> None:
        if changed is not None and "ToolListChanged" in repr(message):
            changed.set()

    listening = asyncio.Event()

    async def answered(response: httpx2.Response) -> None:
        if response.request.method == "GET":  # the stream that the client opens beside its first request
            listening.set()

    async with (
        httpx2.AsyncClient(timeout=60, event_hooks={"response": [answered]}) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(streams[0], streams[1], message_handler=told) as session,
    ):
        await session.initialize()
        async with asyncio.timeout(LIMIT_S):  # what is told before the client listens is lost
            await listening.wait()
        yield session


async def test_plain_http_lists_prompts_and_runs_tools(pack: Pack, database: CallDatabase) -> None:
    async with serving(pack, database) as server, httpx.AsyncClient() as client:
        listed = (await client.get(f"{server.url}/tools")).json()
        assert listed == {"role": "router", "tools": list(pack.role("router").tool_schemas)}
        prompt = (await client.get(f"{server.url}/prompt")).json()
        assert prompt == {"role": "router", "prompt": pack.role("router").system_prompt}
        roles = (await client.get(f"{server.url}/roles")).json()
        assert [role["name"] for role in roles["roles"]] == list(pack.roles)
        moved = await client.post(f"{server.url}/tools/transfer_to_identity", json={})
        assert (moved.status_code, moved.json()) == (200, {"success": True, "role": "identity"})
        found = (await client.post(f"{server.url}/tools/find_account", json=FIND)).json()
        assert (found["ok"], found["error_code"]) == (True, None)
        assert (await client.get(f"{server.url}/tools")).json()["role"] == "identity"
        assert [call.name for call in server.desk.trace().calls] == ["transfer_to_identity", "find_account"]


async def test_mcp_lists_runs_and_tells_of_the_new_list_after_a_handoff(pack: Pack, database: CallDatabase) -> None:
    changed = asyncio.Event()
    async with serving(pack, database) as server, mcp_session(server.mcp_url, changed) as session:
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names == [schema["function"]["name"] for schema in pack.role("router").tool_schemas]
        result = await session.call_tool("transfer_to_identity", {})
        assert isinstance(result.content[0], types.TextContent)
        assert json.loads(result.content[0].text) == {"success": True, "role": "identity"}
        async with asyncio.timeout(LIMIT_S):
            await changed.wait()
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == [s["function"]["name"] for s in pack.role("identity").tool_schemas]
        assert [tool.input_schema for tool in tools] == [
            s["function"]["parameters"] for s in pack.role("identity").tool_schemas
        ]
        found = await session.call_tool("find_account", FIND)
        assert found.structured_content["ok"] is True
        refused = await session.call_tool("no_such_tool", {})
        assert refused.structured_content["error_code"] == "unknown_tool"
        prompt = await session.get_prompt("role")
        assert isinstance(prompt.messages[0].content, types.TextContent)
        assert prompt.messages[0].content.text == pack.role("identity").system_prompt


async def test_a_handoff_over_http_is_told_over_mcp_and_both_write_one_trace(
    pack: Pack, database: CallDatabase
) -> None:
    changed = asyncio.Event()
    async with serving(pack, database) as server, mcp_session(server.mcp_url, changed) as session:
        await session.list_tools()
        async with httpx.AsyncClient() as client:
            await client.post(f"{server.url}/tools/transfer_to_identity", json={})
        async with asyncio.timeout(LIMIT_S):
            await changed.wait()
        await session.call_tool("find_account", FIND)
        assert [call.name for call in server.desk.trace().calls] == ["transfer_to_identity", "find_account"]


async def test_all_tools_are_offered_at_once_if_so_chosen(pack: Pack, database: CallDatabase) -> None:
    async with serving(pack, database, "all") as server, mcp_session(server.mcp_url) as session:
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert set(pack.tools) < names
        assert {"transfer_to_identity", "transfer_to_billing"} < names


async def test_without_the_calls_token_there_is_nothing(pack: Pack, database: CallDatabase) -> None:
    async with serving(pack, database) as server, httpx.AsyncClient() as client:
        root, _, token = server.url.rpartition("/")
        for path in (
            "/tools",
            "/x/tools",
            f"/{token[:-1]}/tools",
            f"/{token}x/tools",
            "/mcp",
            "/prompt",
            "/",
            "/é/tools",
        ):
            answer = await client.get(f"{root}{path}")
            assert (answer.status_code, answer.json()) == (401, {"error": "this call's token is missing or wrong"})
        posted = await client.post(f"{root}/wrong/tools/transfer_to_identity", json={})
        assert posted.status_code == 401
        assert server.desk.calls == 0
        allowed = await client.get(f"{root}/tools", headers={"Authorization": f"Bearer {token}"})
        assert allowed.status_code == 200
        wrong = await client.get(f"{root}/tools", headers={"Authorization": f"Basic {token}"})
        assert wrong.status_code == 401
        assert token not in server.without_token(server.mcp_url)


async def test_the_token_of_one_call_opens_no_other(pack: Pack, database: CallDatabase) -> None:
    async with serving(pack, database) as one, serving(pack, database) as other, httpx.AsyncClient() as client:
        token = one.url.rpartition("/")[2]
        root = other.url.rpartition("/")[0]
        assert (await client.get(f"{root}/{token}/tools")).status_code == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[1]", 400), (b"null", 400), (b"[" * 60_000, 400), (b" " * (MAX_BODY_BYTES + 1), 413), (b"", 200)],
    ids=["cut", "list", "null", "bottomless", "too long", "empty"],
)
async def test_a_body_that_is_no_object_of_arguments_is_refused(
    body: bytes, status: int, pack: Pack, database: CallDatabase
) -> None:
    async with serving(pack, database) as server, httpx.AsyncClient() as client:
        answer = await client.post(f"{server.url}/tools/transfer_to_identity", content=body)
        assert answer.status_code == status
        assert server.desk.calls == (1 if status == 200 else 0)
        assert (await client.get(f"{server.url}/nothing")).status_code == 404
        assert (await client.put(f"{server.url}/tools")).status_code == 405


async def test_an_mcp_body_is_bounded_too(pack: Pack, database: CallDatabase) -> None:
    async with serving(pack, database) as server, httpx.AsyncClient() as client:
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        answer = await client.post(server.mcp_url, content=b" " * (MAX_BODY_BYTES + 1), headers=headers)
        assert answer.status_code == 413


async def test_it_closes_while_a_client_still_listens(pack: Pack, database: CallDatabase) -> None:
    async with serving(pack, database) as server:
        called = asyncio.Event()
        session = asyncio.create_task(_listen_for_ever(server.mcp_url, called), name="listener")
        async with asyncio.timeout(LIMIT_S):
            await called.wait()
        async with asyncio.timeout(LIMIT_S):
            await server.aclose()
        session.cancel()
        await asyncio.wait({session})


async def _listen_for_ever(url: str, called: asyncio.Event) -> None:
    async with mcp_session(url) as session:
        await session.list_tools()
        await session.call_tool("transfer_to_identity", {})
        called.set()
        await asyncio.Event().wait()


async def test_an_address_that_is_taken_is_one_clear_line(pack: Pack, database: CallDatabase) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = ToolOptions(port=taken.getsockname()[1])
        with pytest.raises(SetupError, match="tools cannot be served at"):
            async with serving(pack, database, options=options):
                pass


@pytest.mark.parametrize("host", ["a..b", "ü..x", "256.256.256.256"])
async def test_an_address_that_is_none_is_one_clear_line(host: str, pack: Pack, database: CallDatabase) -> None:
    with pytest.raises(SetupError, match="tools cannot be served at") as refused:
        async with serving(pack, database, options=ToolOptions(host=host)):
            pass
    assert "--tools-host" in refused.value.hint


async def test_a_public_address_stands_in_the_urls(pack: Pack, database: CallDatabase) -> None:
    async with serving(pack, database, options=ToolOptions(public_url="https://tunnel.example/callm/")) as server:
        assert server.url.startswith("https://tunnel.example/callm/")
        assert server.mcp_url.endswith("/mcp")
    assert [is_open_to_others(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.0.0.1", "box")] == [
        False, False, False, True, True, True,
    ]  # fmt: skip
