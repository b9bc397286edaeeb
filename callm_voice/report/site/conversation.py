"""The conversation of one call: said, heard and played side by side, with tools and handoffs where they happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from callm_voice.core.record import CallRecord, TranscriptTurn
from callm_voice.report.site.collect import Json, LoadedCall
from callm_voice.report.site.sound import Peaks
from callm_voice.report.words import align_words

PACKET_MS = 20.0
LINE_EVENTS_APART_MS = 500.0
"""Late ticks closer than this are drawn as one."""


@dataclass(frozen=True)
class Piece:
    """A run of words; `differs` where the other side does not have it so."""

    text: str
    differs: bool = False


@dataclass(frozen=True)
class Row:
    """One row of the transcript."""

    id: str
    kind: str
    """turn, tool or handoff."""
    t_ms: float
    end_ms: float
    party: str = ""
    role: str = ""
    said: tuple[Piece, ...] = ()
    heard: tuple[Piece, ...] | None = None
    """None: nobody transcribed it."""
    heard_note: str = ""
    played: tuple[Piece, ...] | None = None
    cut: bool = False
    misheard: bool = False
    tool: Any = None
    handoff: Any = None


def rows_of(record: CallRecord) -> list[Row]:
    """The transcript in the order of time."""
    rows = [_turn(f"turn-{n}", turn) for n, turn in enumerate(record.transcript, start=1)]
    rows += [
        Row(f"tool-{n}", "tool", call.t_ms, call.t_ms + call.duration_ms, role=call.role, tool=call)
        for n, call in enumerate(record.trace.calls, start=1)
        if not (call.is_transfer and call.ok)
    ]
    rows += [
        Row(f"handoff-{n}", "handoff", handoff.t_ms, handoff.t_ms, handoff=handoff)
        for n, handoff in enumerate(record.trace.handoffs, start=1)
    ]
    return sorted(rows, key=lambda row: row.t_ms)


def _turn(row_id: str, turn: TranscriptTurn) -> Row:
    said, heard, note = _said_and_heard(turn)
    played = None
    if turn.party == "agent" and turn.played is not None:
        words = align_words(turn.said.split(), turn.played.split())
        played = tuple(Piece(piece.heard, not piece.same) for piece in words if piece.heard)
    return Row(
        row_id, "turn", turn.start_ms, turn.end_ms, turn.party, turn.role or "", said, heard, note, played, turn.cut,
        misheard=any(piece.differs for piece in (*said, *(heard or ()))),
    )  # fmt: skip


def _said_and_heard(turn: TranscriptTurn) -> tuple[tuple[Piece, ...], tuple[Piece, ...] | None, str]:
    """Both sides in pieces, and a note where nothing was heard."""
    if turn.heard is None:
        return (Piece(turn.said),), None, "never transcribed" if turn.party == "caller" else ""
    if not turn.heard.strip():
        return (Piece(turn.said, differs=True),), (), "nothing was heard"
    pieces = align_words(turn.said.split(), turn.heard.split())
    said = tuple(Piece(piece.said, not piece.same) for piece in pieces if piece.said)
    heard = tuple(Piece(piece.heard, not piece.same) for piece in pieces if piece.heard)
    return said, heard, ""


def player_data(call: LoadedCall, rows: list[Row], peaks: Peaks | None, files: list[str]) -> dict[str, Any]:
    """What the page's script needs to draw, to play and to follow."""
    duration = max([call.record.duration_ms, *(row.end_ms for row in rows)], default=0.0)
    return {
        "duration_ms": peaks.duration_ms if peaks else duration,
        "peaks": peaks.as_json() if peaks else None,
        "files": [call.place.href + name for name in files],
        "rows": [[round(row.t_ms), round(row.end_ms), row.id] for row in rows if row.kind == "turn"],
        "marks": marks_of(call, rows),
    }


def marks_of(call: LoadedCall, rows: list[Row]) -> list[dict[str, Any]]:
    """What stands on the timeline: tools, handoffs, barge-ins and the events of the line."""
    marks: list[dict[str, Any]] = []
    for row in rows:
        if row.kind == "tool":
            mark = "" if row.tool.ok else ", not ok"
            marks.append({"t": row.t_ms, "kind": "tool", "label": f"{row.tool.name}{mark}", "row": row.id})
        elif row.kind == "handoff":
            label = f"{row.handoff.from_role} to {row.handoff.to_role}"
            marks.append({"t": row.t_ms, "kind": "handoff", "label": label, "row": row.id})
    latency = call.record.latency
    for barge_in in latency.barge_ins if latency else ():
        at = barge_in.onset_ms if barge_in.onset_ms is not None else barge_in.detected_ms
        marks.append({"t": at, "kind": "barge-in", "label": f"barge-in into turn {barge_in.turn_id}"})
    return [*marks, *_line_marks(call.events)]


def _line_marks(events: tuple[Json, ...]) -> list[dict[str, Any]]:
    """Losses one by one; late ticks joined, because there can be hundreds."""
    marks: list[dict[str, Any]] = []
    for event in events:
        kind, t_ms = event.get("type"), float(event["t_ms"])
        if kind == "line_loss":
            marks.append(_loss(event, t_ms))
        elif kind == "line_lag":
            last = marks[-1] if marks and marks[-1]["kind"] == "late" else None
            if last is not None and t_ms - (last["t"] + last["len"]) < LINE_EVENTS_APART_MS:
                last["len"], last["n"] = t_ms - last["t"], last["n"] + 1
                last["label"] = f"{last['n']} late ticks of the line"
            else:
                marks.append({"t": t_ms, "len": 20.0, "n": 1, "kind": "late", "label": "a late tick of the line"})
    return marks


def _loss(event: Json, t_ms: float) -> dict[str, Any]:
    """Packets in a row that were not there, on the channel of the party whose they were."""
    packets, first = event.get("packets"), event.get("first_tick")
    count = packets if isinstance(packets, int) else 1
    start_ms = PACKET_MS * first if isinstance(first, int) else t_ms
    direction = str(event.get("direction", ""))
    label = f"{count} packet{'' if count == 1 else 's'} not there"
    label += f" ({direction.replace('_', ' ')})" if direction else ""
    label += f", heard instead: {event['concealed_by']}" if event.get("concealed_by") else ""
    channel = {"to_agent": 0, "to_caller": 1}.get(direction)
    return {"t": start_ms, "len": PACKET_MS * count, "kind": "loss", "label": label, "channel": channel}
