"""What stands on a call's timeline: tools, handoffs, pressed keys, barge-ins and the events of the line."""

from __future__ import annotations

from typing import Any

from callm_voice.report.site.collect import Json, LoadedCall
from callm_voice.report.site.conversation import Row
from callm_voice.report.site.sound import Peaks

PACKET_MS = 20.0
LINE_EVENTS_APART_MS = 500.0
"""Late ticks closer than this are drawn as one."""


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
    """The marks: `t` and, where it lasts, `len` in milliseconds on the line; `kind`; `label`.

    Args:
        rows: of the call's transcript; tools, handoffs and keys are taken from them.
    """
    marks = [mark for row in rows if (mark := _of_row(row)) is not None]
    latency = call.record.latency
    for barge_in in latency.barge_ins if latency else ():
        at = barge_in.onset_ms if barge_in.onset_ms is not None else barge_in.detected_ms
        marks.append({"t": at, "kind": "barge-in", "label": f"barge-in into turn {barge_in.turn_id}"})
    return [*marks, *_line_marks(call.events)]


def _of_row(row: Row) -> dict[str, Any] | None:
    if row.kind == "tool":
        label = f"{row.tool.name}{'' if row.tool.ok else ', not ok'}"
    elif row.kind == "handoff":
        label = f"{row.handoff.from_role} to {row.handoff.to_role}"
    elif row.kind == "keypad" and row.keys is not None:
        label = f"keypad: {row.keys.text}"
    else:
        return None
    return {"t": row.t_ms, "kind": row.kind, "label": label, "row": row.id}


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
