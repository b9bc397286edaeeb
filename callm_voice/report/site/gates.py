"""The three gates of one call as the pages show them: expected beside actual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from callm_voice.core.record import CallRecord
from callm_voice.report.site.words import arguments, clipped
from verifier.gold import GoldFile
from verifier.trace import Row, ToolCall
from verifier.verdict import ArgDiff, CallFinding, RowFinding, Verdict

_SIGNS = {"equal": " ", "differs": "!", "missing": "-", "extra": "+"}
_WHY = {
    "not_called": "not called",
    "arguments": "called with other arguments",
    "not_run": "called, but it could not be run",
    "refused": "called and refused",
    "not_refused": "called and not refused",
}


@dataclass(frozen=True)
class DiffLine:
    """One line of a diff. The sign says what colour says."""

    sign: str
    name: str
    expected: str | None
    actual: str | None


@dataclass(frozen=True)
class ToolRow:
    """One expected call, one actual call, or both."""

    kind: str
    """hit, missing or extra."""
    tool: str
    expected: str | None
    """Its arguments on one line; None: gold has no such call."""
    actual: str | None
    why: str
    arguments: tuple[DiffLine, ...]
    output: tuple[DiffLine, ...]
    t_ms: float | None
    note: str


@dataclass(frozen=True)
class Cell:
    """One column of a row."""

    column: str
    value: str
    differs: bool


@dataclass(frozen=True)
class StateRow:
    """A row of the database."""

    sign: str
    """`=` as expected, `-` expected and not there, `+` there and not expected."""
    what: str
    table: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class GatesView:
    """All three."""

    verdict: Verdict
    failed: tuple[str, ...]
    tools: tuple[ToolRow, ...]
    missing_tools: tuple[str, ...]
    extra_tools: tuple[str, ...]
    state: tuple[StateRow, ...]
    expected_state: tuple[StateRow, ...]
    """What gold changes against the seed."""


def gates_view(record: CallRecord, gold: GoldFile | None) -> GatesView | None:
    """The gates; None for an invalid call, which has no verdict."""
    verdict = record.verdict
    if verdict is None:
        return None
    failed = failed_gates(verdict)
    rows = tuple(_tool_row(finding, record.trace.calls, gold) for finding in verdict.tools.findings)
    return GatesView(
        verdict,
        failed,
        rows,
        tuple(dict.fromkeys(row.tool for row in rows if row.kind == "missing")),
        tuple(dict.fromkeys(row.tool for row in rows if row.kind == "extra")),
        tuple(_state_row(finding) for finding in verdict.state.findings),
        tuple(_expected_rows(gold)) if gold else (),
    )


def failed_gates(verdict: Verdict | None) -> tuple[str, ...]:
    """Names of the gates that did not pass."""
    if verdict is None:
        return ()
    gates = (("tools", verdict.tools.passed), ("path", verdict.path.passed), ("state", verdict.state.passed))
    return tuple(name for name, passed in gates if not passed)


def _tool_row(finding: CallFinding, calls: tuple[ToolCall, ...], gold: GoldFile | None) -> ToolRow:
    index = finding.actual_index if finding.actual_index is not None else finding.nearest_index
    actual = calls[index] if index is not None and index < len(calls) else None
    expected = None
    if finding.expected_index is not None:
        wanted = gold.gold.calls[finding.expected_index].args if gold else _expected_args(finding)
        expected = arguments(wanted)
    note = ""
    if actual is not None and not actual.ok:
        note = str(actual.error or actual.output.get("error_code") or "answered not ok")
    if actual is not None and actual.recovered:
        note = f"{note}; recovered from text" if note else "recovered from text"
    return ToolRow(
        finding.kind, finding.tool, expected, None if actual is None else arguments(actual.args),
        _WHY.get(finding.why or "", ""), _argument_lines(finding, actual), _output_lines(actual),
        None if actual is None else actual.t_ms, note,
    )  # fmt: skip


def _expected_args(finding: CallFinding) -> Row:
    return {diff.name: diff.expected for diff in finding.args if diff.kind != "extra"}


def _argument_lines(finding: CallFinding, actual: ToolCall | None) -> tuple[DiffLine, ...]:
    if not finding.args and actual is not None:
        return tuple(DiffLine("+", name, None, clipped(item)) for name, item in actual.args.items())
    return tuple(_argument_line(diff) for diff in finding.args)


def _argument_line(diff: ArgDiff) -> DiffLine:
    expected = None if diff.kind == "extra" else clipped(diff.expected)
    actual = None if diff.kind == "missing" else clipped(diff.actual)
    return DiffLine(_SIGNS[diff.kind], diff.name, expected, actual)


def _output_lines(actual: ToolCall | None) -> tuple[DiffLine, ...]:
    if actual is None:
        return ()
    return tuple(DiffLine("+", name, None, clipped(item)) for name, item in sorted(actual.output.items()))


def _state_row(finding: RowFinding) -> StateRow:
    missing = finding.kind == "missing"
    what = "expected, not there" if missing else "there, not expected"
    return StateRow("-" if missing else "+", what, finding.table, _cells(finding.row, finding.differs_from))


def _cells(row: Row, other: Mapping[str, object] | None) -> tuple[Cell, ...]:
    return tuple(
        Cell(column, clipped(item, 400), differs=other is not None and other.get(column) != item)
        for column, item in row.items()
    )


def _expected_rows(gold: GoldFile) -> list[StateRow]:
    rows = []
    for table, change in sorted(gold.gold.state.items()):
        rows += [StateRow("+", "written", table, _cells(row, None)) for row in change.written]
        for changed in change.changed:
            new = tuple(Cell(column, clipped(item, 400), differs=True) for column, item in changed.set.items())
            rows.append(StateRow("~", "changed", table, (*_cells(changed.where, None), *new)))
        rows += [StateRow("-", "cleared", table, _cells(row, None)) for row in change.cleared]
    return rows
