"""For a pack's own script that writes its seed.sql: rows as INSERT statements, and the script's command line."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

RESERVED = frozenset({"start", "end"})
"""Column names that packs use and SQL has a meaning for: they are quoted."""


def sql_value(value: Any) -> str:
    """A literal: NULL, a number, or text in quotes; a moment as text to the minute, as calls write it."""
    if value is None:
        return "NULL"
    if isinstance(value, dt.datetime):
        value = value.isoformat(timespec="minutes")
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def insert_statement(table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """One INSERT of all rows, a row on each line.

    Args:
        rows: values in the order of the columns; not empty.
    """
    named = ", ".join(f'"{column}"' if column in RESERVED else column for column in columns)
    values = ",\n".join("    (" + ", ".join(map(sql_value, row)) + ")" for row in rows)
    return f"INSERT INTO {table} ({named}) VALUES\n{values};"


def insert_statements(columns: Mapping[str, str], rows: Mapping[str, Sequence[Sequence[Any]]]) -> Iterator[str]:
    """The INSERT of each table that has rows, a blank line before each.

    Args:
        columns: table → its columns with blanks between them, in an order in which rows can be inserted.
        rows: by table.
    """
    for table, names in columns.items():
        if rows[table]:
            yield "\n" + insert_statement(table, names.split(), rows[table])


def seed_command(target: Path, make: Callable[[], str], about: str | None) -> int:
    """What `python make_seed.py [--check]` does; its exit code.

    Args:
        target: the seed.sql.
        make: its text.
        about: the script's docstring, whose first line is its help.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help=f"compare with {target.name} and write nothing")
    check = parser.parse_args().check
    text = make()
    if check:
        return 0 if target.read_text(encoding="utf-8") == text else 1
    target.write_text(text, encoding="utf-8")
    return 0
