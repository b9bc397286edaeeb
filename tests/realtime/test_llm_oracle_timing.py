"""Calibration: the oracle's set times are those that the client sees, by the server's own log."""

import asyncio
import statistics

import pytest

from callm_voice.core.clock import RealClock
from callm_voice.llm.factory import open_model
from callm_voice.llm.spec import OracleSpec
from callm_voice.llm.types import ChatRequest, StreamOpened, TextDelta

pytestmark = pytest.mark.realtime
SAY = "Good morning, this is the front desk, how can I help you today?"
ROUNDS = 9
TOLERANCE_S = 0.005


async def wake_up_lag_s(sleep_s: float) -> float:
    """How late this machine wakes up who slept as long as the client waits; about 1 ms on a quiet one."""
    loop = asyncio.get_running_loop()
    due_s = loop.time() + sleep_s
    await asyncio.sleep(sleep_s)
    return max(0.0, loop.time() - due_s)


@pytest.mark.parametrize("ttft_ms", [0.0, 250.0, 900.0])
async def test_the_set_ttft_is_the_one_that_is_seen(ttft_ms):
    clock = RealClock()
    model = await open_model(
        OracleSpec(ttft_ms=ttft_ms, tokens_per_s=200), name="oracle", clock=clock, script=[{"say": SAY}]
    )
    prompt = ChatRequest([{"role": "system", "content": "A long prompt of a desk. " * 500}])
    seen: list[float] = []
    after_server: list[float] = []
    lags: list[float] = []
    try:
        await model.warm([])
        for _ in range(ROUNDS):
            events = [event async for event in model.stream(prompt)]
            opened = next(e for e in events if isinstance(e, StreamOpened))
            first = next(e for e in events if isinstance(e, TextDelta))
            entry = (await model.log())[-1]
            assert opened.sent_s is not None
            assert opened.sent_s <= entry["first_token_s"] <= first.t_s, "one clock for both processes"
            assert entry["first_token_s"] - entry["received_s"] >= ttft_ms / 1000, "never early"
            seen.append(first.t_s - opened.sent_s)
            after_server.append(first.t_s - entry["first_token_s"])
            lags.append(await wake_up_lag_s(ttft_ms / 1000))
    finally:
        await model.aclose()
        clock.close()
    tolerance_s = TOLERANCE_S + statistics.median(lags)
    assert statistics.median(after_server) < tolerance_s
    if ttft_ms:  # without it, the server must at least read the request
        assert statistics.median(seen) - ttft_ms / 1000 < tolerance_s


async def test_tokens_come_at_the_set_pace():
    clock = RealClock()
    model = await open_model(OracleSpec(ttft_ms=50, tokens_per_s=50), name="oracle", clock=clock, script=[{"say": SAY}])
    try:
        events = [event async for event in model.stream(ChatRequest([]))]
        entry = (await model.log())[-1]
    finally:
        await model.aclose()
        clock.close()
    words = [e for e in events if isinstance(e, TextDelta)]
    assert len(words) == len(SAY.split())
    pace_s = (entry["last_token_s"] - entry["first_token_s"]) / (len(words) - 1)
    assert 0.020 <= pace_s < 0.030, "paced by absolute times: delays do not add up"
