"""Calls of a run: a warm worker makes them as a fresh process does, and each one ends, whatever its parties do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from support.cli import callm
from support.parrot_server import Parrot, parrot_server
from support.same_calls import calls_of, without_times
from support.whole_run import AT_ONCE, copied_pack, run_json

from callm_voice.core.paths import installed_data_dir
from callm_voice.core.runfolder import find_calls, load_record

pytestmark = [pytest.mark.conversation, pytest.mark.timeout(600)]
ONE = ("--tasks", "C1-E1", "--workers", "1")


def pipeline_with(folder: Path, parrot: Parrot, **limits: object) -> str:
    """The scripted pipeline with limits of its own and a parrot that costs a dollar an answer."""
    spec = yaml.safe_load((installed_data_dir() / "pipelines" / "scripted.yaml").read_text("utf-8"))
    price = {"input_usd": 1000, "cached_usd": 0, "output_usd": 0}
    model = {"kind": "openai", "base_url": f"http://127.0.0.1:{parrot.port}/v1", "model": "parrot", "price": price}
    spec = {**spec, "limits": limits, "models": {"parrot": model}}
    spec["caller"] |= {"prod_after_ms": 3000, "give_up_after_ms": 9000}
    file = folder / "limited.yaml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("line", ["text", "pstn-g711u"])
def test_a_warm_worker_leaves_the_record_of_a_fresh_process(line: str, tmp_path: Path) -> None:
    pack = copied_pack("legal", tmp_path)
    ran = run_json(tmp_path / "run", pack, AT_ONCE, *ONE, "--trials", "3", "--lines", line)
    assert ran.code == 0, ran.err
    third = json.loads((tmp_path / "run" / "plan.json").read_text("utf-8"))["calls"][2]
    fresh = callm(
        "call", "--task", f"{pack}/C1-E1", "--model", AT_ONCE, "--pipeline", "scripted", "--pace", "fast",
        "--line", line, "--seed", str(third["seed"]), "--trial", "3", "--out", str(tmp_path / "one"), "--json",
    )  # fmt: skip
    assert fresh.code == 0, fresh.err
    warm = calls_of(tmp_path / "run")
    [name] = [name for name in warm if name.endswith("/t3")]
    assert without_times(fresh.json) == warm[name]


@pytest.mark.parametrize("line", ["text", "clean-16k"])
def test_an_agent_that_says_nothing_is_left_by_the_caller(line: str, tmp_path: Path) -> None:
    pack = copied_pack("legal", tmp_path)
    with parrot_server() as parrot:
        parrot.sentence = " "
        pipeline = pipeline_with(tmp_path, parrot)
        ran = run_json(tmp_path / "run", pack, "parrot", *ONE, "--trials", "1", "--pipeline", pipeline, "--lines", line)
    record = load_record(find_calls(tmp_path / "run")[0])
    assert ran.code == 0, (ran.err, record.outcome)
    assert (record.outcome.status, record.outcome.end_reason) == ("fail", "caller_hangup")
    assert "silent" in record.outcome.detail


@pytest.mark.parametrize("line", ["text", "clean-16k"])
def test_a_call_ends_at_its_cost_cap_and_is_judged(line: str, tmp_path: Path) -> None:
    pack = copied_pack("legal", tmp_path)
    with parrot_server() as parrot:
        pipeline = pipeline_with(tmp_path, parrot, max_cost_usd=1.5)
        ran = run_json(tmp_path / "run", pack, "parrot", *ONE, "--trials", "1", "--pipeline", pipeline, "--lines", line)
        assert ran.code == 0, ran.err
        assert parrot.chats == 2
    record = load_record(find_calls(tmp_path / "run")[0])
    assert (record.outcome.status, record.outcome.end_reason) == ("fail", "max_cost")
    assert record.verdict is not None
    assert record.cost_usd == pytest.approx(2.0)


def test_a_run_stops_at_its_cost_cap_and_goes_on_with_a_higher_one(tmp_path: Path) -> None:
    pack = copied_pack("legal", tmp_path)
    with parrot_server() as parrot:
        more = (*ONE, "--trials", "4", "--pipeline", pipeline_with(tmp_path, parrot, max_cost_usd=1.5))
        ran = run_json(tmp_path / "run", pack, "parrot", *more, "--max-cost", "3")
        assert ran.code == 1, ran.err
        assert (ran.json["done"], ran.json["cost_usd"]) == (2, pytest.approx(4.0))
        assert "cost cap" in ran.err
        again = run_json(tmp_path / "run", pack, "parrot", *more, "--max-cost", "100")
    assert again.code == 0, again.err
    assert (again.json["done"], again.json["max_cost_usd"]) == (4, 100)
