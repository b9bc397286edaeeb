"""Who lost each expected tool call, for the call's page: one row an argument, what was said beside what was heard."""

from __future__ import annotations

from dataclasses import dataclass

from callm_voice.core.record import CallRecord
from callm_voice.report.blame import ArgBlame, CallBlame, MissedBlame
from callm_voice.report.site.words import clipped


@dataclass(frozen=True)
class BlameArgument:
    """One expected value that the call did not have."""

    name: str
    expected: str
    used: str | None
    """None: the call was not made, or left it out."""
    said: bool
    heard: bool
    told: bool
    used_heard: bool
    """The value that was used is in what was heard."""
    blame: str
    because: str
    words: tuple[tuple[str, str], ...]
    """(said, heard) of the misheard turn where they differ; one side may be empty."""
    start_ms: float | None
    """Of that turn on the line; None: no turn is to blame."""
    end_ms: float


@dataclass(frozen=True)
class BlameRow:
    """One expected tool call that no actual one matched."""

    number: int
    """Its place in gold, from 1."""
    tool: str
    blame: str
    because: str
    """Empty where its only argument says it."""
    args: tuple[BlameArgument, ...]
    follows: bool
    """It was lost with an earlier one: what became of its own values decides nothing."""


@dataclass(frozen=True)
class BlameView:
    """One failed call."""

    blame: str
    because: str
    rows: tuple[BlameRow, ...]


def blame_rows(blame: CallBlame | None, record: CallRecord) -> BlameView | None:
    """The table; None for a call that did not fail, or whose gold is not kept."""
    if blame is None:
        return None
    tools = {missed.expected_index: missed.tool for missed in blame.missed}
    return BlameView(blame.blame, blame.because, tuple(_row(missed, record, tools) for missed in blame.missed))


def _row(missed: MissedBlame, record: CallRecord, tools: dict[int, str]) -> BlameRow:
    args = tuple(_argument(argument, record) for argument in missed.args)
    follows = missed.follows is not None
    because = missed.because
    if missed.follows is not None:
        because = f"lost with {missed.follows + 1} {tools.get(missed.follows, '')}"
    elif [argument.because for argument in args] == [because]:
        because = ""
    return BlameRow(missed.expected_index + 1, missed.tool, missed.blame, because, args, follows)


def _argument(argument: ArgBlame, record: CallRecord) -> BlameArgument:
    turns = [t for t in record.transcript if t.party == "caller" and t.turn_id == argument.turn_id]
    turn = turns[0] if turns else None
    return BlameArgument(
        argument.name, clipped(argument.expected), None if argument.actual is None else clipped(argument.actual),
        argument.said, argument.heard, argument.told, argument.actual_heard, argument.blame, argument.because,
        argument.words, None if turn is None else turn.start_ms, 0.0 if turn is None else turn.end_ms,
    )  # fmt: skip
