"""Whole calls to an agent that is phoned by WebRTC, at the real pace: what is measured, and each way it can fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.bots import bot
from support.cli import Ran, callm
from support.gold_model import gold_model

from callm_voice.core import paths

pytestmark = [pytest.mark.conversation, pytest.mark.timeout(240)]
TASK = "customer_support/C1-E1"
SECONDS = 12


def gold_calls() -> list[tuple[str, dict[str, Any]]]:
    """The calls of the task's gold dialogue."""
    task = yaml.safe_load((paths.find("packs", "customer_support") / "tasks" / "C1-E1.yaml").read_text("utf-8"))
    return [(step["call"], step.get("args", {})) for step in task["gold"]["dialogue"] if "call" in step]


def call(url: str, folder: Path, *more: str, seconds: int = SECONDS) -> Ran:
    """With a short limit, and a caller that soon speaks up: it understands no tones."""
    content = yaml.safe_load((paths.installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8"))
    content["id"], content["caller"]["prod_after_ms"] = "short", 1500
    content["limits"] = {**content.get("limits", {}), "max_duration_s": seconds}
    pipeline = folder / "short.yaml"
    pipeline.write_text(yaml.safe_dump(content), encoding="utf-8")
    return callm(
        "call", "--task", TASK, "--agent", url, "--pipeline", str(pipeline), "--json", "--out", str(folder / "runs"),
        *more,
    )  # fmt: skip


def called(mode: str, folder: Path, *more: str, seconds: int = SECONDS) -> Ran:
    exit_code = 9 if mode == "vanish" else 0
    with bot("rtc_bot.py", mode, log=folder / "bot.log", exit_code=exit_code) as port:
        return call(f"webrtc:http://127.0.0.1:{port}/api/offer", folder, *more, seconds=seconds)


def test_an_agent_that_answers_with_sound_is_heard_measured_and_scored(tmp_path: Path) -> None:
    ran = called("talk", tmp_path)
    record = ran.json
    too_late = record["outcome"]["detail"].startswith("harness overload")  # this machine, for a verdict
    assert ran.code == (3 if too_late else 1), ran.err  # it never uses a tool
    agent = record["engines"]["agent"]
    assert (agent["engine"], agent["counted"]) == ("webrtc", False)
    assert agent["model"] == record["config"]["agent"]
    assert agent["model"].startswith("webrtc:http://127.0.0.1:")
    assert agent["settings"]["codec"] == "pcmu"
    assert agent["work"]["packets_received"] > 100
    assert record["config"]["model"].startswith("agent-127.0.0.1-")
    assert record["config"]["pace"] == "real"
    assert record["trace"]["calls"] == []
    assert record["usage"]["inferences"] == 0
    assert record["latency"]["v2v"]["n"] >= 1
    assert all(turn["v2v_ms"] > 300 for turn in record["latency"]["turns"]), "the bot waits 400 ms of quiet"
    agents = [turn for turn in record["transcript"] if turn["party"] == "agent"]
    assert agents
    assert {(turn["said"], turn["played"]) for turn in agents} == {("", None)}, "nobody knows what it meant to say"


def test_an_agent_that_hangs_up_ends_the_call_and_a_name_can_be_given_to_its_results(tmp_path: Path) -> None:
    ran = called("hang_up", tmp_path, "--model", "our bot v2", seconds=8)
    assert ran.json["config"]["model"] == "our bot v2"
    assert ran.json["outcome"]["end_reason"] == "agent_hangup"


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("mute", "the agent did not speak during the whole call"),
        ("vanish", "no more packets came for 5 s"),
        ("500", "answered HTTP 500: the bot"),
    ],
)
def test_what_goes_wrong_with_the_agent_is_bounded_and_makes_the_call_invalid(
    mode: str, words: str, tmp_path: Path
) -> None:
    ran = called(mode, tmp_path)
    assert ran.code == 3, ran.err
    outcome = ran.json["outcome"]
    assert outcome["status"] == "invalid"
    assert outcome["invalid_kind"] == "infrastructure", outcome
    if mode == "mute":
        assert outcome["end_reason"] in ("max_duration", "caller_hangup")
    else:
        assert words in outcome["detail"]
    assert "\x1b" not in ran.out + ran.err
    assert "Traceback" not in ran.err


def test_nobody_listens_there(tmp_path: Path) -> None:
    ran = call("webrtc:http://me:s3cret@127.0.0.1:9/api/offer?key=s3cret", tmp_path)
    assert ran.code == 3
    assert ran.json["outcome"]["invalid_kind"] == "infrastructure"
    assert "http://127.0.0.1:9/api/offer" in ran.json["outcome"]["detail"]
    written = b"".join(f.read_bytes() for f in (tmp_path / "runs").rglob("*") if f.is_file())
    assert b"s3cret" not in written
    assert "s3cret" not in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--line", "text"), "called by voice"),
        (("--fault", "llm-500"), "--fault is put into our own agent"),
        (("--agent", "webrtc:ftp://x"), "expected ws://HOST"),
    ],
)
def test_what_does_not_go_with_an_agent_elsewhere_is_one_line_and_exit_2(
    options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    ran = call("webrtc:http://127.0.0.1:9/api/offer", tmp_path, *options)
    assert ran.code == 2
    (line,) = ran.error_lines
    assert words in line


def test_neither_a_model_nor_an_agent_is_one_line_and_exit_2(tmp_path: Path) -> None:
    ran = callm("call", "--task", TASK, "--out", str(tmp_path))
    assert ran.code == 2
    (line,) = ran.error_lines
    assert "--model" in line


def test_a_stock_pipecat_bot_is_phoned_works_the_tools_and_gets_a_verdict(tmp_path: Path) -> None:
    with (
        gold_model(gold_calls()) as model,
        bot("stock_bot.py", env={"ENGINES": "toy", "MODEL_URL": model.url}, log=tmp_path / "bot.log") as port,
    ):
        ran = call(f"webrtc:http://127.0.0.1:{port}/api/offer", tmp_path, "--tools", "all", seconds=18)
    log = (tmp_path / "bot.log").read_text("utf-8")
    assert ran.out, ran.err + log
    record = ran.json
    assert record["verdict"] is not None, json.dumps(record["outcome"]) + log
    assert record["verdict"]["passed"] is True, json.dumps(record["verdict"]) + log
    assert record["engines"]["agent"]["settings"]["tool_calls"] == len(gold_calls())
