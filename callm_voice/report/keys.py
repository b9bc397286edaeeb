"""The caller's keypad: what was pressed, and what the agent recognised of it. Pure over the events of one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from callm_voice.report.site.collect import Json


@dataclass(frozen=True)
class KeyRow:
    """Keys pressed in one go, or those recognised in one turn."""

    kind: Literal["pressed", "recognised"]
    t_ms: float
    """Pressed: the beginning of the first tone. Recognised: the last key."""
    keys: str
    """As the events have them, one character a key."""
    instead_of: str | None = None
    """Of recognised keys: those that were pressed, where they are others; empty: none were. Never of pressed ones."""
    lost: bool = False
    """Of pressed keys: none was recognised after them, up to the next that were pressed and recognised."""

    @property
    def text(self) -> str:
        """`pressed 4711#`; `recognised 471, pressed were 4711#`."""
        if self.lost:
            return f"{self.kind} {self.keys}, none recognised"
        instead = "" if self.instead_of is None else f", pressed were {self.instead_of or 'none'}"
        return f"{self.kind} {self.keys}{instead}"


def key_rows(events: Sequence[Json]) -> list[KeyRow]:
    """The rows in the order of time; keys are compared with all that were pressed since those recognised before them.

    Args:
        events: as `events.jsonl` has them.
    """
    pressed = [(float(e["t_ms"]), str(e.get("digits", ""))) for e in events if e.get("type") == "dtmf_sent"]
    turns: dict[object, list[Json]] = {}
    for event in events:
        if event.get("type") == "dtmf_heard":
            turns.setdefault(event.get("turn_id"), []).append(event)
    heard = sorted(
        (max(float(e["t_ms"]) for e in group), "".join(str(e.get("digit", "")) for e in group))
        for group in turns.values()
    )
    rows: list[KeyRow] = []
    waiting = sorted(pressed)
    for t_ms, keys in heard:
        before = [press for press in waiting if press[0] <= t_ms]
        waiting = waiting[len(before) :]
        wanted = "".join(digits for _, digits in before)
        rows += [KeyRow("pressed", at, digits) for at, digits in before]
        rows.append(KeyRow("recognised", t_ms, keys, instead_of=None if keys == wanted else wanted))
    rows += [KeyRow("pressed", at, digits, lost=True) for at, digits in waiting]
    return rows
