"""The conversation as it went: what was said, heard and played; tools, handoffs and events of the line between."""

from __future__ import annotations

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from callm_voice.core.record import CallRecord, TranscriptTurn
from callm_voice.report.marks_view import Mark, marks_between
from callm_voice.report.site.collect import Json
from callm_voice.report.text import arguments, mm_ss, styled
from callm_voice.report.words import compare_words, misheard_text
from verifier.trace import ToolCall

_Row = tuple[str, Text, Text]
LEGEND = "[-said and not heard-] {+heard and not said+}   said, heard and played are equal where only one is shown"


def transcript_view(record: CallRecord, events: tuple[Json, ...] = ()) -> Group:
    """Times, who, and what was said, heard and played. What is equal to `said` is shown once.

    Args:
        events: as `events.jsonl` has them; without them lost packets and pressed keys are not shown.
    """
    timed: list[tuple[float, list[_Row]]] = [(turn.start_ms, _turn_rows(turn)) for turn in record.transcript]
    timed += [(call.t_ms, [_tool_row(call)]) for call in record.trace.calls if not (call.is_transfer and call.ok)]
    timed += [
        (h.t_ms, [(mm_ss(h.t_ms), Text("handoff", style="magenta"), styled(f"{h.from_role} > {h.to_role}", "magenta"))])
        for h in record.trace.handoffs
    ]
    if not timed:
        return Group(Text("nobody spoke", style="yellow"))
    marks = marks_between(events, record.latency, sorted(t_ms for t_ms, _ in timed))
    timed += [(mark.t_ms, [_mark_row(mark)]) for mark in marks]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, max_width=18, overflow="ellipsis")
    table.add_column(overflow="fold")
    for _, rows in sorted(timed, key=lambda item: item[0]):
        for row in rows:
            table.add_row(*row)
    return Group(table, Padding(Text(LEGEND, style="dim"), (1, 0, 0, 0)))


def _turn_rows(turn: TranscriptTurn) -> list[_Row]:
    return _caller_rows(turn) if turn.party == "caller" else _agent_rows(turn)


def _caller_rows(turn: TranscriptTurn) -> list[_Row]:
    if not turn.said and turn.heard:  # a person: nobody wrote down the words
        heard = styled(turn.heard).append("  (as heard)", "dim")
        return [(mm_ss(turn.start_ms), Text("caller", style="bold cyan"), heard)]
    said = styled(turn.said)
    if turn.cut:
        said.append("  (cut)", style="yellow")
    rows: list[_Row] = [(mm_ss(turn.start_ms), Text("caller", style="bold cyan"), said)]
    if turn.heard is None:
        rows.append(_below("heard", Text("(never transcribed)", style="yellow")))
    elif not turn.heard.strip():
        rows.append(_below("heard", Text("(nothing)", style="yellow")))
    elif not all(piece.same for piece in compare_words(turn.said, turn.heard)):
        rows.append(_below("heard", misheard_text(turn.said, turn.heard)))
    return rows


def _agent_rows(turn: TranscriptTurn) -> list[_Row]:
    who = styled(f"agent {turn.role}" if turn.role else "agent", "bold green")
    rows: list[_Row] = [(mm_ss(turn.start_ms), who, styled(turn.said))]
    if turn.played is not None and (turn.cut or turn.played.split() != turn.said.split()):
        played = styled(turn.played or "(nothing)")
        if turn.cut:
            played.append("  (cut by the caller)", style="yellow")
        rows.append(_below("played", played))
    if turn.heard is not None and not all(piece.same for piece in compare_words(turn.said, turn.heard)):
        rows.append(_below("heard", misheard_text(turn.said, turn.heard)))
    return rows


def _below(label: str, text: Text) -> _Row:
    return "", Text(label, style="dim"), text


def _mark_row(mark: Mark) -> _Row:
    style = "yellow" if mark.bad else ""
    return mm_ss(mark.t_ms), Text(mark.kind, style=style or "blue"), styled(mark.text, style)


def _tool_row(call: ToolCall) -> _Row:
    text = styled(f"{call.name}({arguments(call.args)}) ->")
    result = "ok" if call.ok else f"not ok: {call.error or call.output.get('error_code') or 'no reason given'}"
    text = Text(" ").join((text, styled(result, "" if call.ok else "yellow")))
    if call.recovered:
        text.append(" (recovered from text)", style="yellow")
    return mm_ss(call.t_ms), Text("tool", style="blue"), text
