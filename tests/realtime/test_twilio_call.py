"""Whole calls to an agent on a Twilio media stream, at the real pace: what is scored, measured, and told of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.bots import bot, media_bot
from support.cli import Ran, callm
from support.gold_model import gold_model

from callm_voice.bench.tool_options import TOKEN_ENV
from callm_voice.core import paths
from callm_voice.core.events import (
    AgentSpeechStarted,
    Event,
    HandedOff,
    ToolFinished,
    from_jsonl,
)
from callm_voice.core.runfolder import find_calls

pytestmark = pytest.mark.realtime
TASK = "customer_support/C1-E1"


def gold_calls() -> list[tuple[str, dict[str, Any]]]:
    """The calls of the task's gold dialogue."""
    task = yaml.safe_load((paths.find("packs", "customer_support") / "tasks" / "C1-E1.yaml").read_text("utf-8"))
    return [(step["call"], step.get("args", {})) for step in task["gold"]["dialogue"] if "call" in step]


WORK: list[dict[str, Any]] = [{"tool": name, "args": args} for name, args in gold_calls()]
TALK: list[dict[str, Any]] = [{"say": 600}, {"wait": "speech"}, {"say": 400}]


def pipeline(folder: Path, *, seconds: int, prod_after_ms: int) -> str:
    """The scripted one with a short limit, and a caller that soon speaks up: it understands no tones."""
    text = (paths.installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8")
    content = yaml.safe_load(text) | {"id": "short"}
    content["caller"] = {**content["caller"], "prod_after_ms": prod_after_ms}
    content["limits"] = {**content.get("limits", {}), "max_duration_s": seconds}
    file = folder / "short.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return str(file)


def call(
    url: str, folder: Path, *more: str, seconds: int = 30, prod_after_ms: int = 1500, env: dict[str, str] | None = None
) -> Ran:
    file = pipeline(folder, seconds=seconds, prod_after_ms=prod_after_ms)
    return callm(
        "call", "--task", TASK, "--agent", url, "--pipeline", file, "--json",
        "--out", str(folder / "runs"), *more, env=env,
    )  # fmt: skip


def events(folder: Path) -> list[Event]:
    (found,) = find_calls(folder / "runs")
    return from_jsonl((found / "events.jsonl").read_text("utf-8"))


def test_an_agent_that_does_the_work_passes_all_three_gates(tmp_path: Path) -> None:
    token = "a-token-that-nobody-may-read"
    with media_bot(tmp_path, [*TALK, *WORK, {"say": 300}, {"mark": "bye"}]) as url:
        ran = call(url, tmp_path, env={TOKEN_ENV: token})
    assert ran.code == 0, ran.err
    written = b"".join(f.read_bytes() for f in (tmp_path / "runs").rglob("*") if f.is_file())
    assert token.encode() not in written + (ran.err + ran.out).encode(), "the token of the tools was written down"
    record = ran.json
    assert record["verdict"]["passed"] is True
    assert (record["outcome"]["end_reason"], record["outcome"]["detail"]) == (
        "agent_hangup", "the agent closed the stream",
    )  # fmt: skip
    assert [c["name"] for c in record["trace"]["calls"]] == [name for name, _ in gold_calls()]
    assert [h["to_role"] for h in record["trace"]["handoffs"]] == ["identity"]
    agent = record["engines"]["agent"]
    assert (agent["engine"], agent["model"], agent["counted"]) == ("twilio", url, False)
    assert agent["work"]["media"] == 3
    assert agent["settings"] == {"tools": "role", "tool_calls": 5}
    assert record["config"]["agent"] == url
    assert record["config"]["pace"] == "real"
    told = events(tmp_path)
    assert len([e for e in told if isinstance(e, AgentSpeechStarted)]) >= 2
    assert len([e for e in told if isinstance(e, ToolFinished)]) == 5
    assert len([e for e in told if isinstance(e, HandedOff)]) == 1
    (latency,) = record["latency"]["turns"]
    assert 400 <= latency["v2v_ms"] <= 3000, "the bot waits 400 ms of quiet before it answers"
    assert record["latency"]["ttft"]["caller_turn"]["n"] == 0, "nobody can see its inferences"


def test_an_agent_that_only_talks_fails_with_the_seed_unchanged(tmp_path: Path) -> None:
    with media_bot(tmp_path, TALK) as url:
        ran = call(url, tmp_path)
    assert ran.code == 1, ran.err
    assert ran.json["verdict"]["passed"] is False
    assert ran.json["trace"]["calls"] == []


def test_the_order_of_tools_and_roles_is_the_agents_own_affair_and_is_scored(tmp_path: Path) -> None:
    without = [step for step in WORK if not step["tool"].startswith("transfer_to")]
    with media_bot(tmp_path, [*TALK, *without]) as url:
        by_role = call(url, tmp_path)
        all_tools = call(url, tmp_path, "--tools", "all", "--trial", "2")
    assert (by_role.code, all_tools.code) == (1, 1)
    assert {c["output"]["error_code"] for c in by_role.json["trace"]["calls"]} == {"not_available_in_role"}
    assert [c["ok"] for c in all_tools.json["trace"]["calls"]] == [True] * len(without)
    gates = all_tools.json["verdict"]
    assert (gates["tools"]["passed"], gates["path"]["passed"], gates["state"]["passed"]) == (False, False, True)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([{"say": 300}, {"send": "{"}, {"pause": 5}], "no message of a media stream: not JSON"),
        ([{"say": 300}, {"cut": True}], "the connection broke"),
    ],
    ids=["garbage", "cut"],
)
def test_an_agent_that_breaks_the_protocol_makes_the_call_invalid(
    steps: list[dict[str, Any]], words: str, tmp_path: Path
) -> None:
    with media_bot(tmp_path, steps) as url:
        ran = call(url, tmp_path)
    assert ran.code == 3, ran.err
    outcome = ran.json["outcome"]
    assert (outcome["status"], outcome["invalid_kind"]) == ("invalid", "infrastructure")
    assert words in outcome["detail"]


def test_an_agent_that_is_not_there_is_one_line_and_exit_3(tmp_path: Path) -> None:
    ran = call("ws://127.0.0.1:9/media?key=s3cret", tmp_path)
    assert ran.code == 3
    (line,) = ran.error_lines
    assert "ws://127.0.0.1:9/media: cannot be reached" in line
    assert "s3cret" not in ran.err


def test_a_line_of_another_rate_is_refused_before_anything_starts(tmp_path: Path) -> None:
    ran = call("ws://127.0.0.1:9/media", tmp_path, "--line", "clean-16k")
    assert ran.code == 2
    (line,) = ran.error_lines
    assert "--line clean-16k: 16,000 Hz; a Twilio media stream carries 8,000 Hz" in line
    assert not (tmp_path / "runs").exists()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("offer", ["role", "all"])
def test_a_stock_pipecat_bot_works_the_tools_over_mcp_and_gets_a_verdict(offer: str, tmp_path: Path) -> None:
    with (
        gold_model(gold_calls()) as model,
        bot("stock_bot.py", env={"ENGINES": "toy", "MODEL_URL": model.url}, log=tmp_path / "bot.log") as port,
    ):
        # The caller keeps quiet meanwhile: whoever speaks cuts off what the bot is about to do.
        ran = call(f"ws://127.0.0.1:{port}/ws", tmp_path, "--tools", offer, seconds=30, prod_after_ms=12_000)
    log = (tmp_path / "bot.log").read_text("utf-8")
    assert ran.out, ran.err + log
    record = ran.json
    assert record["verdict"] is not None, json.dumps(record["outcome"]) + log
    assert record["verdict"]["passed"] is True, json.dumps(record["verdict"]) + log
    assert record["engines"]["agent"]["work"]["media"] > 0
    offered = {tool["function"]["name"] for tool in model.requests[0]["tools"]}
    assert "transfer_to_identity" in offered
    assert ({"find_account", "list_invoices"} <= offered) is (offer == "all")
    assert record["engines"]["agent"]["settings"]["tools"] == offer
