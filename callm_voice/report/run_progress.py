"""Progress of a run on stderr: a bar with the standings on a terminal, else one plain line for each attempt."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from callm_voice.core.runstate import Attempt, Snapshot
from callm_voice.report.text import clip

LONGEST_DETAIL = 160
STYLES = {"pass": "green", "fail": "yellow", "invalid": "red", "unfinished": "red"}


class RunProgress:
    """A context manager whose `show` is told of every change.

    Args:
        console: stderr. Without a terminal behind it there is no bar.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[standing]}"),
            console=console, disable=not console.is_terminal, transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task("calls", total=None, standing="")

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, standing: Snapshot, attempt: Attempt | None = None) -> None:
        """Bring the bar up to date; with an attempt, also print its line."""
        over = standing.done + standing.used_up
        self._bar.update(self._task, total=standing.total, completed=over, standing=standings(standing))
        if attempt is None:
            return
        line = f"{over}/{standing.total}  {attempt.status:<10}  {attempt.call_id}  {attempt.wall_s:.1f} s"
        if attempt.status in ("invalid", "unfinished"):
            line += f"  {clip(attempt.detail, LONGEST_DETAIL)}; {'made again' if attempt.again else 'given up'}"
        if not self._console.is_terminal:
            line += f"  | {standings(standing)}"
        self._console.print(line, style=STYLES.get(attempt.status), markup=False, soft_wrap=True)


def standings(standing: Snapshot) -> str:
    """`pass 11, fail 1, invalid 0 | $0.01 | 3 min left`."""
    parts = [f"pass {standing.passed}, fail {standing.failed}, invalid {standing.invalid}"]
    if standing.used_up:
        parts[0] += f", given up {standing.used_up}"
    if standing.cost_usd:
        parts.append(f"${standing.cost_usd:.4f}" + (" and more" if standing.unpriced else ""))
    if standing.eta_s is not None:
        parts.append(f"{duration(standing.eta_s)} left")
    return " | ".join(parts)


def duration(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
