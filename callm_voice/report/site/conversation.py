"""The conversation of one call: said, heard and played side by side, with tools and handoffs where they happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from callm_voice.core.record import CallRecord, TranscriptTurn
from callm_voice.report.keys import KeyRow, key_rows
from callm_voice.report.site.collect import Json
from callm_voice.report.words import align_words


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
    """turn, tool, handoff or keypad."""
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
    keys: KeyRow | None = None


def rows_of(record: CallRecord, events: tuple[Json, ...] = ()) -> list[Row]:
    """The transcript in the order of time.

    Args:
        events: as `events.jsonl` has them; without them pressed keys have no rows of their own.
    """
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
    rows += [
        Row(f"keypad-{n}", "keypad", keys.t_ms, keys.t_ms, keys=keys)
        for n, keys in enumerate(key_rows(events), start=1)
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
    if turn.party == "caller" and not turn.said:  # a person: nobody wrote down the words
        words = turn.heard or ""
        return (), (Piece(words),) if words.strip() else (), "" if words.strip() else "nothing was heard"
    if turn.heard is None:
        return (Piece(turn.said),), None, "never transcribed" if turn.party == "caller" else ""
    if not turn.heard.strip():
        return (Piece(turn.said, differs=True),), (), "nothing was heard"
    pieces = align_words(turn.said.split(), turn.heard.split())
    said = tuple(Piece(piece.said, not piece.same) for piece in pieces if piece.said)
    heard = tuple(Piece(piece.heard, not piece.same) for piece in pieces if piece.heard)
    return said, heard, ""
