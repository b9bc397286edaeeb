"""The SQLite database of one call: built from the pack's schema and seed, closed to the outside, with frozen time.

SQLite's own clock would leak the real date into rows and make a call unrepeatable. So the date functions are replaced
by ones for which `'now'` is the pack's `now` (local to the business), and `localtime` and `utc` are refused.
"""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from callm_voice.core.errors import ConfigError, HarnessError, Stage
from callm_voice.core.runfolder import disk_errors
from verifier.trace import Row, State

_TIME_VALUE_AT = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""SQLite's date functions → the position of their time value (sqlite.org/lang_datefunc.html §1)."""
_NOT_REPEATABLE = frozenset({"random", "randomblob", "load_extension"})
_REAL_CLOCK_WORDS = re.compile(r"\bCURRENT_(?:TIMESTAMP|DATE|TIME)\b", re.IGNORECASE)
_SQL_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
BUSY_S = 1.0
"""How long a lock of somebody else's is waited for; nobody else has any business in a call's database."""
_UNAVAILABLE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
_READING_PRAGMAS = frozenset(
    {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list", "foreign_key_check"}
)
_TOOL_MAY = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_TOOL_MAY_WRITE = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_NEVER = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_CREATE_VTABLE})


class DatabaseUnavailableError(HarnessError):
    """The call's own database cannot be used: locked, or its disk is full. No fault of the model's or the pack's."""

    default_stage: Stage = "desk"


class CallDatabase:
    """One call's database. Used from one thread at a time.

    Args:
        now: the frozen local time.
        path: a file that must not exist yet, or None for memory.
        image: the content to begin with, from another database's `image()`.
    """

    def __init__(self, now: dt.datetime, path: Path | None = None, *, image: bytes = b"") -> None:
        if path is not None and path.exists():
            raise HarnessError(f"{path}: a call's database must be a new file", stage="desk")
        if path is not None:
            with disk_errors(path):
                path.write_bytes(image)
        self.now = now
        self._mode: Literal["open", "own", "tool"] = "open"
        self.connection = sqlite3.connect(
            path or ":memory:",
            isolation_level=None,
            check_same_thread=False,
            cached_statements=0,
            timeout=BUSY_S,
        )
        if image and path is None:
            self.connection.deserialize(image)
        self.connection.row_factory = sqlite3.Row
        self._original = sqlite3.connect(":memory:", check_same_thread=False)
        for pragma in ("foreign_keys = ON", "journal_mode = MEMORY", "synchronous = OFF"):
            self.connection.execute(f"PRAGMA {pragma}")
        self._freeze_time()
        self.connection.set_authorizer(self._authorize)
        self._mode = "own"

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a tool's statements: all kept if the block ends, none if it raises.

        Raises:
            sqlite3.Error: the commit failed (a deferred constraint); nothing is kept.
            HarnessError: the block ended the transaction itself (`INSERT OR ROLLBACK`).
            DatabaseUnavailableError: the file is locked or its disk is full.
        """
        with _unavailable():
            self.connection.execute("BEGIN IMMEDIATE")
        self._mode = "tool"
        try:
            with _unavailable():
                yield self.connection
            self._mode = "own"
            if not self.connection.in_transaction:
                raise HarnessError("the tool ended its own transaction", stage="desk")
            with _unavailable():
                self.connection.execute("COMMIT")
        finally:
            self._mode = "own"
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def dump(self) -> State:
        """All tables in the order of the schema; rows by rowid, or by primary key where there is no rowid.

        Raises:
            DatabaseUnavailableError: it cannot be read.
        """
        with _unavailable():
            return {table: self._rows(table) for table in self.tables()}

    def tables(self) -> dict[str, list[str]]:
        """User tables in the order of the schema → their columns."""
        found = self.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid").fetchall()
        return {name: self._columns(name) for (name,) in found if not name.startswith("sqlite_")}

    def image(self) -> bytes:
        """The content as the bytes of a SQLite file."""
        self._mode = "open"  # SQLite asks itself for the page count
        try:
            return self.connection.serialize()
        finally:
            self._mode = "own"

    def close(self) -> None:
        """Close; a database in memory is gone then."""
        self.connection.close()
        self._original.close()

    def _columns(self, table: str) -> list[str]:
        return [row["name"] for row in self.connection.execute(f"PRAGMA table_info({_quoted(table)})")]

    def _rows(self, table: str) -> list[Row]:
        keys = [r for r in self.connection.execute(f"PRAGMA table_info({_quoted(table)})") if r["pk"]]
        by_key = ", ".join(_quoted(r["name"]) for r in sorted(keys, key=lambda r: int(r["pk"])))
        try:
            found = self.connection.execute(f"SELECT * FROM {_quoted(table)} ORDER BY rowid")  # noqa: S608
        except sqlite3.OperationalError:  # WITHOUT ROWID
            found = self.connection.execute(f"SELECT * FROM {_quoted(table)} ORDER BY {by_key}")  # noqa: S608
        return [{key: _plain(row[key]) for key in row.keys()} for row in found]  # noqa: SIM118 - a sqlite3.Row

    def _authorize(self, action: int, arg1: str | None, arg2: str | None, *_: str | None) -> int:
        """SQLite asks before it compiles a statement (sqlite.org/c3ref/set_authorizer.html)."""
        return sqlite3.SQLITE_OK if self._allowed(action, arg1 or "", arg2 or "") else sqlite3.SQLITE_DENY

    def _allowed(self, action: int, arg1: str, arg2: str) -> bool:
        if self._mode == "open":
            return True
        if action in _NEVER:
            return False
        if action == sqlite3.SQLITE_FUNCTION:
            return arg2.lower() not in _NOT_REPEATABLE
        if action == sqlite3.SQLITE_PRAGMA:
            return arg1.lower() in _READING_PRAGMAS
        if self._mode == "own" or action in _TOOL_MAY:
            return True
        return action in _TOOL_MAY_WRITE and not arg1.lower().startswith("sqlite_")

    def _freeze_time(self) -> None:
        connection, stamp = self.connection, self.now.isoformat(sep=" ", timespec="seconds")
        for name, position in _TIME_VALUE_AT.items():
            connection.create_function(name, -1, self._frozen(name, position, stamp), deterministic=True)
        day, time = stamp.split(" ")
        for name, value in {"timestamp": stamp, "date": day, "time": time}.items():
            connection.create_function(f"current_{name}", 0, _constant(value), deterministic=True)

    def _frozen(self, name: str, position: int, stamp: str) -> Callable[..., Any]:
        """SQLite's own function `name`, for which now is `stamp`."""

        def call(*args: Any) -> Any:
            values = list(args)
            if len(values) == position:
                values.append("now")
            words = [v.strip().lower() if isinstance(v, str) else v for v in values]
            if {"localtime", "utc"} & set(words[position + 1 :]):
                raise ValueError("localtime and utc depend on the machine; the pack's clock is already local")
            if words[position] in ("now", "subsec", "subsecond"):
                values[position : position + 1] = [stamp] if words[position] == "now" else [stamp, words[position]]
            marks = ", ".join("?" * len(values))
            return self._original.execute(f"SELECT {name}({marks})", values).fetchone()[0]

        return call


def build_database(schema: Path, seed: Path, now: dt.datetime) -> CallDatabase:
    """The seeded database of a pack, in memory; the caller closes it.

    Raises:
        ConfigError: a statement of either file fails (names file, line and SQLite's words), or reads the real clock.
    """
    database = CallDatabase(now)
    try:
        for path in (schema, seed):
            _run_script(database, path)
    except ConfigError:
        database.close()
        raise
    return database


def _run_script(database: CallDatabase, path: Path) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(path, "", f"cannot be read: {error}") from error
    uncommented = _SQL_COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    if word := _REAL_CLOCK_WORDS.search(uncommented):
        line = uncommented.count("\n", 0, word.start()) + 1
        raise ConfigError(path, word[0], "reads the real clock; write datetime('now'), which is frozen", line=line)
    for line, statement in _statements(text):
        try:
            database.connection.execute(statement)
        except sqlite3.Error as error:
            raise ConfigError(path, "", f"SQLite says: {error}", line=line) from error
    if database.connection.in_transaction:
        raise ConfigError(path, "", "a transaction is begun and not committed")


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Statements with the 1-based line on which each begins; comments before one belong to it."""
    begin, end = 0, 0
    while end < len(text):
        end = text.find(";", end) + 1 or len(text)
        statement = text[begin:end]
        if sqlite3.complete_statement(statement) or (end == len(text) and statement.strip()):
            space = len(statement) - len(statement.lstrip())
            yield text.count("\n", 0, begin + space) + 1, statement
            begin = end


@contextmanager
def _unavailable() -> Iterator[None]:
    """Map what SQLite says about a lock or the disk (sqlite.org/rescode.html)."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _UNAVAILABLE:
            raise
        raise DatabaseUnavailableError(f"the call's database cannot be used: {error}") from error


def _constant(value: str) -> Callable[[], str]:
    return lambda: value


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _plain(value: Any) -> int | float | str | None:
    """A value of SQLite's as JSON can hold it; a blob as hexadecimal text."""
    return value.hex() if isinstance(value, bytes) else value
