"""What went wrong in a call, and when: the moment that the failures page plays.

One kind a call, the first of these that holds:

    invalid     neither passed nor failed; the moment is the failure's event, else the end
    timeout     the line closed for silence, duration or number of turns; the last words before it
    misheard    the recogniser is to blame for the first tool call that was lost (`report/blame.py`); that utterance
    handoff     the path differs; the first wrong transfer, or where the one that is missing was due
    arguments   an expected tool was called with other arguments, was refused, or could not be run; that call
    not_called  an expected tool was never called; where it was due: after the last expected thing that did happen
    state       the database differs and tools and path do not; the first call that gold does not have
"""

from __future__ import annotations

from dataclasses import dataclass

from callm_voice.core.record import CallRecord
from callm_voice.report.blame import CallBlame
from callm_voice.report.site.collect import Json
from callm_voice.report.site.gates import failed_gates
from verifier.verdict import CallFinding, Verdict

KINDS = {
    "timeout": "Timeout",
    "misheard": "Misheard entity",
    "handoff": "Handoff",
    "arguments": "Tool: wrong arguments or refused",
    "not_called": "Tool: not called",
    "state": "Database state",
    "invalid": "Invalid call, not scored",
}
"""In the order of the page."""
TIMEOUTS = {"max_duration", "max_turns", "silence"}


@dataclass(frozen=True)
class Moment:
    """Why a call did not pass."""

    kind: str
    t_ms: float
    what: str
    """In one line."""
    gates: tuple[str, ...]
    tool: str = ""


def moment_of(record: CallRecord, blame: CallBlame | None = None, events: tuple[Json, ...] = ()) -> Moment | None:
    """The moment; None for a call that passed, or of which nothing was expected."""
    if record.outcome.status in ("pass", "unscored"):
        return None
    if record.outcome.status == "invalid" or record.verdict is None:
        return _invalid(record, events)
    verdict = record.verdict
    gates = failed_gates(verdict)
    first_missing = next((f for f in verdict.tools.findings if f.kind == "missing"), None)
    if record.outcome.end_reason in TIMEOUTS:
        reason = record.outcome.end_reason.replace("_", " ")
        return Moment("timeout", _last_words(record), f"the call ended for {reason}", gates, _tool(first_missing))
    if (misheard := _misheard(blame, record)) is not None:
        t_ms, what, tool = misheard
        return Moment("misheard", t_ms, what, gates, tool)
    if not verdict.path.passed:
        t_ms, what = _handoff(verdict, record)
        return Moment("handoff", t_ms, what, gates, _tool(first_missing))
    if first_missing is not None:
        return _missing(first_missing, verdict, record, gates)
    return _state(verdict, record, gates)


def _tool(finding: CallFinding | None) -> str:
    return finding.tool if finding is not None else ""


def _invalid(record: CallRecord, events: tuple[Json, ...]) -> Moment:
    failed = next((e for e in events if e.get("type") == "failed"), None)
    t_ms = float(failed["t_ms"]) if failed else _last_words(record)
    why = record.outcome.detail or (str(failed.get("message", "")) if failed else "") or record.outcome.end_reason
    return Moment("invalid", max(0.0, t_ms), f"{record.outcome.invalid_kind or 'invalid'}: {why}", ())


def _last_words(record: CallRecord) -> float:
    return record.transcript[-1].start_ms if record.transcript else 0.0


def _misheard(blame: CallBlame | None, record: CallRecord) -> tuple[float, str, str] | None:
    """When the value was said that was not heard, what happened to it, and which tool needed it."""
    if blame is None or blame.blame != "recogniser":
        return None
    for missed in blame.missed:
        for argument in missed.args:
            turn = next((t for t in record.transcript if t.party == "caller" and t.turn_id == argument.turn_id), None)
            if argument.blame == "recogniser" and turn is not None:
                pairs = [f"“{said}” was heard as “{heard or 'nothing'}”" for said, heard in argument.words]
                return turn.start_ms, f"{argument.name}: {'; '.join(pairs) or argument.because}", missed.tool
    return None


def _handoff(verdict: Verdict, record: CallRecord) -> tuple[float, str]:
    expected, actual = verdict.path.expected, verdict.path.actual
    at = next((n for n, (a, b) in enumerate(zip(expected, actual, strict=False)) if a != b), None)
    if at is None and len(actual) > len(expected):
        at = len(expected)
    if at is not None and at < len(record.trace.handoffs):
        wanted = f", expected {expected[at]}" if at < len(expected) else ", expected none"
        return record.trace.handoffs[at].t_ms, f"handed off to {actual[at]}{wanted}"
    due = len(actual)
    after = record.trace.handoffs[-1].t_ms if record.trace.handoffs else 0.0
    return _next_caller_turn(record, after), f"never handed off to {expected[due] if due < len(expected) else '?'}"


def _missing(finding: CallFinding, verdict: Verdict, record: CallRecord, gates: tuple[str, ...]) -> Moment:
    calls = record.trace.calls
    if finding.nearest_index is not None and finding.nearest_index < len(calls):
        wrong = [d.name for d in finding.args if d.kind in ("differs", "missing")]
        what = f"{finding.tool} with another {', '.join(wrong)}" if wrong else f"{finding.tool} was refused"
        return Moment("arguments", calls[finding.nearest_index].t_ms, what, gates, finding.tool)
    before = [
        calls[f.actual_index].t_ms
        for f in verdict.tools.findings
        if f.kind == "hit" and f.actual_index is not None and (f.expected_index or 0) < (finding.expected_index or 0)
    ]
    due = _next_caller_turn(record, max(before, default=0.0))
    return Moment("not_called", due, f"{finding.tool} was never called", gates, finding.tool)


def _next_caller_turn(record: CallRecord, after_ms: float) -> float:
    """When the caller next spoke; where it never did, the time itself."""
    return next((t.start_ms for t in record.transcript if t.party == "caller" and t.start_ms >= after_ms), after_ms)


def _state(verdict: Verdict, record: CallRecord, gates: tuple[str, ...]) -> Moment:
    tables = ", ".join(dict.fromkeys(finding.table for finding in verdict.state.findings))
    extra = next((f for f in verdict.tools.findings if f.kind == "extra" and f.actual_index is not None), None)
    if extra is not None and extra.actual_index is not None and extra.actual_index < len(record.trace.calls):
        call = record.trace.calls[extra.actual_index]
        return Moment("state", call.t_ms, f"{call.name} was not expected; {tables} differs", gates, call.name)
    return Moment("state", _last_words(record), f"{tables} differs", gates)
