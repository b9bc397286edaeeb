"""The whole site from run folders, and its command: same bytes however it is built, one clear line for a mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli import callm
from support.run_builder import MadeCall, make_record, sample_calls, write_call, write_run
from typer.testing import CliRunner

from callm_voice.cli import demo
from callm_voice.cli.commands import app
from callm_voice.report.score import load_calls
from callm_voice.report.site.build import build_site
from callm_voice.report.site.leaderboard import board, choices

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    calls = [c for c in sample_calls() if c.trial == 2 and c.line != "mobile-amr-12k2"]
    return write_run(tmp_path_factory.mktemp("run"), [*calls, MadeCall(plot="harness", trial=3)], audio=True)


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_calls_give_the_same_bytes_in_one_process_or_two(run: Path, tmp_path: Path) -> None:
    one = build_site([run], tmp_path / "one", workers=1)
    two = build_site([run / "invalid", run / "calls"], tmp_path / "two", workers=2)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert (one.calls, one.failures, one.tasks) == (two.calls, two.failures, two.tasks)


def test_a_trial_that_was_made_again_is_shown_and_is_no_failure(tmp_path: Path) -> None:
    write_call(tmp_path / "run" / "superseded", MadeCall(plot="missing_call"))
    write_call(tmp_path / "run", MadeCall())
    built = build_site([tmp_path / "run"], tmp_path / "site")
    assert (built.calls, built.failures) == (2, 0)


def test_no_choice_is_offered_where_there_is_only_one() -> None:
    rows = _rows([MadeCall(), MadeCall(task="clinic/C1-H1"), MadeCall(plot="extra_row", trial=2)])
    found = choices(rows)
    assert (found.packs, found.lines, found.difficulties) == (("clinic", "demo"), ("pstn-g711u",), ("easy", "hard"))
    assert len(found.all()) == 3 * 1 * 3
    assert board(rows, ("clinic", "", "hard"))[0]["cells"][9]["t"] == "1 of 1"
    assert board(rows, ("clinic", "", "easy")) == []


def _rows(calls: list[MadeCall]) -> list[Any]:
    from callm_voice.report.score_rows import make_row

    return [make_row(make_record(call)[0], None, folder=Path(f"{n}")) for n, call in enumerate(calls)]


def test_the_command_prints_where_the_site_is(run: Path, tmp_path: Path) -> None:
    done = callm("report", str(run), "--out", str(tmp_path / "site"), "--audio", "none")
    assert done.code == 0
    assert Path(done.out.splitlines()[-1]) == tmp_path / "site" / "index.html"
    assert not list((tmp_path / "site").rglob("*.flac"))
    again = callm("report", str(run), "--out", str(tmp_path / "site"), "--json")
    assert again.json["calls"] == len(load_calls([run]))
    assert list((tmp_path / "site").rglob("*.flac"))


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["{run}", "--audio", "mp3"], "expected one of flac, opus, none"),
        (["{run}/nothing", "--out", "{tmp}/a"], "no finished call named"),
        (["{run}", "--out", "{run}"], "the calls to be shown lie in it"),
        (["{run}", "--out", "{tmp}/full"], "no site of callm-voice"),
        (["{run}", "--out", "{tmp}/full/a.txt"], "no site of callm-voice"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_overwritten(
    run: Path, tmp_path: Path, args: list[str], words: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").write_text("mine")
    done = callm("report", *(arg.format(run=run, tmp=tmp_path) for arg in args))
    assert done.code == 2
    assert len(done.error_lines) == 1
    assert words in done.err
    assert (tmp_path / "full" / "a.txt").read_text() == "mine"


def test_the_last_line_of_the_demo_is_the_site_of_its_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(spec: Any) -> tuple[Any, Path]:
        call = MadeCall(model=spec.model, plot="pass" if spec.model == "oracle" else "missing_call")
        return make_record(call)[0], write_call(spec.run_dir, call)

    monkeypatch.setattr(demo, "make_call", made)
    shown = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert shown.exit_code == 0, shown.output
    index = Path(shown.stdout.splitlines()[-1])
    assert index == tmp_path / "demo" / "site" / "index.html"
    assert index.is_file()
    monkeypatch.setattr(demo, "make_call", lambda spec: made(spec.model_copy(update={"run_dir": tmp_path / "again"})))
    plain = json.loads(CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo"), "--json"]).stdout)
    assert plain["site"] == str(index)
