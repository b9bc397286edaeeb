"""The page of exports lists the columns that the tables have."""

from __future__ import annotations

from pathlib import Path

import pytest

from callm_voice.report import export_schema

pytestmark = pytest.mark.meta
PAGE = Path(__file__).parents[2] / "docs" / "exports.md"


def test_the_columns_on_the_page_are_those_of_the_tables() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert export_schema.filled(page) == page, "run python -m callm_voice.report.export_schema and commit docs/"


def test_every_column_has_a_meaning_and_stands_once_in_its_table() -> None:
    for columns in export_schema.TABLES.values():
        names = [column.name for column in columns]
        assert len(set(names)) == len(names)
        assert all(column.meaning for column in columns)


def test_every_table_begins_with_the_keys() -> None:
    keys = export_schema.KEYS
    assert all(columns[: len(keys)] == keys for columns in export_schema.TABLES.values())
