"""A run with real engines and a real small model: a worker that keeps them warm makes the calls of a fresh process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from support.same_calls import calls_of
from support.small_pack import small_pack
from support.whole_run import AT_ONCE, run_args, start_run

from callm_voice.core.paths import installed_data_dir

pytestmark = [pytest.mark.models, pytest.mark.timeout(1800)]
MODEL = "qwen2.5-coder-0.5b"
MOST_S = 800


def made(args: tuple[str, ...], log: Path) -> None:
    """Run a command to its end; a call that failed is made all the same."""
    process = start_run(args, log)
    try:
        assert process.wait(timeout=MOST_S) in (0, 1), log.read_text("utf-8")
    finally:
        process.kill()
        process.wait()


def short_pipeline(folder: Path) -> str:
    """The scripted pipeline with an end after three turns: a small model may go on for ever."""
    spec = yaml.safe_load((installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8"))
    file = folder / "short.yaml"
    file.write_text(yaml.safe_dump({**spec, "limits": {"max_turns": 3}}), encoding="utf-8")
    return str(file)


def test_an_embedded_model_stays_loaded_and_answers_as_if_it_had_not(tmp_path: Path) -> None:
    """Temperature 0 and slots that are filled anew: the second call of a warm server is that of a fresh one."""
    pack, pipeline = small_pack(tmp_path), short_pipeline(tmp_path)
    made(run_args(tmp_path / "run", pack, MODEL, "--trials", "2", "--pipeline", pipeline), tmp_path / "log")
    second = json.loads((tmp_path / "run" / "plan.json").read_text("utf-8"))["calls"][1]
    one = (
        "call", "--task", f"{pack}/C1-E1", "--model", MODEL, "--pipeline", pipeline, "--pace", "fast",
        "--line", "text", "--seed", str(second["seed"]), "--trial", "2", "--out", str(tmp_path / "one"),
    )  # fmt: skip
    made(one, tmp_path / "log")
    warm = calls_of(tmp_path / "run")
    assert sorted(name[-2:] for name in warm) == ["t1", "t2"]
    [fresh] = calls_of(tmp_path / "one").values()
    [again] = [call for name, call in warm.items() if name.endswith("t2")]
    assert fresh["transcript"] == again["transcript"]
    assert fresh["outcome"] == again["outcome"]


def test_recogniser_and_voices_stay_loaded(tmp_path: Path) -> None:
    """Both calls of one worker pass by voice, the second with engines that the first has used. On a machine too busy
    for a telephone call an attempt is invalid, and is made again; none is a fail."""
    pack = small_pack(tmp_path)
    args = run_args(
        tmp_path / "run", pack, AT_ONCE, "--trials", "2", "--workers", "1", "--pipeline", "cpu", "--lines",
        "pstn-g711u", "--invalid-cap", "5",
    )  # fmt: skip
    made(args, tmp_path / "log")
    invalid = calls_of(tmp_path / "run" / "invalid")
    print(f"attempts of an overloaded machine: {[call['outcome']['detail'] for call in invalid.values()]}")
    assert all("harness overload" in call["outcome"]["detail"] for call in invalid.values())
    calls = list(calls_of(tmp_path / "run" / "calls").values())
    assert [call["outcome"]["status"] for call in calls] == ["pass", "pass"], (tmp_path / "log").read_text("utf-8")
    assert {call["engines"]["stt"]["engine"] for call in calls} == {"whisper"}
