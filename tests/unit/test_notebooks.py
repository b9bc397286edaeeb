"""The notebooks as they are committed, and what they share: the run, its tables, the sound around a moment."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import numpy as np
import pytest
from support.cli import callm
from support.run_builder import RATE_HZ, TURN_MS, MadeCall, sample_calls, write_call, write_run

from callm_voice.core.errors import NotFoundError, UsageError
from callm_voice.core.paths import installed_data_dir
from callm_voice.core.record import TranscriptTurn
from callm_voice.report.export_schema import TABLES
from callm_voice.report.notebook_view import BEFORE_MS, OpenRun, label, open_run
from callm_voice.report.site.moments import KINDS

pytestmark = pytest.mark.unit
NOTEBOOKS = sorted((installed_data_dir() / "notebooks").glob("*.ipynb"))
NAMES = ["compare-two-models", "latency-profile", "listen-to-the-failures"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    return open_run(write_run(tmp_path_factory.mktemp("run"), sample_calls()))


def test_all_three_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_committed_notebook_has_no_outputs(path: Path) -> None:
    code = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert code
    assert [cell for cell in code if cell.outputs or cell.execution_count is not None] == []
    assert [cell for cell in code if set(cell.metadata) - {"tags"}] == [], "a tool's own metadata"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_first_code_cell_sets_the_parameters_and_nothing_else(path: Path) -> None:
    first = next(cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code")
    assert first.metadata.tags == ["parameters"]
    assert 'RUN = os.environ.get("CALLM_VOICE_RUN", "")' in first.source
    assert {type(node) for node in ast.parse(first.source).body} == {ast.Import, ast.Assign}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_s_lines_fit_a_screen(path: Path) -> None:
    lines = [line for cell in nbformat.read(path, 4).cells for line in cell.source.splitlines()]
    assert [line for line in lines if len(line) > 120] == []


def test_without_a_run_the_error_says_where_to_name_one() -> None:
    with pytest.raises(UsageError, match="first cell, or in the variable CALLM_VOICE_RUN"):
        open_run("")


def test_a_folder_that_is_none_or_holds_no_call_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere is not a folder"):
        open_run(tmp_path / "nowhere")
    with pytest.raises(NotFoundError, match="finished call"):
        open_run(tmp_path)


def test_the_tables_are_the_exported_ones(sample: OpenRun) -> None:
    assert set(sample.tables) == set(TABLES)
    assert list(sample.tables["calls"].columns) == [column.name for column in TABLES["calls"]]
    assert len(sample.tables["calls"]) == len(sample.rows)


def test_the_best_model_is_taken_if_none_is_named(sample: OpenRun) -> None:
    assert sample.model() == "alpha"
    assert sample.model("beta?temperature=0") == "beta?temperature=0"
    with pytest.raises(NotFoundError, match="known: alpha, beta"):
        sample.model("gamma")


def test_two_models_are_found_or_asked_for(sample: OpenRun, tmp_path: Path) -> None:
    beta = "beta?temperature=0"
    assert sample.two_models() == sample.two_models("alpha") == sample.two_models(second=beta) == ("alpha", beta)
    assert sample.two_models(second="alpha") == (beta, "alpha")
    with pytest.raises(UsageError, match="both alpha"):
        sample.two_models("alpha", "alpha")
    with pytest.raises(UsageError, match="calls of one model only, alpha"):
        open_run(write_run(tmp_path, [MadeCall()])).two_models()


def test_the_differences_of_the_tasks_are_those_of_the_scoreboard(sample: OpenRun) -> None:
    (found,) = sample.board.comparisons
    differences = sample.task_differences(found.first, found.second)
    assert len(differences) == found.tasks
    assert sum(float(d.value) for d in differences) / len(differences) == pytest.approx(found.mean_difference)


def test_every_call_that_did_not_pass_is_there_once_in_the_order_of_the_site(sample: OpenRun) -> None:
    failures = sample.failures()
    assert len(failures) == sum(row.status != "pass" and not row.superseded for row in sample.rows)
    order = [list(KINDS).index(failure.moment.kind) for failure in failures]
    assert order == sorted(order)
    assert {f.row.model for f in sample.failures(model="alpha")} == {"alpha"}
    assert {f.moment.kind for f in sample.failures(kind="handoff")} == {"handoff"}
    with pytest.raises(NotFoundError, match="kind of failure"):
        sample.failures(kind="rude")


def test_a_clip_begins_before_the_moment_and_holds_both_channels(tmp_path: Path) -> None:
    write_call(tmp_path, MadeCall(plot="misheard_number"), audio=True)
    (failure,) = open_run(tmp_path).failures()
    clip = failure.clip(before_ms=BEFORE_MS, after_ms=4_000)
    assert clip is not None
    assert (failure.moment.t_ms, clip.start_ms, clip.rate_hz) == (4 * TURN_MS, 4 * TURN_MS - BEFORE_MS, RATE_HZ)
    assert clip.channels.shape == (2, 7 * RATE_HZ)
    at = int(BEFORE_MS * RATE_HZ / 1000)
    assert np.abs(clip.channels[0, at : at + 800]).max() == pytest.approx(8_000 / 32_768, abs=0.01)
    assert not clip.channels[0, at - 800 : at - 1].any()


def test_a_call_without_sound_has_no_clip(tmp_path: Path) -> None:
    write_call(tmp_path, MadeCall(plot="wrong_argument", line="text"))
    (failure,) = open_run(tmp_path).failures()
    assert failure.clip() is None


def test_the_words_around_a_moment_are_marked_and_escaped(tmp_path: Path) -> None:
    turns = (
        TranscriptTurn(
            party="caller", turn_id=1, start_ms=TURN_MS, end_ms=TURN_MS + 900, said="I am <b>Ana</b> Field",
            heard="I am <script>alert(1)</script> Field",
        ),
        TranscriptTurn(party="caller", turn_id=9, start_ms=1e6, end_ms=1e6 + 1, said="far away"),
    )  # fmt: skip
    write_call(tmp_path, MadeCall(plot="wrong_path", model="<i>m</i>", changes={"transcript": turns}))
    (failure,) = open_run(tmp_path).failures()
    words = failure.words_html(before_ms=1e5, after_ms=1e5)
    assert "<mark>&lt;script&gt;alert(1)&lt;/script&gt;</mark>" in words
    assert "<del>&lt;b&gt;Ana&lt;/b&gt;</del>" in words
    assert "&lt;i&gt;m&lt;/i&gt;" in words
    assert "far away" not in words
    assert words.startswith('<div class="tex2jax_ignore mathjax_ignore">'), "two prices would be read as a formula"


def test_a_dollar_in_a_name_is_no_mathematics_and_long_names_are_clipped() -> None:
    assert label("a$b$") == "a\\$b\\$"
    assert label("x" * 50, 10) == "xxxxxxx..."


def test_the_command_copies_them_and_keeps_what_is_there(tmp_path: Path) -> None:
    ran = callm("notebooks", "--out", str(tmp_path / "work"))
    assert ran.code == 0, ran.err
    assert sorted(path.stem for path in (tmp_path / "work").iterdir()) == NAMES
    again = callm("notebooks", "--out", str(tmp_path / "work"), "--json")
    assert again.code == 2
    assert "may hold work of yours" in again.error_lines[0]
