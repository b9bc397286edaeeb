"""Plots of a line: files are written, and the timeline shows the bursts."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from support.line_sounds import phrase

from callm_voice.core.errors import MissingDependencyError
from callm_voice.line.apply import apply_profile
from callm_voice.line.profile import load_profile
from callm_voice.report import line_plots

pytestmark = pytest.mark.unit


def test_a_picture_for_each_profile_and_one_of_the_bands(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    profiles = [load_profile(name) for name in ("clean-16k", "loss-bad")]
    written = line_plots.write_line_plots(phrase(8000, 1.5), 8000, profiles, tmp_path)
    assert [path.name for path in written] == ["clean-16k.png", "loss-bad.png", "bands.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_the_timeline_has_a_bar_where_packets_were_missing() -> None:
    pytest.importorskip("matplotlib")
    done = apply_profile(phrase(8000, 8.0), 8000, load_profile("loss-awful"), seed=3)
    axes = importlib.import_module("matplotlib.figure").Figure().add_subplot()
    line_plots.draw_losses(done, axes)
    begins = sorted(patch.get_x() for patch in axes.patches if patch.get_width() > 0)
    starts = {round(burst.first_tick * 0.02, 6) for burst in done.bursts}
    assert starts
    assert starts <= {round(begin, 6) for begin in begins}
    assert f"{done.counts.lost} lost" in axes.get_title(loc="left")


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_plots.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="matplotlib"):
        line_plots.write_line_plots(phrase(8000, 0.1), 8000, [], tmp_path)
