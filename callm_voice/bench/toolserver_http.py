"""A call's tools over plain HTTP: the routes, and the gate that lets only this call's token through.

    GET  /tools         {"role": ..., "tools": [...]}     as the `tools` of a chat request
    POST /tools/NAME    arguments as a JSON object        the tool's envelope, or {"success", "role"} of a transfer
    GET  /roles         {"role": ..., "roles": [...]}
    GET  /prompt        {"role": ..., "prompt": ...}

What a tool refuses is an answer like any other (200, `ok: false`), as it is for our own agent's model.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from callm_voice.bench.toolserver_desk import ToolDesk

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Receive, Scope, Send

MAX_BODY_BYTES = 64 * 1024
"""Of one tool call; no argument of a pack's comes near it."""

RunTool = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


class TokenGate:
    """Lets a request pass if it has the token: as the first part of its path, which is taken away, or as
    `Authorization: Bearer TOKEN`. Everything else is answered with 401, whatever it asks for.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        first, _, rest = str(scope["path"]).removeprefix("/").partition("/")
        if self._is_token(first):
            await self._app({**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}, receive, send)
        elif self._is_token(_bearer(scope)):
            await self._app(scope, receive, send)
        else:
            await answer(401, {"error": "this call's token is missing or wrong"})(scope, receive, send)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())


def http_routes(desk: ToolDesk, run_tool: RunTool) -> list[Route]:
    """The routes of the plain protocol."""
    from starlette.routing import Route

    async def tools(_: Request) -> Response:
        return answer(200, {"role": desk.role, "tools": desk.tools()})

    async def roles(_: Request) -> Response:
        return answer(200, {"role": desk.role, "roles": desk.roles()})

    async def prompt(_: Request) -> Response:
        return answer(200, {"role": desk.role, "prompt": desk.prompt()})

    async def call(request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return answer(413, {"error": f"a tool call has at most {MAX_BODY_BYTES:,} bytes"})
        try:
            arguments = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            return answer(400, {"error": "the body is not JSON"})
        if not isinstance(arguments, dict):
            return answer(400, {"error": "the body is not a JSON object of arguments"})
        return answer(200, await run_tool(request.path_params["name"], arguments))

    return [
        Route("/tools", tools),
        Route("/tools/{name}", call, methods=["POST"]),
        Route("/roles", roles),
        Route("/prompt", prompt),
    ]


async def _body(request: Request) -> bytes | None:
    """The whole body; None: it is too long, and the rest of it is not read."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            return None
    return body


def _bearer(scope: Scope) -> str:
    for name, value in scope["headers"]:
        kind, _, token = bytes(value).decode("latin-1").partition(" ")
        if name == b"authorization" and kind.lower() == "bearer":
            return token.strip()
    return ""


def answer(status: int, body: dict[str, Any]) -> Response:
    """An answer in JSON."""
    from starlette.responses import JSONResponse

    return JSONResponse(body, status)
