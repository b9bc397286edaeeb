"""`callm-voice profile` as a user runs it, against the oracle and against servers that fail."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.cli import Ran, callm, command, hearing_ctrl_c
from support.llm_servers import DONE, ROLE, STOP, Exchange, delta, raw_server

from callm_voice.bench.profile.plan import Step
from callm_voice.bench.profile.prompts import PromptMaker
from callm_voice.bench.profile.run import ProfilePlan, measure_profile
from callm_voice.core.clock import RealClock
from callm_voice.core.errors import ModelStatusError
from callm_voice.core.latency_profile import LatencyProfile, Measurement
from callm_voice.llm.spec import NamedSpec, OpenAiSpec
from callm_voice.llm.types import ChatRequest

pytestmark = pytest.mark.conversation
ORACLE = "oracle?ttft_ms=60&tokens_per_s=1000"
WORDS = [delta(content=f"{word} ") for word in ["This", "is", "the", "desk", "how", "can", "I", "help", "you"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("profile") / "one"


@pytest.fixture(scope="module")
def ran(folder: Path) -> Ran:
    done = callm("profile", "--model", ORACLE, "--repeats", "3", "--sizes", "500,2000", "--concurrency", "1,3",
                 "--json", "--out", str(folder))  # fmt: skip
    assert done.code == 0, done.err
    return done


def test_stdout_is_the_profile_and_progress_goes_to_stderr(ran: Ran, folder: Path) -> None:
    assert ran.json == json.loads((folder / "profile.json").read_text("utf-8"))
    assert "requests in 3 rounds" in ran.err


def test_the_set_time_is_never_undercut_at_any_size_cause_or_level(ran: Ran) -> None:
    found = LatencyProfile.model_validate(ran.json)
    assert all(m.ttft_ms is not None and m.ttft_ms >= 60 for m in found.measurements)
    assert {m.kind for m in found.measurements} == {
        "cold", "warm", "tool_result", "handoff_cold", "handoff_warm", "concurrent"
    }  # fmt: skip
    assert found.summary.errors == {}


def test_prompts_are_as_long_as_the_server_counts(ran: Ran) -> None:
    found = LatencyProfile.model_validate(ran.json)
    assert found.scale.measured
    for size in found.summary.sizes:
        assert size.cold.prompt_tokens == pytest.approx(size.target_tokens, rel=0.1)


def test_the_profile_says_that_it_is_scripted(ran: Ran) -> None:
    assert ran.json["summary"]["scripted"] is True
    assert ran.json["model"]["scripted"] is True


def test_every_measurement_stands_in_the_lines_file(ran: Ran, folder: Path) -> None:
    lines = (folder / "measurements.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == ran.json["measurements"]


def test_a_profile_is_not_written_over(ran: Ran, folder: Path) -> None:
    again = callm("profile", "--model", ORACLE, "--out", str(folder))
    assert again.code == 2
    assert again.error_lines == [f"callm-voice: --out: {folder} already holds a profile (name another folder)"]


def test_a_slow_model_is_out_of_the_category_and_exits_with_1(tmp_path: Path) -> None:
    done = callm("profile", "--model", "oracle?ttft_ms=1010&tokens_per_s=9000", "--repeats", "1", "--sizes", "300",
                 "--concurrency", "1", "--out", str(tmp_path / "slow"))  # fmt: skip
    assert done.code == 1
    assert done.out.startswith("OUT OF THE CATEGORY")
    assert "instrument" in done.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "nobody"], "no model named 'nobody'"),
        (["--model", "oracle", "--sizes", "big"], "--sizes big"),
        (["--model", "oracle", "--concurrency", "99"], "--concurrency 99"),
    ],
)
def test_a_mistake_is_one_line_and_exits_with_2(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = callm("profile", *arguments, cwd=tmp_path)
    assert done.code == 2
    assert len(done.error_lines) == 1
    assert says in done.error_lines[0]


def test_a_server_that_is_not_there_exits_with_3(tmp_path: Path) -> None:
    done = callm("profile", "--model", "openai:http://127.0.0.1:9/v1#m", "--quick", cwd=tmp_path)
    assert done.code == 3
    assert len(done.error_lines) == 1


def test_an_interrupted_run_keeps_what_it_measured(tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    with hearing_ctrl_c():
        process = subprocess.Popen(
            command("profile", "--model", ORACLE, "--sizes", "500", "--concurrency", "1", "--repeats", "500", "--out",
                    str(folder)),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
        )  # fmt: skip
    assert process.stderr is not None
    with process:
        for line in process.stderr:
            if "left" in line:  # some were measured
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert "interrupted" in rest
    assert "Traceback" not in rest
    lines = (folder / "measurements.jsonl").read_text("utf-8").splitlines()
    assert len([Measurement.model_validate_json(line) for line in lines]) >= 5
    assert not (folder / "profile.json").exists()


def plan_for(base_url: str) -> ProfilePlan:
    spec = NamedSpec("m", OpenAiSpec(base_url=base_url, model="m"))
    return ProfilePlan(spec, (500,), (1, 2), repeats=2, seed=1, max_tokens=None, out=None)


async def profiled(base_url: str, folder: Path, lines: list[str]) -> LatencyProfile:
    clock = RealClock()
    try:
        return await measure_profile(plan_for(base_url), folder, clock, lines.append)
    finally:
        clock.close()


async def test_some_failures_are_counted_and_the_rest_is_measured(tmp_path: Path) -> None:
    asked = 0

    async def every_third_fails(exchange: Exchange) -> None:
        nonlocal asked
        asked += 1
        if asked % 3 == 0:
            await exchange.plain("500 Internal Server Error", "out of memory")
        else:
            await exchange.stream(ROLE, *WORDS, STOP, DONE)

    async with raw_server(every_third_fails) as server:
        found = await profiled(server.base_url, tmp_path, [])
    failed = [m for m in found.measurements if m.error is not None]
    assert 0 < len(failed) < len(found.measurements)
    assert sum(found.summary.errors.values()) == len(failed)
    assert all("HTTP 500" in message for message in found.summary.errors)


async def test_a_server_without_token_counts_is_measured_and_the_profile_says_so(tmp_path: Path) -> None:
    async def answers(exchange: Exchange) -> None:
        await exchange.stream(ROLE, *WORDS, STOP, DONE)

    lines: list[str] = []
    async with raw_server(answers) as server:
        found = await profiled(server.base_url, tmp_path, lines)
    assert not found.scale.measured
    assert any("does not say how many tokens" in line for line in (*found.notes, *lines))
    assert found.summary.in_category is True
    assert found.summary.headline.prompt_tokens is None


async def test_a_server_that_always_fails_is_asked_no_more_than_needed(tmp_path: Path) -> None:
    async def fails(exchange: Exchange) -> None:
        await exchange.plain("503 Service Unavailable", "loading")

    async with raw_server(fails) as server:
        with pytest.raises(ModelStatusError, match="503"):
            await profiled(server.base_url, tmp_path, [])
        assert len(server.chats) == 4


async def test_a_model_that_thinks_gets_room_for_it(tmp_path: Path) -> None:
    limits: list[Any] = []

    async def thinks(exchange: Exchange) -> None:
        limits.append(exchange.body.get("max_tokens"))
        await exchange.stream(ROLE, delta(reasoning_content="hm"), *WORDS, STOP, DONE)

    async with raw_server(thinks) as server:
        found = await profiled(server.base_url, tmp_path, [])
    assert found.answer_tokens == 2048
    assert limits[0] == 128
    assert 2048 in limits
    assert all(m.first_reasoning_ms is not None for m in found.measurements)


async def test_simultaneous_requests_are_in_flight_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers none of a step's requests before all of them have come."""
    expected, came, all_came = 0, 0, asyncio.Event()
    real_requests = Step.requests

    def requests(step: Step, maker: PromptMaker) -> list[ChatRequest]:
        nonlocal expected, came, all_came
        made = real_requests(step, maker)
        expected, came, all_came = len(made), 0, asyncio.Event()
        return made

    async def together(exchange: Exchange) -> None:
        nonlocal came
        came += 1
        if came >= expected:  # more: what the next step has read before its own requests
            all_came.set()
        async with asyncio.timeout(20):
            await all_came.wait()
        await exchange.stream(ROLE, *WORDS, STOP, DONE)

    monkeypatch.setattr(Step, "requests", requests)
    async with raw_server(together) as server:
        found = await profiled(server.base_url, tmp_path, [])
    assert found.summary.errors == {}
    assert [level.figures.ttft.n for level in found.summary.levels] == [2, 4]
