"""One call's database: built with clear errors, closed to the outside, with frozen time and a stable dump."""

# ruff: noqa: DTZ001 - a pack's clock has no offset

from __future__ import annotations

import datetime as dt
import sqlite3

import pytest

from callm_voice.core.errors import ConfigError, HarnessError
from callm_voice.desk.database import CallDatabase, build_database

pytestmark = pytest.mark.unit
NOW = dt.datetime(2026, 8, 18, 9, 30)
SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT CHECK (a <> ''));\n"


@pytest.fixture
def build(tmp_path):
    """Build a database from two texts; closed afterwards."""
    made = []

    def run(schema=SCHEMA, seed=""):
        (tmp_path / "schema.sql").write_text(schema)
        (tmp_path / "seed.sql").write_text(seed)
        made.append(build_database(tmp_path / "schema.sql", tmp_path / "seed.sql", NOW))
        return made[-1]

    yield run
    for database in made:
        database.close()


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT datetime('now')", "2026-08-18 09:30:00"),
        ("SELECT datetime('NOW', '+1 day', 'start of day')", "2026-08-19 00:00:00"),
        ("SELECT datetime()", "2026-08-18 09:30:00"),
        ("SELECT date('now')", "2026-08-18"),
        ("SELECT time('now')", "09:30:00"),
        ("SELECT strftime('%Y %w')", "2026 2"),
        ("SELECT strftime('%H:%M', 'now')", "09:30"),
        ("SELECT round(julianday('now') - julianday('2026-08-18'), 6)", 0.395833),
        ("SELECT unixepoch('now')", 1787045400),
        ("SELECT CURRENT_TIMESTAMP", "2026-08-18 09:30:00"),
        ("SELECT CURRENT_DATE", "2026-08-18"),
        ("SELECT CURRENT_TIME", "09:30:00"),
        ("SELECT date('2020-02-28', '+1 day')", "2020-02-29"),
        ("SELECT datetime(0, 'unixepoch')", "1970-01-01 00:00:00"),
        ("SELECT date('garbage')", None),
        ("SELECT date(NULL)", None),
    ],
)
def test_now_is_the_packs_now_and_other_dates_are_sqlites_own(build, sql, value):
    assert build().connection.execute(sql).fetchone()[0] == value


@pytest.mark.parametrize("sql", ["SELECT datetime('now', 'localtime')", "SELECT date('2020-01-01', 'UTC')"])
def test_the_machines_time_zone_cannot_be_asked_for(build, sql):
    with pytest.raises(sqlite3.OperationalError):
        build().connection.execute(sql).fetchone()


@pytest.mark.parametrize(
    "sql",
    [
        "COMMIT",
        "SAVEPOINT a",
        "PRAGMA foreign_keys = OFF",
        "PRAGMA defer_foreign_keys = ON",
        "ATTACH ':memory:' AS other",
        "CREATE TABLE z (a)",
        "CREATE TEMP TABLE z (a)",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN b",
        "DELETE FROM sqlite_sequence",
        "SELECT random()",
        "SELECT load_extension('x')",
    ],
)
def test_a_tool_cannot_leave_its_transaction_its_tables_or_its_database(build, sql):
    database = build()
    with database.transaction() as connection, pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        connection.execute(sql)


def test_vacuum_into_a_file_is_refused(build, tmp_path):
    with build().transaction() as connection, pytest.raises(sqlite3.DatabaseError):
        connection.execute("VACUUM INTO ?", [str(tmp_path / "copy.db")])
    assert not (tmp_path / "copy.db").exists()


def test_a_tool_may_read_the_schema(build):
    with build().transaction() as connection:
        assert [r["name"] for r in connection.execute("PRAGMA table_info(t)")] == ["id", "a"]


def test_a_block_that_raises_writes_nothing(build):
    database = build()
    with pytest.raises(ZeroDivisionError), database.transaction() as connection:
        connection.execute("INSERT INTO t (a) VALUES (?)", [1 / len(connection.execute("SELECT 1").fetchall()[1:])])
    assert database.dump() == {"t": []}


def test_a_deferred_constraint_that_fails_at_commit_writes_nothing(build):
    schema = "CREATE TABLE p (id INTEGER PRIMARY KEY, up INTEGER REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED);"
    database = build(schema)
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.execute("INSERT INTO p VALUES (1, 2)")
    assert database.dump() == {"p": []}


def test_dump_follows_the_schema_and_the_rowid(build):
    schema = 'CREATE TABLE z (v);\nCREATE TABLE a (k TEXT PRIMARY KEY, "o d" BLOB) WITHOUT ROWID;\n' + SCHEMA
    seed = "INSERT INTO z VALUES (3), (1), (NULL), (0.5);\nINSERT INTO a VALUES ('y', x'ff'), ('b', NULL);"
    assert build(schema, seed).dump() == {
        "z": [{"v": 3}, {"v": 1}, {"v": None}, {"v": 0.5}],
        "a": [{"k": "b", "o d": None}, {"k": "y", "o d": "ff"}],
        "t": [],
    }


def test_a_copy_is_a_database_of_its_own(build):
    seeded = build(seed="INSERT INTO t (a) VALUES ('seed');")
    copy = CallDatabase(NOW, image=seeded.image())
    with copy.transaction() as connection:
        connection.execute("INSERT INTO t (a) VALUES (datetime('now'))")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("INSERT INTO t (a) VALUES ('')")
    assert [r["a"] for r in copy.dump()["t"]] == ["seed", "2026-08-18 09:30:00"]
    assert [r["a"] for r in seeded.dump()["t"]] == ["seed"]
    copy.close()


def test_a_database_in_a_file_can_be_opened_by_others_afterwards(build, tmp_path):
    path = tmp_path / "call.db"
    CallDatabase(NOW, path, image=build(seed="INSERT INTO t (a) VALUES ('seed');").image()).close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT a FROM t").fetchall() == [("seed",)]
    connection.close()


def test_a_file_that_exists_is_never_written_over(build, tmp_path):
    (tmp_path / "call.db").write_text("mine")
    with pytest.raises(HarnessError, match="must be a new file"):
        CallDatabase(NOW, tmp_path / "call.db", image=build().image())
    assert (tmp_path / "call.db").read_text() == "mine"


@pytest.mark.parametrize(
    ("schema", "seed", "message"),
    [
        ("CREATE TABLE t (a;", "", r"schema\.sql:1: SQLite says: .*syntax error"),
        (
            SCHEMA,
            "\n-- one\nINSERT INTO t (a) VALUES\n  ('');",
            r"seed\.sql:2: .*CHECK constraint failed: a",
        ),
        (SCHEMA + "CREATE TABLE c (t REFERENCES t (id));", "INSERT INTO c VALUES (9);", r"seed\.sql:1: .*FOREIGN KEY"),
        (SCHEMA, "INSERT INTO u VALUES (1)", r"seed\.sql:1: SQLite says: no such table: u"),
        (SCHEMA, "INSERT INTO t (a) VALUES (random());", r"seed\.sql:1: .*random"),
        (SCHEMA, "PRAGMA foreign_keys = OFF;", r"seed\.sql:1: SQLite says: not authorized"),
        ("ATTACH 'x.db' AS x;", "", r"schema\.sql:1: SQLite says: not authorized"),
        (SCHEMA, "BEGIN;\nINSERT INTO t (a) VALUES ('x');", r"seed\.sql: a transaction is begun and not committed"),
        (
            "CREATE TABLE t (\n at TEXT DEFAULT current_timestamp);",
            "",
            r"schema\.sql:2: current_timestamp: reads",
        ),
    ],
)
def test_a_wrong_script_is_named_with_file_and_line(build, schema, seed, message):
    with pytest.raises(ConfigError, match=message):
        build(schema, seed)


def test_the_real_clock_may_be_named_in_a_comment(build):
    assert build("-- never CURRENT_TIMESTAMP\n/* nor CURRENT_DATE */" + SCHEMA).dump() == {"t": []}


def test_a_missing_script_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"schema\.sql: cannot be read"):
        build_database(tmp_path / "schema.sql", tmp_path / "seed.sql", NOW)


def test_statements_may_share_a_line_and_the_last_needs_no_semicolon(build):
    seed = "INSERT INTO t (a) VALUES ('a;b'); INSERT INTO t (a) VALUES ('c')"
    assert [r["a"] for r in build(seed=seed).dump()["t"]] == ["a;b", "c"]


def test_a_seed_may_hold_its_own_transaction_and_a_trigger(build):
    schema = SCHEMA + "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET a = a || '!'; SELECT 1; END;"
    seed = "BEGIN;\nINSERT INTO t (a) VALUES ('x');\nCOMMIT;\n-- the end\n"
    assert build(schema, seed).dump() == {"t": [{"id": 1, "a": "x!"}]}


def test_a_database_without_tables_has_an_empty_dump():
    database = CallDatabase(NOW)
    assert database.dump() == {}
    database.close()
