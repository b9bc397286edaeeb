"""The pace that a call can keep: work that cannot be counted at its source forbids skipping."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack, ExitStack

from callm_voice.core.clock import Pace, RealClock
from callm_voice.core.record import EngineInfo


def keep_pace(
    engines: Iterable[EngineInfo], clock: RealClock, stack: ExitStack | AsyncExitStack
) -> tuple[Pace, list[str]]:
    """The pace to run at, and warnings for the record where it is not the clock's own.

    At the fast pace, an engine whose work is not counted (`EngineInfo.counted`) makes the clock busy until `stack`
    closes: nothing is skipped any more, which is the real pace.
    """
    uncounted = list(dict.fromkeys(f"{e.engine} {e.model}".strip() for e in engines if not e.counted))
    if clock.pace == "real" or not uncounted:
        return clock.pace, []
    stack.enter_context(clock.busy("uncounted"))
    return "real", [f"ran at the real pace: the work of {', '.join(uncounted)} cannot be counted"]
