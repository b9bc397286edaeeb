"""Rows of a pack's own script as SQL, and the script's command line."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from callm_voice.desk.seedfile import insert_statements, seed_command

pytestmark = pytest.mark.unit
COLUMNS = {"notes": "id words start", "empty": "id"}
TEN = dt.datetime.fromisoformat("2026-09-15T10:00")
ROWS = {"notes": [(1, 'O\'Brien; -- "x"', TEN), (2, None, "2026-09-16T09:00")], "empty": []}


def test_what_is_written_is_what_sqlite_reads_back() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript('CREATE TABLE notes (id INTEGER, words TEXT, "start" TEXT)')
        database.executescript("\n".join(insert_statements(COLUMNS, ROWS)))
        assert database.execute("SELECT * FROM notes").fetchall() == [
            (1, "O'Brien; -- \"x\"", "2026-09-15T10:00"), (2, None, "2026-09-16T09:00"),
        ]  # fmt: skip


def test_check_writes_nothing_and_tells_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = tmp_path / "seed.sql"
    monkeypatch.setattr("sys.argv", ["make_seed.py"])
    assert seed_command(seed, lambda: "one", "Write it.") == 0
    monkeypatch.setattr("sys.argv", ["make_seed.py", "--check"])
    assert seed_command(seed, lambda: "one", None) == 0
    assert seed_command(seed, lambda: "two", None) == 1
    assert seed.read_text("utf-8") == "one"
