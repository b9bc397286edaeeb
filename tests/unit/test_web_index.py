"""Which calls a run holds, by their folders alone; what of them the list shows."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from support.live import told_call
from support.run_builder import MadeCall, write_call, write_run

from callm_voice.core.clock import RealClock
from callm_voice.core.runfolder import RECORD_FILE
from callm_voice.web import index
from callm_voice.web.index import CallIndex, call_id, look_through
from callm_voice.web.live import Live
from callm_voice.web.outlines import Outlines, read_outline
from callm_voice.web.settings import ServeSettings

pytestmark = pytest.mark.unit


def test_finished_and_running_calls_and_attempts_that_do_not_count_are_found(tmp_path: Path) -> None:
    write_run(tmp_path, [MadeCall(), MadeCall(trial=2, plot="harness"), MadeCall(line="text")])
    with told_call(tmp_path, trial=7):
        found = look_through(tmp_path)
    assert {(e.names[0], e.names[4], e.trial) for e in found.finished} == {
        ("calls", "pstn-g711u", "t1"), ("calls", "text", "t1"), ("invalid", "pstn-g711u", "t2/a1"),
    }  # fmt: skip
    assert [e.trial for e in found.unfinished] == ["t7"]
    assert len(found.by_id) == 4


def test_a_run_that_is_not_there_holds_no_calls(tmp_path: Path) -> None:
    assert look_through(tmp_path / "nowhere").by_id == {}


def test_the_newest_call_stands_first(tmp_path: Path) -> None:
    for trial, changed_s in ((1, 3_000), (2, 1_000), (3, 2_000)):
        os.utime(write_call(tmp_path, MadeCall(trial=trial)), (changed_s, changed_s))
    assert [e.trial for e in look_through(tmp_path).finished] == ["t1", "t3", "t2"]


def test_a_call_keeps_its_id_when_it_is_finished(tmp_path: Path) -> None:
    with told_call(tmp_path) as call:
        (running,) = look_through(tmp_path).unfinished
        call.open_line()
        call.complete()
    (finished,) = look_through(tmp_path).finished
    assert running.id == finished.id == call_id(finished.names)
    assert finished.folder == call.folder.final


def test_a_call_that_is_made_again_is_the_one_under_way(tmp_path: Path) -> None:
    with told_call(tmp_path) as first:
        first.open_line()
        first.complete()
    with told_call(tmp_path):
        found = look_through(tmp_path)
        (entry,) = found.by_id.values()
    assert not entry.finished


@pytest.mark.parametrize("level", range(6))
def test_links_are_passed_over_at_every_level(level: int, tmp_path: Path) -> None:
    outside, run = tmp_path / "outside", tmp_path / "run"
    write_call(outside, MadeCall())
    names = MadeCall().folder.parts
    run.joinpath(*names[:level]).mkdir(parents=True)
    run.joinpath(*names[: level + 1]).symlink_to(outside.joinpath(*names[: level + 1]))
    assert look_through(run).by_id == {}


async def test_a_new_call_is_seen_within_two_looks(tmp_path: Path) -> None:
    clock = RealClock()
    try:
        index = CallIndex(tmp_path, clock)
        assert await index.entry("0" * 12) is None
        folder = write_call(tmp_path, MadeCall())
        wanted = call_id(folder.relative_to(tmp_path).parts)
        entry = None
        for _ in range(100):
            entry = await index.entry(wanted)
            if entry is not None:
                break
            await clock.sleep_until(clock.now_s() + 0.1)
        assert entry is not None
        assert entry.folder == folder
    finally:
        clock.close()


def test_an_outline_says_what_the_record_says(tmp_path: Path) -> None:
    write_run(tmp_path, [MadeCall(plot="wrong_path"), MadeCall(trial=2, plot="caller")])
    outlines = {o.entry.trial: o for o in Outlines().of(look_through(tmp_path).finished)}
    assert (outlines["t1"].status, outlines["t1"].task, outlines["t1"].model) == ("fail", "demo/C1-E1", "alpha")
    assert (outlines["t2/a1"].status, outlines["t2/a1"].kind) == ("invalid", "caller")
    assert outlines["t1"].duration_ms == 20_000.0


def test_a_record_that_leads_elsewhere_is_not_read(tmp_path: Path) -> None:
    folder = write_call(tmp_path / "run", MadeCall())
    (folder / RECORD_FILE).rename(tmp_path / "elsewhere.json")
    (folder / RECORD_FILE).symlink_to(tmp_path / "elsewhere.json")
    (entry,) = look_through(tmp_path / "run").finished
    assert read_outline(entry) is None


def test_a_call_that_is_moved_away_while_it_is_found_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for trial in (1, 2):
        write_call(tmp_path, MadeCall(trial=trial))
    listed = index._folders

    def slowly(path: Path) -> list[os.DirEntry[str]]:
        found = listed(path)
        for entry in found:
            if entry.name == "t1":
                shutil.rmtree(entry.path)
        return found

    monkeypatch.setattr(index, "_folders", slowly)
    assert [e.trial for e in look_through(tmp_path).finished] == ["t2"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"outcome": 1}', "\0", "[" * 100_000])
def test_a_record_that_is_none_is_passed_over(text: str, tmp_path: Path) -> None:
    folder = write_call(tmp_path, MadeCall())
    (folder / RECORD_FILE).write_text(text, encoding="utf-8")
    assert Outlines().of(look_through(tmp_path).finished) == []


@pytest.mark.parametrize(
    ("field", "value"), [("duration_ms", "NaN"), ("duration_ms", "1e999"), ("started_at", '"\\ud800"')]
)
async def test_a_record_that_holds_what_json_has_not_does_not_cost_the_list(
    field: str, value: str, tmp_path: Path
) -> None:
    folders = write_run(tmp_path, [MadeCall(), MadeCall(trial=2)])
    record = json.loads((folders / MadeCall().folder / RECORD_FILE).read_text("utf-8"))
    text = json.dumps({**record, field: "HERE"}).replace('"HERE"', value)
    (folders / MadeCall().folder / RECORD_FILE).write_text(text, encoding="utf-8")
    live = Live(ServeSettings(tmp_path))
    try:
        told = await live.overview()
    finally:
        live.watch.close()
        live.clock.close()
    assert len(told["finished"]) == 2
    json.dumps(told, allow_nan=False, ensure_ascii=False).encode("utf-8")


def test_a_record_with_a_number_that_is_no_float_is_passed_over(tmp_path: Path) -> None:
    folder = write_call(tmp_path, MadeCall())
    record = json.loads((folder / RECORD_FILE).read_text("utf-8"))
    (folder / RECORD_FILE).write_text(json.dumps({**record, "duration_ms": 10**400}), encoding="utf-8")
    assert Outlines().of(look_through(tmp_path).finished) == []
