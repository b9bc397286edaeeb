"""Agents on a media stream that do wrong, stop, or vanish: each ends bounded, in one clear line, and leaves nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from support.media_agent import Connection, Script, media_agent
from websockets.exceptions import ConnectionClosed

from callm_voice.audio.tones import dtmf
from callm_voice.core.errors import CallmError, EngineError
from callm_voice.pipeline import twilio_link
from callm_voice.pipeline.twilio_leg import TwilioLeg

pytestmark = pytest.mark.faults
GOLDEN = Path(__file__).parents[1] / "golden" / "twilio"
SILENCE = np.zeros(160, np.int16)


class Call:
    """A leg, ticked by hand, and how it ended."""

    def __init__(self, url: str, **parameters: str) -> None:
        self.over = asyncio.Event()
        self.error: CallmError | None = None
        self.hung_up: str | None = None
        self.keys: list[str] = []
        self.cleared_ms: list[float] = []
        self.leg = TwilioLeg(
            url,
            parameters,
            on_hang_up=self._hung_up,
            on_error=self._broke,
            on_key=self.keys.append,
            on_clear=self.cleared_ms.append,
        )

    def _hung_up(self, why: str) -> None:
        assert not self.over.is_set(), "it ended twice"
        self.hung_up = why
        self.over.set()

    def _broke(self, error: CallmError) -> None:
        assert not self.over.is_set(), "it ended twice"
        self.error = error
        self.over.set()

    async def tick_until(self, done: Callable[[], bool], frame: np.ndarray = SILENCE) -> list[np.ndarray]:
        """Tick as fast as the loop runs; the frames that were not silence."""
        heard = []
        async with asyncio.timeout(20):
            while not done():
                played = self.leg.pull()
                if played is not None:
                    heard.append(played)
                self.leg.push(frame)
                await asyncio.sleep(0.001)
        return heard


@asynccontextmanager
async def called(script: Script) -> AsyncIterator[Call]:
    """A call to an agent that does as the script says, answered."""
    before = asyncio.all_tasks()
    async with media_agent(script) as url:
        call = Call(url, tools_url="http://127.0.0.1:1/t")
        await call.leg.start()
        call.leg.open()
        try:
            yield call
        finally:
            await call.leg.aclose()
            await call.leg.aclose()
    left = [task.get_name() for task in asyncio.all_tasks() - before if not task.done()]
    assert left == [], "tasks were left running"


async def test_sound_marks_and_keys_go_both_ways_and_stop_is_the_last_message() -> None:
    seen: list[dict[str, object]] = []
    echoed = asyncio.Event()

    async def agent(at: Connection) -> None:
        await at.began()
        await at.say(200, mark="hello")
        await at.until("mark")
        echoed.set()
        await at.until("stop")
        seen.extend(at.received)
        assert at.start["customParameters"] == {"tools_url": "http://127.0.0.1:1/t"}

    async with called(agent) as call:
        await call.tick_until(echoed.is_set)
    events = [message["event"] for message in seen]
    assert events[:2] == ["connected", "start"]
    assert events[-1] == "stop"
    assert events.count("mark") == 1
    assert call.leg.work["bytes"] == 1600


async def test_a_clear_is_told_with_how_much_was_dropped() -> None:
    async def agent(at: Connection) -> None:
        await at.began()
        await at.say(2000, mark="cut")
        await at.socket.send('{"event": "clear", "streamSid": "' + at.stream_sid + '"}')
        await at.until("mark")

    async with called(agent) as call:
        heard = await call.tick_until(call.over.is_set)
        (dropped_ms,) = call.cleared_ms
        assert dropped_ms + 20 * len(heard) == 2000
        assert dropped_ms > 0


async def test_an_agent_that_closes_the_stream_hangs_up_after_its_last_word() -> None:
    async def agent(at: Connection) -> None:
        await at.began()
        await at.say(400)

    async with called(agent) as call:
        heard = await call.tick_until(call.over.is_set)
        assert call.error is None
        assert call.hung_up == "the agent closed the stream"
        assert len(heard) == 20, "all that it had said was played"


async def test_less_than_a_packet_at_the_end_of_the_stream_is_played_too() -> None:
    async def agent(at: Connection) -> None:
        await at.began()
        await at.say(410)

    async with called(agent) as call:
        heard = await call.tick_until(call.over.is_set)
        assert call.hung_up is not None
        assert len(heard) == 21
        assert heard[-1][:80].any()


BROKEN = {path.stem: path.read_text("utf-8") for path in sorted(GOLDEN.glob("media*_invalid.json"))}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_message_ends_the_call_with_the_reason_at_both_ends(name: str) -> None:
    closed: list[tuple[int | None, str | None]] = []

    async def agent(at: Connection) -> None:
        await at.began()
        await at.socket.send(BROKEN[name].replace("MZ18ad3ab5a668481ce02b83e7395059f0", at.stream_sid))
        await at.socket.wait_closed()
        closed.append((at.socket.close_code, at.socket.close_reason))

    async with called(agent) as call:
        await call.tick_until(call.over.is_set)
        assert isinstance(call.error, EngineError)
        assert call.error.fault == "infrastructure"
        assert "no message of a media stream" in call.error.message
        assert "\n" not in call.error.one_line()
    assert closed[0][0] == 1007
    assert closed[0][1]


@pytest.mark.parametrize(
    ("message", "words"),
    [(b"\x00\x01", "a binary message"), ("x" * (twilio_link.MAX_MESSAGE_BYTES + 1), "1009"), ("{}", "event: expected")],
    ids=["binary", "oversized", "empty object"],
)
async def test_what_is_no_text_of_the_protocol_ends_the_call(message: str | bytes, words: str) -> None:
    async def agent(at: Connection) -> None:
        await at.began()
        try:
            await at.socket.send(message)
            await at.socket.wait_closed()
        except ConnectionClosed:
            pass

    async with called(agent) as call:
        await call.tick_until(call.over.is_set)
        assert call.error is not None
        assert words in call.error.message


async def test_a_connection_that_is_cut_is_no_hang_up() -> None:
    async def agent(at: Connection) -> None:
        await at.began()
        at.socket.transport.abort()

    async with called(agent) as call:
        await call.tick_until(call.over.is_set)
        assert call.hung_up is None
        assert call.error is not None
        assert "the connection broke" in call.error.message


async def test_what_an_agent_says_as_it_leaves_reaches_no_terminal_as_a_command() -> None:
    async def agent(at: Connection) -> None:
        await at.began()
        await at.socket.close(1011, "\x1b[2J\x1b]0;owned\x07 gone")

    async with called(agent) as call:
        await call.tick_until(call.over.is_set)
        assert call.error is not None
        assert "gone" in call.error.message
        assert call.error.message.isprintable()


async def test_a_mark_by_half_a_surrogate_pair_comes_back_and_the_call_goes_on() -> None:
    names: list[str] = []

    async def agent(at: Connection) -> None:
        await at.began()
        for name in ("\\ud83d", "next"):
            mark = '{"event": "mark", "streamSid": "' + at.stream_sid + '", "mark": {"name": "' + name + '"}}'
            await at.socket.send(mark)
            names.append((await at.until("mark"))["mark"]["name"])

    async with called(agent) as call:
        await call.tick_until(call.over.is_set)
        assert call.error is None
    assert names == ["\ud83d", "next"]


async def test_an_agent_that_reads_nothing_is_given_up_and_memory_stays_bounded() -> None:
    async def agent(at: Connection) -> None:
        at.socket.transport.pause_reading()
        await at.socket.wait_closed()

    async with called(agent) as call:
        sent = 0
        while not call.over.is_set():
            call.leg._link.send("x" * 50_000)  # long ones, so that the network's own buffers are soon full
            sent += 1
            assert sent < 10_000, "it was never given up"
            await asyncio.sleep(0)
        assert call.error is not None
        assert "the agent does not read; 500 messages wait" in call.error.message


async def test_an_agent_that_is_not_there_is_told_before_the_line_opens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    call = Call(f"ws://127.0.0.1:{port}/media?key=s3cret")
    with pytest.raises(EngineError) as refused:
        await call.leg.start()
    await call.leg.aclose()
    assert f"ws://127.0.0.1:{port}/media: cannot be reached" in refused.value.message
    assert "is the agent running" in refused.value.hint
    assert "s3cret" not in refused.value.one_line()


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("ws://s3cret@192.0.2.1/media", None),
        ("ws://agent.example/media?key=s3cret", "http://me@127.0.0.1:9"),
        ("ws://agent.example/media?key=s3cret", "gopher://me:s3cret@127.0.0.1:9"),
        ("ws://agent.example/media?key=s3cret", "socks5://127.0.0.1:9"),
        ("ws://agent..example/media?key=s3cret", None),
    ],
)
async def test_an_address_or_a_proxy_that_cannot_be_meant_is_told_without_what_is_secret(
    url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "socks_proxy", "ws_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    if proxy is not None:
        monkeypatch.setenv("all_proxy", proxy)
        monkeypatch.setenv("http_proxy", proxy)
    call = Call(url)
    with pytest.raises(EngineError, match="cannot be reached") as refused:
        await call.leg.start()
    assert "s3cret" not in refused.value.one_line()


async def test_a_server_that_speaks_no_websocket_is_told_with_its_status() -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(page, "127.0.0.1", 0) as server:
        call = Call(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        with pytest.raises(EngineError, match="404"):
            await call.leg.start()


async def test_a_server_that_never_answers_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twilio_link, "CONNECT_LIMIT_S", 0.3)
    release = asyncio.Event()

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.close()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        call = Call(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        with pytest.raises(EngineError, match=r"no answer within 0\.3 s"):
            await call.leg.start()
        release.set()


async def test_twenty_calls_one_after_the_other_leave_nothing() -> None:
    async def agent(at: Connection) -> None:
        await at.began()
        await at.say(20)
        await at.until("stop")

    for _ in range(20):
        async with called(agent) as call:
            await call.tick_until(lambda call=call: call.leg.work.get("media", 0) == 1)


async def test_a_pressed_key_is_told_as_dtmf() -> None:
    told: list[str] = []

    async def agent(at: Connection) -> None:
        await at.began()
        told.append((await at.until("dtmf"))["dtmf"]["digit"])
        told.append((await at.until("dtmf"))["dtmf"]["digit"])

    async with called(agent) as call:
        pcm = np.concatenate([dtmf("4#", 8000), np.zeros(1600, np.int16)])
        for begin in range(0, pcm.size - 159, 160):
            call.leg.push(pcm[begin : begin + 160])
            await asyncio.sleep(0.001)
        await call.tick_until(call.over.is_set)
    assert told == call.keys == ["4", "#"]
