"""Every single change of a finished gold call. Each of them must fail; one that passes shows gold that asks too little.

Changes are made to the calls that gold expects, to the handoffs and to the rows that gold changes, in the trace and
state that the real tools left. The verifier judges each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from callm_voice.bench.packcheck.others import other_arguments, other_cell
from callm_voice.bench.packcheck.play import Played
from callm_voice.bench.packcheck.tasks import Loaded
from verifier.gates import ignored_in
from verifier.gold import GoldFile, TableChange
from verifier.rows import picks, row_key
from verifier.trace import Handoff, Row, State, ToolCall, Trace
from verifier.verdict import Verdict
from verifier.verify import verify


@dataclass(frozen=True)
class Mutation:
    """One change."""

    key: str
    """Of gold, the part that the change contradicts."""
    what: str
    trace: Trace
    state: State


def survivors(loaded: Loaded, played: Played, verdict: Verdict) -> tuple[int, list[Mutation]]:
    """How many changes there are, and those that pass all the same.

    Args:
        verdict: of the played gold; it must have passed.
    """
    file, state = _small(loaded, played.state)
    found = [(m, verify(m.trace, m.state, file).passed) for m in mutations(loaded, played.trace, state, verdict)]
    return len(found), [mutation for mutation, passed in found if passed]


def _small(loaded: Loaded, state: State) -> tuple[GoldFile, State]:
    """Gold and state with only the rows that gold names, and one bystander a table.

    The gate compares multisets table by table, so rows that are in both cancel out; here they do so once and not for
    every change anew.
    """
    seed: State = {}
    small: State = {}
    for table, rows in loaded.seed.items():
        change = loaded.file.gold.state.get(table, TableChange())
        wheres = [*(changed.where for changed in change.changed), *change.cleared]
        named = [row for row in rows if any(picks(where, row) for where in wheres)]
        others = [row for row in rows if not any(picks(where, row) for where in wheres)]
        seed[table] = [*named, *others[:1]]
        ignored = ignored_in(table, loaded.file.ignored_columns)
        left_out = Counter(row_key(row, ignored) for row in others[1:])
        small[table] = []
        for row in state[table]:
            key = row_key(row, ignored)
            left_out[key] -= 1
            if left_out[key] < 0:
                small[table].append(row)
    return loaded.file.model_copy(update={"seed": seed}), small


def mutations(loaded: Loaded, whole: Trace, state: State, verdict: Verdict) -> Iterator[Mutation]:
    """All single changes of the gold calls alone, without the dialogue's other calls.

    Args:
        whole: the dialogue's trace.
        state: at hang-up, at least the rows that gold names.
    """
    hits = [f for f in verdict.tools.findings if f.kind == "hit" and f.actual_index is not None]
    order = sorted(hits, key=lambda finding: finding.actual_index or 0)
    calls = tuple(whole.calls[f.actual_index or 0] for f in order)
    expected = [f.expected_index or 0 for f in order]
    trace = whole.model_copy(update={"calls": calls})
    for key, what, changed in (*_calls(loaded, trace, expected), *_path(loaded, trace)):
        yield Mutation(key, what, changed, state)
    for key, what, table, rows in _rows(loaded, state):
        yield Mutation(key, what, trace, {**state, table: rows})


def _calls(loaded: Loaded, trace: Trace, expected: Sequence[int]) -> Iterator[tuple[str, str, Trace]]:
    """Drop each gold call; leave out or change each argument that gold names."""
    for at, index in enumerate(expected):
        call, want = trace.calls[at], loaded.file.gold.calls[index]
        key = f"gold.calls.{index}"
        without = (*trace.calls[:at], *trace.calls[at + 1 :])
        yield key, f"without the call of {call.name}", trace.model_copy(update={"calls": without})
        for name in want.args:
            args = {k: v for k, v in call.args.items() if k != name}
            yield f"{key}.args.{name}", f"{call.name} without {name}", _with_args(trace, at, args)
            arg_type = loaded.file.arg_types.get(call.name, {}).get(name)
            for other in other_arguments(want.args[name], arg_type, _choices(loaded, call.name, name)):
                what = f"{call.name} with {name}={other!r} in place of {want.args[name]!r}"
                yield f"{key}.args.{name}", what, _with_args(trace, at, {**call.args, name: other})


def _with_args(trace: Trace, at: int, args: dict[str, Any]) -> Trace:
    changed: ToolCall = trace.calls[at].model_copy(update={"args": args})
    return trace.model_copy(update={"calls": (*trace.calls[:at], changed, *trace.calls[at + 1 :])})


def _choices(loaded: Loaded, tool: str, name: str) -> list[str]:
    found = loaded.pack.tools.get(tool)
    schema = next((a.kind.schema for a in found.arguments if a.name == name), {}) if found else {}
    return [str(value) for value in schema.get("enum", ())]


def _path(loaded: Loaded, trace: Trace) -> Iterator[tuple[str, str, Trace]]:
    """Skip each handoff, swap each with the next, add one of each role at each place."""
    handoffs, path = trace.handoffs, [h.to_role for h in trace.handoffs]

    def went(names: Sequence[str]) -> Trace:
        places = [trace.start_role, *names]
        changed = tuple(Handoff(from_role=a, to_role=b) for a, b in zip(places, names, strict=False))
        return trace.model_copy(update={"handoffs": changed})

    for i in range(len(handoffs)):
        yield f"gold.path.{i}", f"without the handoff to {path[i]}", went(path[:i] + path[i + 1 :])
        if i + 1 < len(path) and path[i] != path[i + 1]:
            swapped = [*path[:i], path[i + 1], path[i], *path[i + 2 :]]
            yield f"gold.path.{i}", f"{path[i + 1]} before {path[i]}", went(swapped)
    for i in range(len(path) + 1):
        for role in loaded.pack.roles:
            yield "gold.path", f"a further handoff to {role} at {i}", went([*path[:i], role, *path[i:]])


def _rows(loaded: Loaded, state: State) -> Iterator[tuple[str, str, str, list[Row]]]:
    """Add, drop and alter each changed row; one more row in every other table."""
    seed, gold = loaded.seed, loaded.file.gold
    for table, change in gold.state.items():
        ignored = ignored_in(table, loaded.file.ignored_columns)
        key = f"gold.state.{table}"
        for n, row in enumerate(change.written):
            yield from _row(f"{key}.written.{n}", table, row, None, seed, state, ignored)
        for n, changed in enumerate(change.changed):
            before = next(row for row in seed[table] if picks(changed.where, row))
            after = {**before, **changed.set}
            yield from _row(f"{key}.changed.{n}", table, after, before, seed, state, ignored)
        for n, where in enumerate(change.cleared):
            gone = next(row for row in seed[table] if picks(where, row))
            yield f"{key}.cleared.{n}", f"{table}: the row is still there", table, [*state[table], gone]
    for table in seed:
        if table not in gold.state and state[table]:
            yield "gold.state", f"{table}: one row twice", table, [*state[table], state[table][0]]
            yield "gold.state", f"{table}: one row gone", table, state[table][1:]


def _row(
    key: str, table: str, row: Row, before: Row | None, seed: State, state: State, ignored: frozenset[str]
) -> Iterator[tuple[str, str, str, list[Row]]]:
    """Changes of one row that gold says is there at hang-up.

    Args:
        before: what it was in the seed; None: it is new.
    """
    rows = state[table]
    at = next(i for i, found in enumerate(rows) if row_key(found, ignored) == row_key(row, ignored))
    found, rest = rows[at], [*rows[:at], *rows[at + 1 :]]
    yield key, f"{table}: the row is there twice", table, [*rows, found]
    yield key, f"{table}: the row is not there", table, rest
    if before is not None:
        yield key, f"{table}: the row is as it was", table, [*rest, before]
    for column in found:
        if column not in ignored:
            other = other_cell(found[column], column, seed[table])
            yield (
                key,
                f"{table}: {column} is {other!r}, not {found[column]!r}",
                table,
                [*rest, {**found, column: other}],
            )
