"""What two records of one call must have in common: everything but times and the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callm_voice.core.runfolder import find_calls, load_record

TIMES = {"started_at", "duration_ms", "ticks", "wall", "latency", "host", "work", "t_ms", "start_ms", "end_ms"}


def without_times(value: Any) -> Any:
    """A record's data without what differs from one making to the next."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES and not k.endswith("_ms")}
    if isinstance(value, list):
        return [without_times(v) for v in value]
    return value


def calls_of(run: Path) -> dict[str, Any]:
    """Folder in the run → its record without times."""
    return {
        folder.relative_to(run).as_posix(): without_times(load_record(folder).model_dump(mode="json"))
        for folder in find_calls(run)
    }
