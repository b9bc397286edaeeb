"""A call's tools over the Model Context Protocol (streamable HTTP): https://modelcontextprotocol.io/specification.

Tools are those that the agent may call now; after a handoff the list is another one, and clients that listen are told
(`notifications/tools/list_changed`). The current role's prompt is the prompt `role`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from callm_voice.bench.toolserver_desk import ToolDesk
from callm_voice.bench.toolserver_http import MAX_BODY_BYTES, RunTool, answer

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.server.session import ServerSession
    from starlette.types import Receive, Scope, Send

MAX_SESSIONS = 16
"""One agent may have several connections; a call has one agent."""
PROMPT = "role"
INSTRUCTIONS = (
    "The tools of a front desk, for one phone call. Answers have `ok`, `data` and `error_code`. After a successful "
    "transfer_to_ROLE the call belongs to that role: read the list of tools and the prompt `role` again."
)


class McpTools:
    """The protocol's side of a call's tools.

    Args:
        run_tool: runs one call and tells `announce` of a handoff.
    """

    def __init__(self, desk: ToolDesk, run_tool: RunTool, version: str) -> None:
        from mcp.server.lowlevel import NotificationOptions, Server
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        logging.getLogger("mcp").addHandler(logging.NullHandler())  # what it warns of is answered to who did it

        class Notifying(Server[Any]):
            """One that says from the start that its list of tools may change."""

            def create_initialization_options(self, *_: Any, **__: Any) -> Any:
                return super().create_initialization_options(NotificationOptions(tools_changed=True))

        self._desk, self._run_tool = desk, run_tool
        self._is_open = False
        self._sessions: dict[str, ServerSession] = {}
        """By the id of the session: whom to tell of a change."""
        self._bus = InMemorySubscriptionBus()
        server: Server[Any] = Notifying(
            "callm-voice",
            version=version,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=ListenHandler(self._bus, max_subscriptions=MAX_SESSIONS, max_buffered_events=64),
        )
        self._manager = StreamableHTTPSessionManager(
            server, max_request_body_size=MAX_BODY_BYTES, max_sessions=MAX_SESSIONS
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Sessions live in this context; it is entered and left by the same task."""
        async with self._manager.run():
            self._is_open = True
            try:
                yield
            finally:
                self._is_open = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_open:
            await self._manager.handle_request(scope, receive, send)
        else:
            await answer(503, {"error": "the call is over"})(scope, receive, send)

    async def announce(self) -> None:
        """Tell all who listen that the list of tools has changed."""
        import anyio
        import mcp_types as types
        from mcp.server.subscriptions import ToolsListChanged

        await self._bus.publish(ToolsListChanged())
        for session_id, session in list(self._sessions.items()):
            try:
                await session.send_notification(types.ToolListChangedNotification())
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                del self._sessions[session_id]

    def _note(self, ctx: ServerRequestContext[Any, Any]) -> None:
        session_id = ctx.request.headers.get("mcp-session-id") if ctx.request is not None else None
        if session_id is not None:
            self._sessions[session_id] = ctx.session

    async def _list_tools(
        self, ctx: ServerRequestContext[Any, Any], _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        import mcp_types as types

        self._note(ctx)
        functions = [schema["function"] for schema in self._desk.tools()]
        return types.ListToolsResult(
            tools=[
                types.Tool(name=f["name"], description=f["description"], input_schema=f["parameters"])
                for f in functions
            ]
        )

    async def _call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        import mcp_types as types

        self._note(ctx)
        output = await self._run_tool(params.name, dict(params.arguments or {}))
        text = json.dumps(output, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=output)

    async def _list_prompts(
        self, ctx: ServerRequestContext[Any, Any], _: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        import mcp_types as types

        self._note(ctx)
        return types.ListPromptsResult(
            prompts=[types.Prompt(name=PROMPT, description="System prompt of the role that has the call now")]
        )

    async def _get_prompt(
        self, ctx: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        self._note(ctx)
        if params.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"there is no such prompt; there is {PROMPT!r}")
        text = types.TextContent(text=self._desk.prompt())
        return types.GetPromptResult(
            description=f"Role {self._desk.role}", messages=[types.PromptMessage(role="user", content=text)]
        )
