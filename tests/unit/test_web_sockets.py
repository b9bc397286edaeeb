"""What closes a socket that only sends, from the side of what is sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from support.live import live_server, told_call
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from callm_voice.core.runfolder import AUDIO_FILE
from callm_voice.web.index import look_through
from callm_voice.web.sockets import Close, _send_all
from callm_voice.web.streams import LostCallError

pytestmark = pytest.mark.unit


class _Browser:
    """Takes what is sent, or does not."""

    def __init__(self, error: Exception | None = None) -> None:
        self.taken: list[str | bytes] = []
        self._error = error

    async def send_text(self, text: str) -> None:
        if self._error is not None:
            raise self._error
        self.taken.append(text)

    send_bytes = send_text


async def closed(pieces: AsyncGenerator[str, None], browser: _Browser) -> Close:
    return await _send_all(browser, pieces)  # type: ignore[arg-type]


async def until(error: Exception | None) -> AsyncGenerator[str, None]:
    yield "first"
    if error is not None:
        raise error


@pytest.mark.parametrize(
    ("error", "code"),
    [(None, 1000), (LostCallError(), 1011), (OSError("the disk is gone"), 1011), (RuntimeError("libsndfile"), 1011)],
)
async def test_the_code_says_whether_all_of_it_came(error: Exception | None, code: int) -> None:
    browser = _Browser()
    assert (await closed(until(error), browser))[0] == code
    assert browser.taken == ["first"]


async def test_a_browser_that_is_gone_is_told_nothing() -> None:
    assert (await closed(until(None), _Browser(RuntimeError("gone"))))[0] == 1001


def test_a_recording_that_is_none_closes_the_socket_with_a_reason(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        call.open_line()
        call.tick()
        folder = call.complete()
    (folder / AUDIO_FILE).write_bytes(b"fLaC, or not")
    (entry,) = look_through(tmp_path).finished
    with live_server(tmp_path) as server, connect(f"{server.ws}calls/{entry.id}/sound") as listener:
        with pytest.raises(ConnectionClosed):
            listener.recv(timeout=30)
        assert (listener.close_code, listener.close_reason) == (1011, "the call's files cannot be read")
