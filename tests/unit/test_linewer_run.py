"""results.jsonl: what a killed run leaves, what a second run does with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.bench.linewer.listen import Heard
from callm_voice.bench.linewer.plan import make_plan
from callm_voice.bench.linewer.run import ROWS_FILE, _cut_broken_end, read_rows, run_plan
from callm_voice.bench.linewer.utterances import load_utterances
from callm_voice.core.errors import ConfigError

pytestmark = pytest.mark.unit


def row(key: str) -> Heard:
    return Heard(
        key=key, sound="u01", voice="joe", profile="worst", model="base", text="Hi", raw="Hi", rejected=None,
        audio_ms=1000, decode_ms=1, cpu_ms=1,
    )  # fmt: skip


def test_a_half_written_line_is_left_out_and_cut_off(tmp_path: Path) -> None:
    path = tmp_path / ROWS_FILE
    whole = "".join(row(key).model_dump_json() + "\n" for key in ("a", "b"))
    path.write_text(whole + row("c").model_dump_json()[:40])
    assert list(read_rows(path)) == ["a", "b"]
    _cut_broken_end(path)
    assert path.read_text() == whole
    _cut_broken_end(path)
    assert path.read_text() == whole


def test_a_file_of_something_else_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / ROWS_FILE
    path.write_text(row("a").model_dump_json() + "\n{}\n")
    with pytest.raises(ConfigError, match=r"results\.jsonl:2: not a row"):
        read_rows(path)


def test_what_is_there_is_not_done_again(tmp_path: Path) -> None:
    """All rows are there, so no process, voice or recogniser is needed; rows of another plan stay and do not count."""
    plan = make_plan(load_utterances(), profiles=["clean-16k"], voices=["joe"], limit=2)
    wanted = [what.key for what in plan.listenings()]
    (tmp_path / ROWS_FILE).write_text("".join(row(key).model_dump_json() + "\n" for key in ["other", *wanted[::-1]]))
    said: list[str] = []
    assert [found.key for found in run_plan(plan, tmp_path, said.append)] == wanted
    assert said == [f"{len(wanted)} listenings, {len(wanted)} of them done before; rows go to {tmp_path / ROWS_FILE}"]


def test_no_time_means_that_nothing_is_begun(tmp_path: Path) -> None:
    plan = make_plan(load_utterances(), profiles=["clean-16k"], voices=["joe"], limit=2)
    assert run_plan(plan, tmp_path, lambda text: None, workers=1, stop_after_s=0) == []
