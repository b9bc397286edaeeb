"""Where the offer of a WebRTC call cannot be sent, or what answers it is no answer that can be read."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from callm_voice.core.clock import RealClock
from callm_voice.core.errors import CallmError
from callm_voice.pipeline.rtc_leg import RtcLeg

pytestmark = [pytest.mark.faults, pytest.mark.timeout(90)]
LIMIT_S = 40.0


async def failure(url: str) -> CallmError:
    """Phone whoever is there; the one error."""
    clock, errors, over = RealClock(), list[CallmError](), asyncio.Event()

    def broke(error: CallmError) -> None:
        errors.append(error)
        over.set()

    leg = RtcLeg(url, rate_hz=8000, clock=clock, on_hang_up=lambda why: over.set(), on_error=broke)
    try:
        await leg.start()
        leg.open()
        async with asyncio.timeout(LIMIT_S):
            await over.wait()
    finally:
        await leg.aclose()
        clock.close()
    (error,) = errors
    assert error.fault == "infrastructure"
    assert "s3cret" not in error.one_line()
    return error


@pytest.mark.parametrize(
    "url", ["http://127.0.0.256:7860/api/offer", "http://me:s3cret@1.2.3.999/?key=s3cret", "http://xn--a/offer"]
)
async def test_an_address_that_cannot_be_meant_ends_the_call_at_once(url: str) -> None:
    assert "s3cret" not in (await failure(url)).message


@pytest.mark.parametrize("proxy", ["gopher://me:s3cret@127.0.0.1:9", "socks5://127.0.0.1:9"])
async def test_a_proxy_that_cannot_be_used_ends_the_call_at_once(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("all_proxy", proxy)
    assert "http://192.0.2.1/offer" in (await failure("http://192.0.2.1/offer")).message


async def test_an_answer_that_is_nested_too_deeply_is_no_json() -> None:
    async def handler(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=b"[" * 100_000)

    app = web.Application()
    app.router.add_post("/api/offer", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        error = await failure(f"http://127.0.0.1:{runner.addresses[0][1]}/api/offer")
    finally:
        await runner.cleanup()
    assert "the answer is not JSON" in error.message
