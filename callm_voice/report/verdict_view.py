"""The three gates of one call, expected against actual."""

from __future__ import annotations

from difflib import SequenceMatcher

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from callm_voice.core.record import CallRecord
from callm_voice.report.site.gates import failed_gates, gates_view
from callm_voice.report.text import arguments, clip, plain, styled, value
from verifier.gold import GoldFile
from verifier.trace import Row, ToolCall
from verifier.verdict import ArgDiff, CallFinding, PathGate, RowFinding, StateGate, ToolsGate

_CALL_MARKS = {"hit": ("=", "green"), "missing": ("-", "bold red"), "extra": ("+", "yellow")}
_ROW_MARKS = {"missing": ("-", "bold red"), "extra": ("+", "yellow")}
_WHY = {
    "not_called": "never called",
    "arguments": "other arguments",
    "not_run": "could not be run",
    "refused": "refused",
    "not_refused": "not refused",
}
MAX_OUTPUT = 240
"""Characters of a tool's answer; the call's record has all of it."""
_ARG_MARKS = {"equal": ("=", "dim"), "differs": ("!", "bold red"), "missing": ("-", "bold red"), "extra": ("+", "dim")}


def verdict_view(record: CallRecord, gold: GoldFile | None = None, *, outputs: bool = False) -> Group:
    """The verdict and its gates. An invalid call has none and says why, and so has one without a task.

    Args:
        gold: tells what the task changes in the database; without it only what differs is shown.
        outputs: show what each tool answered, too.
    """
    verdict = record.verdict
    if record.outcome.status == "unscored":
        return Group(Text.assemble(("NO VERDICT", "bold"), ": a call without a task, of which nothing was expected"))
    if verdict is None:
        kind = record.outcome.invalid_kind
        why = f" ({kind}), {record.outcome.detail or record.outcome.end_reason}" if kind else ""
        return Group(Text.assemble(("NO VERDICT", "bold yellow"), styled(f": an invalid call{why}")))
    failed = failed_gates(verdict)
    reason = "all three gates passed" if not failed else f"failed: {', '.join(failed)}"
    return Group(
        Text.assemble(_word(verdict.passed), f"  {reason}  (verifier {plain(verdict.verifier_version)})"),
        Text(),
        _tools_gate(verdict.tools, record.trace.calls, outputs=outputs),
        Text(),
        _path_gate(verdict.path),
        Text(),
        _state_gate(verdict.state),
        *_expected_state(record, gold),
    )


def _word(passed: bool) -> tuple[str, str]:
    return ("PASS", "bold green") if passed else ("FAIL", "bold red")


def _head(title: str, passed: bool, counts: str) -> Text:
    return Text.assemble((title, "bold"), "  ", _word(passed), f"  {counts}")


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", no_wrap=True)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _tools_gate(gate: ToolsGate, calls: tuple[ToolCall, ...], *, outputs: bool) -> Group:
    kinds = [finding.kind for finding in gate.findings]
    counts = f"{kinds.count('hit')} hit, {kinds.count('missing')} missing, {kinds.count('extra')} extra"
    table = _table("tool / parameter", "expected", "actual")
    for finding in gate.findings:
        _add_call(table, finding, calls, outputs=outputs)
    body: list[RenderableType] = [table] if gate.findings else [Text("  no calls expected, none made")]
    return Group(_head("1 Tools", gate.passed, counts), *body)


def _add_call(table: Table, finding: CallFinding, calls: tuple[ToolCall, ...], *, outputs: bool) -> None:
    """One row for the call, one for each parameter. An equal parameter is shown once."""
    sign, style = _CALL_MARKS[finding.kind]
    index = finding.actual_index if finding.actual_index is not None else finding.nearest_index
    actual = calls[index] if index is not None and index < len(calls) else None
    what: str = finding.kind
    if finding.kind == "missing":
        why = f", {_WHY[finding.why]}" if finding.why else ""
        what += f"{why}; nearest call:" if actual else why
    expected = "" if finding.kind == "extra" else "called"
    table.add_row(Text(sign, style=style), styled(finding.tool, "bold"), expected, Text(what, style=style))
    for diff in finding.args:
        table.add_row(*_arg_row(diff))
    if finding.kind == "extra" and not finding.args and actual is not None and actual.args:
        table.add_row("", "", "", styled(arguments(actual.args)))
    if actual is not None and not actual.ok:
        table.add_row(
            "",
            "",
            "",
            styled(f"not ok: {actual.error or actual.output.get('error_code') or value(actual.output)}", "yellow"),
        )
    if outputs and actual is not None and actual.output and finding.kind != "missing":
        # A nearest call is shown again, as an extra one.
        answer = clip(arguments(actual.output), MAX_OUTPUT)
        table.add_row("", Text("  answered", style="dim"), "", styled(answer, "dim"))


def _arg_row(diff: ArgDiff) -> tuple[Text, Text, Text, Text]:
    sign, style = _ARG_MARKS[diff.kind]
    expected = "" if diff.kind == "extra" else value(diff.expected)
    actual = "" if diff.kind == "missing" else value(diff.actual)
    return (
        Text(sign, style=style),
        Text(f"  {plain(diff.name)}", style=style),
        styled(expected, style),
        styled(actual, style),
    )


def _path_gate(gate: PathGate) -> Group:
    head = _head("2 Handoff path", gate.passed, "as expected" if gate.passed else "differs")
    pieces = SequenceMatcher(None, gate.expected, gate.actual, autojunk=False).get_opcodes()
    equal = [(a, b, c, d) for tag, a, b, c, d in pieces if tag == "equal"]
    hit_expected = {n for a, b, _, _ in equal for n in range(a, b)}
    hit_actual = {n for _, _, c, d in equal for n in range(c, d)}
    lines = [
        Text.assemble("  expected  ", _path(gate.expected, hit_expected, "-", "bold red")),
        Text.assemble("  actual    ", _path(gate.actual, hit_actual, "+", "yellow")),
    ]
    if not gate.passed:
        lines.append(Text("  - expected and not taken   + taken and not expected", style="dim"))
    return Group(head, *lines)


def _path(roles: tuple[str, ...], hit: set[int], sign: str, style: str) -> Text:
    """The transfers in order; one that the other path does not have in its place carries a sign."""
    steps = [styled(role) if n in hit else styled(f"{sign}{role}", style) for n, role in enumerate(roles)]
    return Text(" > ").join(steps) if steps else Text("none")


def _state_gate(gate: StateGate) -> Group:
    kinds = [finding.kind for finding in gate.findings]
    counts = "as expected" if gate.passed else f"{kinds.count('missing')} rows missing, {kinds.count('extra')} extra"
    head = _head("3 Final state", gate.passed, counts)
    if not gate.findings:
        return Group(head)
    table = _table("table", "row")
    for finding in gate.findings:
        table.add_row(*_row_cells(finding))
    return Group(
        head, table, Text("  ! marks a column whose value differs from the row with the same key", style="dim")
    )


def _row_cells(finding: RowFinding) -> tuple[Text, Text, Text]:
    sign, style = _ROW_MARKS[finding.kind]
    kind = "expected" if finding.kind == "missing" else "there"
    return (
        Text(sign, style=style),
        styled(f"{finding.table}: {kind}", style),
        _row_text(finding.row, finding.differs_from),
    )


def _row_text(row: Row, other: Row | None) -> Text:
    """The columns; those that differ from `other` are marked by `!`."""
    parts = []
    for column, item in row.items():
        differs = other is not None and (column not in other or other[column] != item)
        parts.append(styled(f"{'!' if differs else ''}{column}={value(item)}", "bold red" if differs else ""))
    return Text(", ").join(parts)


def _expected_state(record: CallRecord, gold: GoldFile | None) -> list[RenderableType]:
    """What the task changes against the seed."""
    view = gates_view(record, gold)
    if view is None or not view.expected_state:
        return []
    table = _table("table", "row")
    for row in view.expected_state:
        cells = [f"{'!' if cell.differs else ''}{plain(cell.column)}={plain(cell.value)}" for cell in row.cells]
        table.add_row(row.sign, styled(f"{row.table}: {row.what}"), Text(", ".join(cells)))
    return [Text("\nWhat the task changes in the database"), table]
