"""Many tasks are checked in several processes, with the same reports in the same order."""

from __future__ import annotations

import pytest
from support.small_pack import TASK, small_pack

from callm_voice.bench.packcheck.run import ALONE, check_packs

pytestmark = pytest.mark.unit


def test_processes_give_the_same_reports_in_the_same_order(tmp_path):
    folder = small_pack(tmp_path)
    text = (folder / TASK).read_text()
    for n in range(2, ALONE + 3):
        (folder / f"tasks/C1-E{n}.yaml").write_text(text.replace("id: C1-E1", f"id: C1-E{n}"))
    seen = []
    reports = check_packs([folder], workers=2, on_task=lambda pack, task: seen.append((pack, task.id)))[0].reports
    assert [report.id for report in reports] == [task for _, task in seen] == [f"C1-E{n}" for n in range(1, ALONE + 3)]
    assert {report.model_copy(update={"id": ""}) for report in reports} == {reports[0].model_copy(update={"id": ""})}
