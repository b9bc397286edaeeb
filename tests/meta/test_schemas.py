"""The published JSON Schemas are those of the models, and what we write fits them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callm_voice.bench import schemas

pytestmark = pytest.mark.meta

FOLDER = Path(__file__).parents[2] / "docs" / "schema"


def test_the_committed_schemas_are_what_the_models_say() -> None:
    assert schemas.differing(FOLDER) == [], "run `make schemas` and commit docs/schema"


def test_there_is_a_schema_for_each_published_format_and_no_other() -> None:
    names = {
        f"{name}.schema.json"
        for name in ("record", "task", "pack", "event", "gold", "verdict", "score", "profile", "wer")
    }
    assert {path.name for path in FOLDER.iterdir()} == names


def test_check_says_which_schema_differs_and_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert schemas.main(["--out", str(tmp_path)]) == 0
    assert schemas.main(["--check", "--out", str(tmp_path)]) == 0
    (tmp_path / "gold.schema.json").write_text("{}", encoding="utf-8")
    (tmp_path / "task.schema.json").unlink()
    assert schemas.main(["--check", "--out", str(tmp_path)]) == 1
    assert [line.split(":")[0].rpartition("/")[2] for line in capsys.readouterr().err.splitlines()] == [
        "gold.schema.json",
        "task.schema.json",
    ]


def test_the_docstring_under_a_field_is_its_description() -> None:
    record = json.loads(schemas.schema_texts()["record.schema.json"])
    assert record["properties"]["duration_ms"]["description"] == "Ticks of the line times its packet time."
    task = json.loads(schemas.schema_texts()["task.schema.json"])
    assert task["$defs"]["GoldPart"]["properties"]["path"]["description"].startswith("Roles in the order")


def test_a_task_without_gold_does_not_fit_the_schema_of_a_task_file() -> None:
    task = json.loads(schemas.schema_texts()["task.schema.json"])
    assert {"brief", "gold", "id"} <= set(task["required"])
