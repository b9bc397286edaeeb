"""What happened on the line between the words: lost packets, late ticks, keys, barge-ins. Rows for the transcript."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callm_voice.core.latency import LatencySummary
from callm_voice.report.keys import key_rows
from callm_voice.report.site.collect import Json

_DIRECTIONS = {"to_agent": "to the agent", "to_caller": "to the caller"}


@dataclass(frozen=True)
class Mark:
    """One event, or several of a kind that became one row."""

    t_ms: float
    kind: str
    """loss, late, keypad or barge-in."""
    text: str
    bad: bool = True
    """It may have spoiled what was heard."""


def marks_between(events: Sequence[Json], latency: LatencySummary | None, times_ms: Sequence[float]) -> list[Mark]:
    """The marks of a call. There can be hundreds of losses: those of one direction between two rows are one.

    Args:
        events: as `events.jsonl` has them.
        times_ms: of the other rows of the transcript, sorted; nothing is joined across them.
    """
    keys = [Mark(row.t_ms, "keypad", row.text, bad=row.lost or row.instead_of is not None) for row in key_rows(events)]
    marks = [*keys, *_losses(events, times_ms), *_late(events)]
    for barge_in in latency.barge_ins if latency else ():
        at = barge_in.onset_ms if barge_in.onset_ms is not None else barge_in.detected_ms
        silent = barge_in.onset_to_stop_ms
        heard = "" if silent is None else f", silent after {silent:,.0f} ms"
        marks.append(Mark(at, "barge-in", f"into the agent's turn {barge_in.turn_id}{heard}", bad=False))
    return sorted(marks, key=lambda mark: mark.t_ms)


def _losses(events: Sequence[Json], times_ms: Sequence[float]) -> Iterator[Mark]:
    groups: dict[tuple[int, str], list[Json]] = defaultdict(list)
    for event in events:
        if event.get("type") == "line_loss":
            key = bisect_right(times_ms, float(event["t_ms"])), str(event.get("direction", ""))
            groups[key].append(event)
    for (_, direction), group in groups.items():
        packets = sum(n if isinstance(n := event.get("packets"), int) else 1 for event in group)
        places = "" if len(group) == 1 else f" in {len(group)} places"
        instead = ", ".join(sorted({str(event["concealed_by"]) for event in group if event.get("concealed_by")}))
        heard = f"; heard instead: {instead}" if instead else ""
        text = f"{_count(packets, 'packet')} not there{places}, {_DIRECTIONS.get(direction, direction)}{heard}"
        yield Mark(float(group[0]["t_ms"]), "loss", text)


def _late(events: Sequence[Json]) -> Iterator[Mark]:
    """One mark a call, at the worst: on a busy machine there are late ticks everywhere, and they lose no sound."""
    late = [event for event in events if event.get("type") == "line_lag"]
    if late:
        worst = max(late, key=lambda event: float(event.get("late_ms", 0.0)))
        by_ms = float(worst.get("late_ms", 0.0))
        text = f"{_count(len(late), 'late tick')} of the line in this call; the worst, here, by {by_ms:,.0f} ms"
        yield Mark(float(worst["t_ms"]), "late", text)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
