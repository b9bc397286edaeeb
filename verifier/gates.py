"""The three gates (DESIGN §6), each a pure function of what was expected and what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from verifier.gold import ArgType, ExpectedCall
from verifier.matching import match
from verifier.normalise import same
from verifier.rows import diff_table
from verifier.trace import Handoff, Row, State, ToolCall
from verifier.verdict import ArgDiff, CallFinding, PathGate, RowFinding, StateGate, ToolsGate

ArgTypes = Mapping[str, Mapping[str, ArgType]]
_Why = Literal["not_called", "arguments", "not_run", "refused", "not_refused"]


def tools_gate(expected: Sequence[ExpectedCall], actual: Sequence[ToolCall], arg_types: ArgTypes) -> ToolsGate:
    """Every expected call must be matched by a distinct actual call.

    A match is a call of the same tool that really ran (`error` is None), whose answer was as gold expects (`ok`), and
    in which every expected argument is equal after normalisation. Other arguments and other calls are free. The
    matching is a maximum one. Findings: expected calls in gold's order, then the other calls in the order they ran.
    """
    fits = [
        [j for j, call in enumerate(actual) if _obstacle(want, call, arg_types.get(want.tool, {})) is None]
        for want in expected
    ]
    matched = match(fits)
    free = [j for j in range(len(actual)) if j not in set(matched)]
    findings = [
        _hit(i, j, want, actual[j], arg_types.get(want.tool, {}))
        if j is not None
        else _missing(i, want, actual, free, arg_types.get(want.tool, {}))
        for i, (want, j) in enumerate(zip(expected, matched, strict=True))
    ]
    findings += [
        CallFinding(kind="extra", tool=actual[j].name, actual_index=j, args=_arg_diffs({}, actual[j].args, {}))
        for j in free
    ]
    return ToolsGate(passed=None not in matched, findings=tuple(findings))


def path_gate(expected: Sequence[str], handoffs: Sequence[Handoff]) -> PathGate:
    """The roles of the successful transfers, in their order, must be the expected ones and no others."""
    actual = tuple(handoff.to_role for handoff in handoffs)
    return PathGate(passed=actual == tuple(expected), expected=tuple(expected), actual=actual)


def state_gate(expected: State, actual: State, ignored_columns: Mapping[str, str]) -> StateGate:
    """Both databases must hold the same rows, as order-free multisets, over all tables of either.

    Args:
        ignored_columns: `table.column` or `*.column` to the reason why it is not compared.
    """
    findings: list[RowFinding] = []
    for table in sorted(expected.keys() | actual.keys()):
        ignored = ignored_in(table, ignored_columns)
        findings += diff_table(table, expected.get(table, []), actual.get(table, []), ignored)
    return StateGate(passed=not findings, findings=tuple(findings))


def ignored_in(table: str, ignored_columns: Mapping[str, str]) -> frozenset[str]:
    """The columns of one table that are not compared."""
    entries = [entry.rpartition(".") for entry in ignored_columns]
    return frozenset(column for of_table, _, column in entries if of_table in (table, "*"))


def _obstacle(want: ExpectedCall, call: ToolCall, types: Mapping[str, ArgType]) -> _Why | None:
    """What keeps the call from matching, or None. A call of another tool is no candidate at all."""
    if call.name != want.tool:
        return "not_called"
    if call.error is not None:
        return "not_run"
    if _differing(want, call, types):
        return "arguments"
    if want.ok is not None and call.ok != want.ok:
        return "refused" if want.ok else "not_refused"
    return None


def _differing(want: ExpectedCall, call: ToolCall, types: Mapping[str, ArgType]) -> int:
    """How many expected arguments are not there or are not equal."""
    return sum(
        name not in call.args or not same(value, call.args[name], types.get(name)) for name, value in want.args.items()
    )


def _hit(i: int, j: int, want: ExpectedCall, call: ToolCall, types: Mapping[str, ArgType]) -> CallFinding:
    diffs = _arg_diffs(want.args, call.args, types)
    return CallFinding(kind="hit", tool=want.tool, expected_index=i, actual_index=j, args=diffs)


def _missing(
    i: int, want: ExpectedCall, actual: Sequence[ToolCall], free: Sequence[int], types: Mapping[str, ArgType]
) -> CallFinding:
    """An expected call that nothing matched, beside the free call of its tool that comes nearest."""
    nearest = min(
        (j for j in free if actual[j].name == want.tool),
        key=lambda j: (_differing(want, actual[j], types), actual[j].error is not None, j),
        default=None,
    )
    why = "not_called" if nearest is None else _obstacle(want, actual[nearest], types)
    diffs = _arg_diffs(want.args, {} if nearest is None else actual[nearest].args, types)
    return CallFinding(kind="missing", tool=want.tool, expected_index=i, nearest_index=nearest, why=why, args=diffs)


def _arg_diffs(want: Row, have: Row, types: Mapping[str, ArgType]) -> tuple[ArgDiff, ...]:
    return tuple(_arg_diff(name, want, have, types.get(name)) for name in sorted(want.keys() | have.keys()))


def _arg_diff(name: str, want: dict[str, Any], have: dict[str, Any], arg_type: ArgType | None) -> ArgDiff:
    if name not in have:
        return ArgDiff(name=name, kind="missing", expected=want[name])
    if name not in want:
        return ArgDiff(name=name, kind="extra", actual=have[name])
    kind: Literal["equal", "differs"] = "equal" if same(want[name], have[name], arg_type) else "differs"
    return ArgDiff(name=name, kind=kind, expected=want[name], actual=have[name])
