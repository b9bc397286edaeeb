"""A stock Pipecat bot with real ears and a real voice is phoned, works the tools over MCP, and passes a task."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.bots import bot
from support.cli import callm

from callm_voice.core import paths, weights

pytestmark = [pytest.mark.models, pytest.mark.timeout(600)]
VOICE = "en_US-joe-medium"


@contextmanager
def oracle(folder: Path) -> Iterator[str]:
    """The task's gold path as a model on a port; its base URL."""
    task = yaml.safe_load((paths.find("packs", "customer_support") / "tasks" / "C1-E1.yaml").read_text("utf-8"))
    script = folder / "gold.json"
    script.write_text(json.dumps(task["gold"]["dialogue"]), encoding="utf-8")
    command = [sys.executable, "-m", "callm_voice.llm.oracle_server", "--port", "0", "--script", str(script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}/v1"
        finally:
            process.stdin.close()
            process.wait(20)


def patient(folder: Path) -> str:
    """The usual pipeline, with a caller that waits for a bot that shares two cores with us."""
    content = yaml.safe_load((paths.installed_data_dir() / "pipelines" / "cpu.yaml").read_text("utf-8"))
    content["id"] = "cpu-patient"
    content["caller"] |= {"prod_after_ms": 20_000, "give_up_after_ms": 90_000}
    file = folder / "patient.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("way", ["ws://127.0.0.1:{port}/ws", "webrtc:http://127.0.0.1:{port}/api/offer"])
def test_the_stock_bot_is_called_and_passes(way: str, tmp_path: Path) -> None:
    voice = weights.path(f"piper-{VOICE}")
    env = {"WHISPER_DIR": str(weights.path("whisper-base")), "PIPER_DIR": str(voice.parent), "PIPER_VOICE": VOICE}
    log = tmp_path / "bot.log"
    with oracle(tmp_path) as model, bot("stock_bot.py", env={**env, "MODEL_URL": model}, log=log) as port:
        ran = callm(
            "call", "--task", "customer_support/C1-E1", "--agent", way.format(port=port), "--tools", "all",
            "--model", "stock-bot", "--pipeline", patient(tmp_path), "--out", str(tmp_path / "runs"), "--json",
        )  # fmt: skip
    assert ran.out, ran.err + log.read_text("utf-8")
    record: dict[str, Any] = ran.json
    said = json.dumps([record["outcome"], record["transcript"]], indent=1)
    assert record["verdict"] is not None, said
    assert record["verdict"]["passed"] is True, said
    assert record["config"]["model"] == "stock-bot"
    assert record["latency"]["v2v"]["n"] >= 4
    assert record["latency"]["ttft"]["all"]["n"] == 0
    heard = " ".join(t["heard"] or "" for t in record["transcript"] if t["party"] == "agent").lower()
    assert "larkfield" in heard or "how can i help" in heard, said
