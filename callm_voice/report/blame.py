"""Who lost an expected tool call: the recogniser, the model or the caller. Pure over one failed call.

For each argument that differs: did the caller say the expected value, was it in what was heard, and what did the model
use instead? The answer is `unclear` where the words do not settle it; it is never a guess in favour of the model.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from callm_voice.core.record import CallRecord
from callm_voice.report.blame_values import Hearing, misheard_words, told
from verifier.gold import ArgType, GoldFile
from verifier.trace import ToolCall
from verifier.verdict import ArgDiff, CallFinding

Blame = Literal["recogniser", "model", "caller", "unclear"]
BLAMES: tuple[Blame, ...] = ("recogniser", "model", "caller", "unclear")


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ArgBlame(_Frozen):
    """One expected argument that the call did not have."""

    name: str
    expected: Any
    actual: Any = None
    """None also if it was not given."""
    said: bool
    """The caller said the expected value before the call."""
    heard: bool
    """It was in what the recogniser gave to the model."""
    told: bool
    """A tool had answered it before."""
    actual_heard: bool
    """The value that the model used is in what was heard."""
    blame: Blame
    because: str
    turn_id: int | None = None
    """The turn in which the value was said and not heard."""
    words: tuple[tuple[str, str], ...] = ()
    """(said, heard) of that turn, where they differ."""


class MissedBlame(_Frozen):
    """One expected call that no actual one matched."""

    tool: str
    expected_index: int
    why: str
    """As in the verdict: `not_called`, `arguments`, `not_run`, `refused`, `not_refused`."""
    blame: Blame
    because: str
    follows: int | None = None
    """The expected call whose loss took this one with it."""
    args: tuple[ArgBlame, ...] = ()


class CallBlame(_Frozen):
    """One failed call. `blame` is that of the first missed call in gold's order."""

    blame: Blame
    because: str
    missed: tuple[MissedBlame, ...] = ()


def blame_call(record: CallRecord, gold: GoldFile) -> CallBlame | None:
    """Who is to blame for a failed call; None if it did not fail."""
    if record.outcome.status != "fail" or record.verdict is None:
        return None
    missing = [finding for finding in record.verdict.tools.findings if finding.kind == "missing"]
    judge = _Judge(record, gold.arg_types, gold.now)
    missed: list[MissedBlame] = []
    for finding in sorted(missing, key=lambda f: f.expected_index or 0):
        missed.append(judge.missed(finding, missed))
    if missed:
        return CallBlame(blame=missed[0].blame, because=missed[0].because, missed=tuple(missed))
    gate = "wrote other rows" if record.verdict.path.passed else "took another path"
    lost = Hearing(record.transcript, now=gold.now).lost()
    if lost:
        return CallBlame(blame="unclear", because=f"it {gate}, and {_lost_words(len(lost))}")
    return CallBlame(blame="model", because=f"it {gate}, and what the caller said was heard")


class _Judge:
    def __init__(
        self, record: CallRecord, arg_types: Mapping[str, Mapping[str, ArgType]], now: dt.datetime | None
    ) -> None:
        self._record, self._types, self._now = record, arg_types, now
        self._calls = record.trace.calls

    def missed(self, finding: CallFinding, earlier: Sequence[MissedBlame]) -> MissedBlame:
        """The blame for one expected call. `earlier`: those of the missed calls before it in gold's order."""
        index, why = finding.expected_index or 0, finding.why or "not_called"
        args: tuple[ArgBlame, ...] = ()
        blame: Blame
        if why in ("arguments", "not_called"):
            nearest = None if finding.nearest_index is None else self._calls[finding.nearest_index]
            args = tuple(
                self._argument(finding.tool, diff, nearest)
                for diff in finding.args
                if diff.kind in ("differs", "missing")
            )
        if why == "arguments":
            blame, because = _of_arguments(args)
            undecided = blame != "recogniser" and not any(arg.said or arg.heard or arg.told for arg in args)
        elif why == "not_called":
            blame, because = self._not_called(args)
            undecided = True
        else:
            blame, because = "model", _WHY[why]
            undecided = why == "refused"
        if undecided and earlier:
            first = earlier[0]
            return MissedBlame(
                tool=finding.tool, expected_index=index, why=why, blame=first.blame, args=args,
                because=f"after {first.tool} was lost: {first.because}", follows=first.expected_index,
            )  # fmt: skip
        return MissedBlame(tool=finding.tool, expected_index=index, why=why, blame=blame, because=because, args=args)

    def _argument(self, tool: str, diff: ArgDiff, call: ToolCall | None) -> ArgBlame:
        arg_type = self._types.get(tool, {}).get(diff.name)
        until_ms = call.t_ms if call is not None else float("inf")
        hearing = Hearing(self._record.transcript, now=self._now, until_ms=until_ms)
        before = [c for c in self._calls if call is None or c.t_ms < call.t_ms]
        given = diff.kind == "differs"
        said = hearing.said(diff.name, diff.expected, arg_type)
        heard = hearing.heard(diff.name, diff.expected, arg_type)
        was_told = told(before, diff.name, diff.expected, arg_type)
        actual_heard = given and hearing.heard(diff.name, diff.actual, arg_type)
        actual_said = given and hearing.said(diff.name, diff.actual, arg_type)
        blame, because = _of_value(
            diff.name, given=given, said=said, heard=heard, told=was_told, actual_heard=actual_heard,
            actual_said=actual_said, lost=len(hearing.lost()),
        )  # fmt: skip
        turn = hearing.turn_of(diff.name, diff.expected, arg_type) if said and not heard else None
        return ArgBlame(
            name=diff.name, expected=diff.expected, actual=diff.actual, said=said, heard=heard, told=was_told,
            actual_heard=actual_heard, blame=blame, because=because, turn_id=turn.turn_id if turn else None,
            words=misheard_words(turn) if turn else (),
        )  # fmt: skip

    def _not_called(self, args: Sequence[ArgBlame]) -> tuple[Blame, str]:
        misheard = next((arg for arg in args if arg.blame == "recogniser"), None)
        if misheard is not None:
            return "recogniser", misheard.because
        lost = len(Hearing(self._record.transcript, now=self._now).lost())
        if lost:
            return "unclear", f"it was never called, and {_lost_words(lost)}"
        return "model", "it was never called, and what the caller said was heard"


_WHY = {
    "not_run": "the model's call could not be run",
    "refused": "the tool refused the model's call",
    "not_refused": "the tool did what it was expected to refuse",
}


def _of_value(
    name: str, *, given: bool, said: bool, heard: bool, told: bool, actual_heard: bool, actual_said: bool, lost: int
) -> tuple[Blame, str]:
    """The blame for one value, and why in words."""
    if told:
        return "model", f"a tool had told it the {name}"
    if heard:
        return "model", f"the {name} was heard, and it {'used another' if given else 'left it out'}"
    if said:
        if not given:
            return "recogniser", f"the {name} was said and not heard"
        if actual_heard:
            return "recogniser", f"the {name} was said, another was heard, and the model used that"
        return "unclear", f"the {name} was said and not heard, and the model used neither"
    if actual_said:
        return "caller", f"the caller gave another {name}"
    if actual_heard:
        return "recogniser", f"the model used a {name} that was heard and never said"
    if lost:
        return "unclear", f"the {name} was never said in so many words, and {_lost_words(lost)}"
    return "model", f"the {name} was never said, heard or told"


def _of_arguments(args: Sequence[ArgBlame]) -> tuple[Blame, str]:
    """The recogniser's fault only if it explains every difference; the first reason of the blame that is taken."""
    for blame in ("model", "caller", "unclear", "recogniser"):
        found = next((arg for arg in args if arg.blame == blame), None)
        if found is not None:
            return found.blame, found.because
    return "unclear", "no argument differs by itself"


def _lost_words(turns: int) -> str:
    return f"{turns} turn{'s' if turns != 1 else ''} of the caller's {'were' if turns != 1 else 'was'} misheard"
