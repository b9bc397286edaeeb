"""One call against its gold. Pure functions: the same record and gold give the same verdict on every machine."""

from __future__ import annotations

import json
from collections.abc import Mapping

from verifier import VERIFIER_VERSION
from verifier.gates import path_gate, state_gate, tools_gate
from verifier.gold import GoldError, GoldFile, TableChange
from verifier.rows import picks, row_key
from verifier.trace import Row, State, Trace
from verifier.verdict import Verdict


def verify(trace: Trace, state: State, gold: GoldFile) -> Verdict:
    """The verdict of one finished call.

    Args:
        state: the database at hang-up, all tables.

    Raises:
        GoldError: the gold state does not fit the seed. That is a fault of the task, never of the call.
    """
    tools = tools_gate(gold.gold.calls, trace.calls, gold.arg_types)
    path = path_gate(gold.gold.path, trace.handoffs)
    rows = state_gate(expected_state(gold.seed, gold.gold.state), state, gold.ignored_columns)
    passed = tools.passed and path.passed and rows.passed
    return Verdict(verifier_version=VERIFIER_VERSION, passed=passed, tools=tools, path=path, state=rows)


def dump_verdict(verdict: Verdict) -> str:
    """The verdict as stable text: keys sorted, ASCII, two spaces, one newline at the end."""
    return json.dumps(verdict.model_dump(mode="json"), sort_keys=True, indent=2) + "\n"


def expected_state(seed: State, changes: Mapping[str, TableChange]) -> State:
    """The database that gold expects at hang-up: the seed with rows written, changed and cleared.

    Raises:
        GoldError: a table or column that the seed does not have, or columns that do not pick exactly one seed row, or
            a seed row that two changes name, or a change that changes nothing. Of a table that is empty in the seed
            the columns are not known, so there any are allowed.
    """
    state = {table: [dict(row) for row in rows] for table, rows in seed.items()}
    for table in sorted(changes):
        if table not in seed:
            raise GoldError(f"state.{table}", f"there is no such table in the seed; known: {', '.join(sorted(seed))}")
        state[table] = _apply(table, seed[table], changes[table])
    return state


def _apply(table: str, seed_rows: list[Row], change: TableChange) -> list[Row]:
    rows: list[Row | None] = [dict(row) for row in seed_rows]
    named: dict[int, str] = {}

    def pick(where: Row, place: str) -> int:
        _check_columns(seed_rows, where, place)
        found = [i for i, row in enumerate(seed_rows) if picks(where, row)]
        if len(found) != 1:
            raise GoldError(place, f"{_words(where)} picks {len(found)} rows of the seed, not exactly one")
        if found[0] in named:
            raise GoldError(place, f"{_words(where)} picks the row that {named[found[0]]} already names")
        named[found[0]] = place
        return found[0]

    for n, changed in enumerate(change.changed):
        place = f"state.{table}.changed.{n}"
        index = pick(changed.where, f"{place}.where")
        _check_columns(seed_rows, changed.set, f"{place}.set")
        after = {**seed_rows[index], **changed.set}
        if row_key(after) == row_key(seed_rows[index]):
            raise GoldError(f"{place}.set", f"{_words(changed.set)} is what the seed row has already")
        rows[index] = after
    for n, where in enumerate(change.cleared):
        rows[pick(where, f"state.{table}.cleared.{n}")] = None
    for n, row in enumerate(change.written):
        _check_columns(seed_rows, row, f"state.{table}.written.{n}")
        rows.append(dict(row))
    return [row for row in rows if row is not None]


def _check_columns(seed_rows: list[Row], row: Row, place: str) -> None:
    known = {column for seed_row in seed_rows for column in seed_row}
    unknown = sorted(set(row) - known)
    if unknown and known:
        raise GoldError(place, f"no column {unknown[0]!r}; known: {', '.join(sorted(known))}")


def _words(where: Row) -> str:
    return ", ".join(f"{column} = {value!r}" for column, value in where.items()) or "an empty condition"
