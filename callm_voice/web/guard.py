"""Who may come in: the one place that every request and every websocket passes before anything else is done.

With a token, a request needs it: `Authorization: Bearer TOKEN`, the cookie, or once `?token=TOKEN`, which is changed
for the cookie. Without one the server listens on loopback only, and what comes must be addressed to loopback: a page of
somebody else's whose name was rebound to 127.0.0.1 sends its own name as `Host`. In both cases an `Origin` other than
our own is refused, so that no page of another site can open a websocket or post a form here (RFC 6454 §7, RFC 6455
§10.2).
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from callm_voice.web.settings import is_loopback

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "callm_voice"
"""Its name ends with the port: browsers share cookies between the ports of a host."""
MAX_BODY_BYTES = 256 * 1024
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "media-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""On every answer that does not have its own."""
_AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")


class Guard:
    """ASGI middleware.

    Args:
        app: what is behind it.
        token: see the module.
    """

    def __init__(self, app: App, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self.refusal(scope) or too_large(scope)
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
            return
        await self._app(scope, receive, _with_headers(send))

    def refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that may not come in; None: it may."""
        headers = Headers(scope=scope)
        authority = _AUTHORITY.fullmatch(headers.get("host", ""))
        if authority is None:
            return PlainTextResponse("no valid Host header\n", 400)
        if self._token is None and not is_loopback(authority["six"] or authority["name"].lower()):
            return PlainTextResponse("this server answers to 127.0.0.1, [::1] and localhost only\n", 403)
        origin = headers.get("origin")
        if origin is not None and _authority(origin) != headers["host"].lower():
            return PlainTextResponse("requests from other sites are refused\n", 403)
        return None if self._token is None else self._without_token(self._token, scope, headers)

    def _without_token(self, token: str, scope: Scope, headers: Headers) -> Response | None:
        name = cookie_name(scope)
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if (scheme.lower() == "bearer" and _same(bearer, token)) or _same(_cookie(headers, name), token):
            return None
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        if not any(key == "token" and _same(value, token) for key, value in query):
            return PlainTextResponse("a token is needed: open the address with ?token=...\n", 401)
        if scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD"):
            return None
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        path = scope["raw_path"].decode("latin-1") if scope.get("raw_path") else scope["path"]
        # A path that begins with two slashes would be taken for the name of another host.
        answer = RedirectResponse("/" + path.lstrip("/") + (f"?{rest}" if rest else ""), 303)
        answer.set_cookie(name, token, httponly=True, samesite="strict", secure=scope.get("scheme") == "https")
        return answer


def too_large(scope: Scope) -> Response | None:
    """The answer to a request whose body is longer than any of ours, or does not say how long it is."""
    if scope["type"] == "websocket" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return None
    headers = Headers(scope=scope)
    if "transfer-encoding" in headers:
        return PlainTextResponse("the body's length is needed\n", 411)
    length = headers.get("content-length", "0")
    return PlainTextResponse("too large\n", 413) if not length.isdigit() or int(length) > MAX_BODY_BYTES else None


def cookie_name(scope: Scope) -> str:
    """Of the server that the request came to."""
    port = (scope.get("server") or ("", None))[1]
    return f"{COOKIE}_{port}" if port else COOKIE


async def refuse(answer: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the answer, to a websocket's handshake too where the server can (ASGI's `websocket.http.response`)."""
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    await answer(scope, receive, send)


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def _authority(origin: str) -> str:
    """Host and port of an `Origin`, in lower case; empty: it has none, or is no origin at all."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _cookie(headers: Headers, name: str) -> str:
    """As browsers read them: what other servers of this host put into cookies of theirs, even JSON, hides none."""
    return cookie_parser(headers.get("cookie", "")).get(name, "")


def _same(given: str, token: str) -> bool:
    """In a time that does not tell how much of it was right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
