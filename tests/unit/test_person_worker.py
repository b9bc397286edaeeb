"""What the process of a person's call does beside the call: its folder, and what it says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.person_worker import Outbox, claim, unclaim
from callm_voice.core.livefiles import unfinished

pytestmark = pytest.mark.unit


def spec(run_dir: Path, **fields: Any) -> CallSpec:
    given = {"task": "healthcare/C5-H1", "model": "oracle", "caller": "person", "run_dir": run_dir, **fields}
    return CallSpec.model_validate(given)


def test_each_call_gets_the_next_free_trial(tmp_path: Path) -> None:
    first = claim(spec(tmp_path))
    unfinished(first.folder()).rename(first.folder())
    second, third = claim(spec(tmp_path)), claim(spec(tmp_path))
    assert [s.trial for s in (first, second, third)] == [1, 2, 3]
    assert unfinished(third.folder()).is_dir()


def test_a_persons_call_is_in_the_way_of_no_other(tmp_path: Path) -> None:
    simulated = spec(tmp_path, caller="scripted")
    assert claim(spec(tmp_path)).folder() != simulated.folder()
    assert claim(spec(tmp_path)).folder().parent.parent == simulated.folder().parent.parent


def test_a_call_that_was_never_made_leaves_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    claimed = claim(spec(run))
    (unfinished(claimed.folder()) / "events.jsonl").touch()
    unclaim(unfinished(claimed.folder()), run)
    assert not list(tmp_path.iterdir())


def test_of_a_run_with_other_calls_only_its_own_folder_goes(tmp_path: Path) -> None:
    kept = claim(spec(tmp_path))
    gone = claim(spec(tmp_path, model="qwen2.5-coder-0.5b"))
    unclaim(unfinished(gone.folder()), tmp_path)
    assert unfinished(kept.folder()).is_dir()
    assert not gone.folder().parent.parent.exists()


def test_messages_are_lines_in_order_whatever_is_in_them() -> None:
    reading, writing = os.pipe()
    box = Outbox(writing)
    box.put(progress="loads\nmore \ud800")
    box.put(event={"n": 1})
    box.close()
    with os.fdopen(reading, encoding="utf-8") as file:
        told = [json.loads(line) for line in file]
    assert [list(message) for message in told] == [["progress"], ["event"]]
    assert told[0]["progress"].startswith("loads\nmore ")


def test_nobody_who_does_not_read_holds_the_call_up() -> None:
    reading, writing = os.pipe()
    box = Outbox(writing)
    for n in range(2000):  # some megabytes, far more than a pipe holds
        box.put(event={"n": n, "words": "w" * 1000})
    os.close(reading)
    box.close()
