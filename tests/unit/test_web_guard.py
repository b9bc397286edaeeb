"""Who may come in: with a token, without one, from another site, under another name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse

from callm_voice.core.errors import UsageError
from callm_voice.web.app import create_app
from callm_voice.web.guard import HEADERS
from callm_voice.web.settings import ServeSettings, is_loopback

pytestmark = pytest.mark.unit

OURS = "http://127.0.0.1:8765"
SOCKET = "ws://127.0.0.1:8765/calls/000000000000/events"


@pytest.fixture
def open_client(tmp_path: Path) -> Iterator[Any]:
    """Makes clients of servers that run until the test is over."""
    with ExitStack() as stack:

        def opened(token: str | None = None, base: str = OURS) -> TestClient:
            app = create_app(ServeSettings(tmp_path, token=token))
            return stack.enter_context(TestClient(app, base_url=base, follow_redirects=False))

        yield opened


def handshake(on: TestClient, **headers: str) -> int:
    """Status of a websocket's refusal."""
    with pytest.raises(WebSocketDenialResponse) as refused, on.websocket_connect(SOCKET, headers=headers):
        pass
    return refused.value.status_code


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_loopback_needs_no_token(host: str, tmp_path: Path) -> None:
    assert ServeSettings(tmp_path, host=host).token is None


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.2", "10.0.0.1", "example.org", "localhost.example.org", ""]
)
def test_any_other_address_without_a_token_is_refused(host: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a token is needed") as refused:
        ServeSettings(tmp_path, host=host)
    assert refused.value.exit_code == 2
    assert not is_loopback(host)


@pytest.mark.parametrize("token", ["", "  ", "schlüssel", "a\nb"])
def test_a_token_that_cannot_be_sent_is_refused(token: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--token"):
        ServeSettings(tmp_path, token=token)


@pytest.mark.parametrize("base", [OURS, "http://localhost:8765", "http://[::1]:8765", "http://LOCALHOST"])
def test_our_own_names_are_answered(base: str, open_client: Any) -> None:
    assert open_client(base=base).get("/").status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/calls", "/report/", "/static/live.css", "/calls/x"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8765", "192.168.1.2"])
def test_a_name_that_was_rebound_to_this_machine_is_refused(host: str, path: str, open_client: Any) -> None:
    assert open_client().get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["", "127.0.0.1:99999999", "a b", "[::1", "127.0.0.1@evil.example"])
def test_a_host_that_is_none_is_refused(host: str, open_client: Any) -> None:
    assert open_client().get("/", headers={"host": host}).status_code in (400, 403)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://127.0.0.1", "http://127.0.0.1:9999", "http://localhost:8765", "null", ""]
)
@pytest.mark.parametrize("token", [None, "secret"])
def test_requests_of_another_site_are_refused(origin: str, token: str | None, open_client: Any) -> None:
    """Even with the token: a page on another port of this host has the cookie too."""
    on = open_client(token)
    headers = {"origin": origin, "authorization": "Bearer secret"}
    assert on.post("/api/calls", headers=headers).status_code == 403
    assert handshake(on, **headers) == 403


def test_our_own_pages_may_open_websockets_and_post(open_client: Any) -> None:
    on = open_client()
    assert handshake(on, origin=OURS) == 404  # past the guard: there is no such call
    assert on.post("/api/calls", headers={"origin": OURS}).status_code == 405


def test_a_websocket_under_a_rebound_name_is_refused(open_client: Any) -> None:
    assert handshake(open_client(), host="evil.example", origin="http://evil.example") == 403


@pytest.mark.parametrize("path", ["/", "/api/calls", "/report/index.html", "/static/live.css", "/calls/x", "/nothing"])
def test_with_a_token_nothing_is_given_out_without_it(path: str, open_client: Any) -> None:
    on = open_client("secret")
    assert on.get(path).status_code == 401
    assert on.get(path, headers={"authorization": "Bearer wrong"}).status_code == 401
    assert on.get(path, headers={"authorization": "Basic secret"}).status_code == 401
    assert on.get(f"{path}?token=wrong").status_code == 401
    assert on.get(path, headers={"cookie": "callm_voice=secret2"}).status_code == 401
    assert handshake(on) == 401


def test_a_bearer_may_come_in(open_client: Any) -> None:
    on = open_client("secret")
    headers = {"authorization": "Bearer secret"}
    assert on.get("/api/calls", headers=headers).status_code == 200
    assert handshake(on, **headers) == 404


def test_the_token_in_the_address_is_changed_for_a_cookie(open_client: Any) -> None:
    on = open_client("s&c=r;e t%")
    answer = on.get("/calls/x", params={"a": "1 2", "token": "s&c=r;e t%"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/calls/x?a=1+2"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert on.get("/api/calls").status_code == 200
    assert handshake(on, cookie=cookie.partition(";")[0]) == 404


def test_a_redirect_never_leads_to_another_host(open_client: Any) -> None:
    answer = open_client("secret").get(f"{OURS}//evil.example/x?token=secret")
    assert answer.headers["location"] == "/evil.example/x"


def test_a_name_other_than_loopback_is_answered_with_the_token(open_client: Any) -> None:
    on = open_client("secret", base="http://desk.example:8765")
    assert on.get("/api/calls", headers={"authorization": "Bearer secret"}).status_code == 200


def test_every_answer_has_the_headers_that_keep_other_sites_out(open_client: Any) -> None:
    on = open_client()
    answers = [on.get("/"), on.get("/nothing"), on.get("/api/calls"), on.get("/", headers={"host": "evil.example"})]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_a_body_that_is_too_large_is_not_read(open_client: Any) -> None:
    on = open_client()
    assert on.post("/api/calls", content=b"x" * 300_000).status_code == 413
    assert on.post("/api/calls", content=iter([b"x"])).status_code == 411
    assert on.post("/api/calls", content=b"x").status_code == 405


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://]", "http://[x]", "http://a\u2100b"])
def test_an_origin_that_is_none_is_refused(origin: str, open_client: Any) -> None:
    on = open_client()
    headers = {"origin": origin.encode("utf-8")}
    assert on.get("/", headers=headers).status_code == 403


@pytest.mark.parametrize("other", ['seen={"a": 1}', "a b=1", "no-value", "=", 'q="'])
def test_cookies_of_other_servers_on_this_host_hide_ours_from_nobody(other: str, open_client: Any) -> None:
    """Browsers send the cookies of all ports of a host, and some servers put whatever they like into theirs."""
    on = open_client("s&c=r;e t%")
    ours = on.get("/", params={"token": "s&c=r;e t%"}).headers["set-cookie"].partition(";")[0]
    for cookie in (f"{other}; {ours}", f"{ours}; {other}"):
        on.cookies.clear()
        assert on.get("/api/calls", headers={"cookie": cookie}).status_code == 200
    on.cookies.clear()
    assert on.get("/api/calls", headers={"cookie": other}).status_code == 401
