"""Phoning an agent by WebRTC: each way in which the one who takes the offer can fail is one clear error, in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from aiohttp import web
from support.rtc_far import FarEnd, ToneTrack
from support.sdp_texts import audio_sdp

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import CallmError
from callm_voice.pipeline import rtc_leg
from callm_voice.pipeline.rtc_leg import RtcLeg

pytestmark = [pytest.mark.faults, pytest.mark.timeout(90)]
LIMIT_S = 40.0
Handler = Callable[[web.Request], Awaitable[web.Response]]


@dataclass
class Phone:
    """A leg, and what became of it."""

    clock: RealClock = field(default_factory=RealClock)
    errors: list[CallmError] = field(default_factory=list)
    hung_up: list[str] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def leg(self, url: str, **more: object) -> RtcLeg:
        return RtcLeg(url, rate_hz=8000, clock=self.clock, on_hang_up=self._left, on_error=self._broke, **more)  # type: ignore[arg-type]

    async def until_over(self, leg: RtcLeg) -> None:
        """Tick until the leg says that it is over."""
        silence = np.zeros(160, np.int16)
        async with asyncio.timeout(LIMIT_S):
            while not self.over.is_set():
                leg.push(silence)
                assert leg.pull() is not None
                await self.clock.sleep_until(self.clock.now_s() + 0.02)

    def _left(self, why: str) -> None:
        self.hung_up.append(why)
        self.over.set()

    def _broke(self, error: CallmError) -> None:
        self.errors.append(error)
        self.over.set()


@pytest.fixture
async def phone() -> AsyncIterator[Phone]:
    tasks = asyncio.all_tasks()
    held = Phone()
    yield held
    held.clock.close()
    left = asyncio.all_tasks() - tasks - {asyncio.current_task()}
    if left:  # the server's own, whose client has just gone
        _, left = await asyncio.wait(left, timeout=2)
    assert not left, f"tasks were left running: {left}"


async def served(handler: Handler) -> tuple[web.AppRunner, str]:
    app = web.Application(client_max_size=1 << 20)
    app.router.add_post("/api/offer", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/api/offer"


async def failure(phone: Phone, handler: Handler) -> CallmError:
    """Phone whoever answers so; the one error."""
    runner, url = await served(handler)
    leg = phone.leg(url)
    try:
        await leg.start()
        leg.open()
        await phone.until_over(leg)
    finally:
        await leg.aclose()
        await runner.cleanup()
    (error,) = phone.errors
    assert phone.hung_up == []
    assert url in error.message
    assert "\n" not in error.one_line()
    assert "\x1b" not in error.one_line()
    assert len(error.one_line()) < 500
    return error


def says(response: Callable[[], web.Response]) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        await request.read()
        return response()

    return handler


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (lambda: web.Response(text="<html>not me</html>"), "the answer is not JSON"),
        (lambda: web.Response(body=b"\xff\xfe"), "the answer is not JSON"),
        (lambda: web.json_response(["sdp"]), "found list without them"),
        (lambda: web.json_response({"sdp": 7, "type": "answer"}), "found dict without them"),
        (lambda: web.json_response({"sdp": audio_sdp(), "type": "offer"}), "found dict without them"),
        (lambda: web.json_response({"sdp": "v=0\r\nnonsense", "type": "answer"}), "expected one audio stream"),
        (lambda: web.json_response({"sdp": audio_sdp(kind="video"), "type": "answer"}), "expected one audio stream"),
        (lambda: web.json_response({"sdp": audio_sdp(codecs=((3, "GSM/8000"),)), "type": "answer"}), "no codec in"),
        (lambda: web.Response(body=b" " * (1 << 20)), "the answer has more than"),
        (lambda: web.Response(status=404, text="not here"), "answered HTTP 404: not here"),
        (lambda: web.Response(status=500, text="the \x1b[31mbot\nbroke" * 50), "answered HTTP 500: the "),
        (lambda: web.Response(status=302, headers={"Location": "http://192.0.2.1/"}), "answered HTTP 302"),
    ],
)  # fmt: skip
async def test_an_answer_that_is_none_is_told_by_what_is_wrong_with_it(
    response: Callable[[], web.Response], words: str, phone: Phone
) -> None:
    error = await failure(phone, says(response))
    assert words in error.message
    assert error.fault == "infrastructure"


async def test_an_agent_that_never_answers_the_offer_is_given_up(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtc_leg, "ANSWER_LIMIT_S", 0.5)
    over = asyncio.Event()  # a handler whose client has gone may outlive its server

    async def handler(request: web.Request) -> web.Response:
        await over.wait()
        return web.Response()

    try:
        assert "no answer to the offer within 0.5 s" in (await failure(phone, handler)).message
    finally:
        over.set()


async def test_an_agent_that_no_packet_reaches_is_given_up(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtc_leg, "CONNECT_LIMIT_S", 0.5)
    error = await failure(phone, says(lambda: web.json_response({"sdp": audio_sdp(setup="active"), "type": "answer"})))
    assert "the connection was not made" in error.message


async def test_nobody_listens_there(phone: Phone) -> None:
    leg = phone.leg("http://me:s3cret@127.0.0.1:9/api/offer?key=s3cret")
    await leg.start()
    leg.open()
    await phone.until_over(leg)
    await leg.aclose()
    (error,) = phone.errors
    assert "http://127.0.0.1:9/api/offer" in error.message
    assert "s3cret" not in error.one_line()
    assert "is the agent running" in error.hint


async def test_what_the_agent_is_told_goes_with_the_offer_and_its_hanging_up_is_no_error(phone: Phone) -> None:
    far, told = FarEnd(ToneTrack()), list[dict[str, object]]()

    async def handler(request: web.Request) -> web.Response:
        told.append(await request.json())
        return web.json_response({"sdp": await far.answer(str(told[0]["sdp"])), "type": "answer", "pc_id": "x"})

    runner, url = await served(handler)
    leg = phone.leg(url, told={"tools_url": "http://127.0.0.1/t"})
    await leg.start()
    leg.open()
    async with asyncio.timeout(LIMIT_S):
        while not leg.work["packets_received"]:
            leg.push(np.zeros(160, np.int16))
            leg.pull()
            await phone.clock.sleep_until(phone.clock.now_s() + 0.02)
    await far.aclose()
    await phone.until_over(leg)
    await leg.aclose()
    await runner.cleanup()
    assert told[0]["type"] == "offer"
    assert told[0]["request_data"] == {"tools_url": "http://127.0.0.1/t"}
    assert (phone.errors, phone.hung_up) == ([], ["the agent closed the connection"])
    assert leg.agreed() == {"codec": "pcmu", "events": False}


async def test_a_call_that_is_over_before_the_agent_answered_leaves_nothing(phone: Phone) -> None:
    over = asyncio.Event()

    async def handler(request: web.Request) -> web.Response:
        await over.wait()
        return web.Response()

    runner, url = await served(handler)
    leg = phone.leg(url)
    await leg.start()
    leg.open()
    await leg.aclose()
    await leg.aclose()
    await runner.cleanup()
    over.set()
    assert (phone.errors, phone.hung_up) == ([], [])
