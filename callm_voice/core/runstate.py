"""Where a run stands, as its planner tells it and its progress display shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Attempt:
    """One attempt at a call that is over."""

    call_id: str
    """`PACK/TASK/MODEL/LINE/tN`."""
    status: Literal["pass", "fail", "invalid", "unfinished"]
    """`unfinished`: its worker died."""
    detail: str
    wall_s: float
    again: bool
    """Whether the call will be made again."""


@dataclass(frozen=True)
class Snapshot:
    """Where the run stands."""

    total: int
    done: int
    passed: int
    failed: int
    invalid: int
    """Attempts that do not count."""
    used_up: int
    """Calls without a verdict and without attempts left."""
    running: tuple[str, ...]
    cost_usd: float
    """What is known of it, all attempts included."""
    unpriced: int
    """Attempts whose cost nobody knows."""
    eta_s: float | None
    """Wall time that is left; None before the first call is over."""
