"""Rows of a database: when two are the same, and how two tables differ. Knows nothing of gold.

Numbers are compared as numbers (1 is 1.0; SQLite stores true as 1), text exactly, NULL only with NULL. A column that
a row leaves out is NULL.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

from verifier.normalise import number_key
from verifier.trace import Row
from verifier.verdict import RowFinding

RowKey = frozenset[tuple[str, Hashable]]


def value_key(value: Any) -> Hashable:
    """A value of a column so that equal keys mean equal values."""
    if isinstance(value, int | float):  # a bool is an int: true is stored as 1
        return ("number", number_key(int(value) if isinstance(value, bool) else value))
    if isinstance(value, str):
        return ("text", value)
    return ("null",) if value is None else ("other", type(value).__name__, repr(value))


def row_key(row: Row, ignored: Collection[str] = ()) -> RowKey:
    """A row without its ignored columns and without its NULLs, so that equal keys mean equal rows."""
    return frozenset((c, value_key(v)) for c, v in row.items() if c not in ignored and v is not None)


def picks(where: Row, row: Row) -> bool:
    """Whether every column of `where` has its value in the row."""
    return all(value_key(value) == value_key(row.get(column)) for column, value in where.items())


def diff_table(
    table: str, expected: Iterable[Row], actual: Iterable[Row], ignored: Collection[str]
) -> list[RowFinding]:
    """The rows that are in only one of the two, as multisets: the order of rows never changes the answer.

    A missing row is followed by the extra row that took its place, if there is one; then the other extra rows.
    """
    wanted = [(row_key(row, ignored), row) for row in expected]
    found = [(row_key(row, ignored), row) for row in actual]
    missing, extra = _surplus(wanted, found, ignored), _surplus(found, wanted, ignored)
    findings: list[RowFinding] = []
    partner_of = _partners(missing, extra)
    for i, row in enumerate(missing):
        partner = None if i not in partner_of else extra[partner_of[i]]
        findings.append(RowFinding(kind="missing", table=table, row=row, differs_from=partner))
        if partner is not None:
            findings.append(RowFinding(kind="extra", table=table, row=partner, differs_from=row))
    paired = set(partner_of.values())
    findings += [RowFinding(kind="extra", table=table, row=row) for j, row in enumerate(extra) if j not in paired]
    return findings


def _surplus(
    these: Sequence[tuple[RowKey, Row]], those: Sequence[tuple[RowKey, Row]], ignored: Collection[str]
) -> list[Row]:
    """Rows of `these` that `those` does not have (so often), as they are shown, sorted by their text."""
    left: dict[RowKey, list[Row]] = defaultdict(list)
    for key, row in these:
        left[key].append(row)
    counts = Counter(key for key, _ in those)
    surplus: list[Row] = []
    for key, rows in left.items():
        if len(rows) > counts[key]:
            surplus += sorted((_shown(row, ignored) for row in rows), key=_row_text)[counts[key] :]
    return sorted(surplus, key=_row_text)


def _shown(row: Row, ignored: Collection[str]) -> Row:
    """A row as a finding shows it: without ignored columns, whole numbers as integers."""
    return {c: _plain(row[c]) for c in sorted(row) if c not in ignored}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value


def _row_text(row: Row) -> str:
    return json.dumps(row, sort_keys=True, default=repr)


def _partners(missing: list[Row], extra: list[Row]) -> dict[int, int]:
    """Index of a missing row → index of the extra row that took its place.

    That is the one that shares its `id`; without an `id` the closest one, if more than half of the columns are equal.
    Closest pairs first; ties go by the order of the rows.
    """
    new_keys = [_cells(row) for row in extra]
    pairs: list[tuple[int, int, int]] = []
    for i, row in enumerate(missing):
        old = _cells(row)
        for j, new in enumerate(new_keys):
            if "id" in old and "id" in new:
                likely = old["id"] == new["id"]
                differing = sum(old.get(c) != new.get(c) for c in old.keys() | new.keys()) if likely else 0
            else:
                columns = old.keys() | new.keys()
                differing = sum(old.get(c) != new.get(c) for c in columns)
                likely = differing * 2 < len(columns)
            if likely:
                pairs.append((differing, i, j))
    partner_of: dict[int, int] = {}
    used: set[int] = set()
    for _, i, j in sorted(pairs):
        if i not in partner_of and j not in used:
            partner_of[i] = j
            used.add(j)
    return partner_of


def _cells(row: Row) -> dict[str, Hashable]:
    return {column: value_key(value) for column, value in row.items() if value is not None}
