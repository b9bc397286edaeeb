"""The pack that `packs new` makes, with texts of it replaced: a deliberately wrong pack is one edit away."""

from __future__ import annotations

from pathlib import Path

from callm_voice.bench.packcheck.findings import TaskReport
from callm_voice.bench.packcheck.run import check_task
from callm_voice.bench.packnew import new_pack
from callm_voice.desk.pack import load_pack

TASK = "tasks/C1-E1.yaml"


def small_pack(into: Path, *edits: tuple[str, str, str]) -> Path:
    """Make it; an edit is (file, text that is there, text in its place)."""
    folder = new_pack("bike_shop", into)
    for file, old, new in edits:
        path = folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, (file, old)
        path.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def checked(into: Path, *edits: tuple[str, str, str]) -> TaskReport:
    """The report of its one task."""
    return check_task(load_pack(small_pack(into, *edits)), "C1-E1")


def problems_of(report: TaskReport) -> str:
    """All problems, a line each."""
    return "\n".join(problem.one_line() for problem in report.problems)
