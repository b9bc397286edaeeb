"""One plan made by local workers, by Ray, into a folder, into a URL: the records are the same but for their times."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.cli import callm
from support.parrot_server import parrot_server
from support.same_calls import calls_of
from support.whole_run import AT_ONCE, copied_pack, run_json

pytestmark = [pytest.mark.conversation, pytest.mark.timeout(600)]
MORE = ("--tasks", "C1-E1,C2-E1", "--trials", "2", "--backoff-s", "0.1")


def test_ray_and_local_workers_make_the_same_calls(tmp_path: Path) -> None:
    pack = copied_pack("legal", tmp_path)
    with parrot_server() as parrot:
        models = f"{AT_ONCE},{parrot.model}"
        here = run_json(tmp_path / "local", pack, models, *MORE)
        assert here.code == 0, here.err
        ray = run_json(tmp_path / "ray", pack, models, *MORE, "--engine", "ray", "--workers", "2")
        assert ray.code == 0, ray.err
    assert len(calls_of(tmp_path / "local")) == 8
    assert calls_of(tmp_path / "ray") == calls_of(tmp_path / "local")
    drop = {"run"}
    assert {k: v for k, v in ray.json.items() if k not in drop} == {k: v for k, v in here.json.items() if k not in drop}


def test_a_run_into_a_url_is_resumed_retried_and_shown_there(tmp_path: Path) -> None:
    pack = copied_pack("legal", tmp_path)
    place = tmp_path / "bucket"
    url = place.as_uri()
    gone = "openai:http://127.0.0.1:9/v1#gone"
    models = f"{AT_ONCE},{gone}"
    first = run_json(url, pack, models, *MORE, "--invalid-cap", "1", "--tasks", "C1-E1")
    assert first.code == 1, first.err
    assert (first.json["done"], len(first.json["used_up"])) == (2, 2)
    local = run_json(tmp_path / "local", pack, models, *MORE, "--invalid-cap", "1", "--tasks", "C1-E1")
    assert local.code == 1, local.err
    assert set(calls_of(place)) == set(calls_of(tmp_path / "local"))
    done = {name: call for name, call in calls_of(place).items() if name.startswith("calls/")}
    assert done == {n: c for n, c in calls_of(tmp_path / "local").items() if n.startswith("calls/")}

    shutil.rmtree(next((place / "calls" / "legal" / "C1-E1").glob("oracle*")) / "text" / "t1")
    again = callm("run", "--out", url, "--json")
    assert (again.code, again.json["done"]) == (1, 2)
    assert len(callm("retry", url, "--invalid", "--json").json["opened"]) == 2
    shown = callm("status", url, "--json").json
    assert (shown["state"], shown["left"]) == ("unfinished", 2)


def test_an_engine_that_there_is_not_is_named(tmp_path: Path) -> None:
    pack = copied_pack("legal", tmp_path)
    ran = run_json(tmp_path / "run", pack, AT_ONCE, *MORE, "--engine", "slurm")
    assert ran.code == 2
    assert "slurm" in ran.err
    assert "ray:ADDRESS" in ran.err
