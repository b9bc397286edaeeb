"""How a call ends that a fault was put into, or that ran into a limit: the table of `docs/outcomes.md`, as data.

`tests/faults/test_fault_endings.py` makes a call for each row and compares; the page is written from the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from callm_voice.bench.faults import KINDS, parse_fault
from callm_voice.core.events import EndReason

Status = Literal["pass", "fail", "invalid", "none"]
InRun = Literal["counts", "retried", "made again", "stops the run"]
KILLED = 137
"""What a shell calls the end by SIGKILL: 128 + 9."""
EXIT_CODES: dict[Status, int] = {"pass": 0, "fail": 1, "invalid": 3, "none": 3}


@dataclass(frozen=True)
class Ending:
    """One row: what was asked for, and how the call ends.

    A `none` leaves no record: the call's folder is unfinished.
    """

    fault: str
    """As `--fault` takes it."""
    status: Status
    why: str
    kind: Literal["harness", "infrastructure", "caller"] | None = None
    reason: EndReason | None = None
    text_reason: EndReason | None = None
    """By text, if it is another one."""
    in_run: InRun = "counts"
    by_text: bool = True
    """Whether it can happen without audio."""

    @property
    def exit_code(self) -> int:
        """Of `callm-voice call`."""
        return KILLED if self.fault == "worker-killed" else EXIT_CODES[self.status]


def _server(fault: str, why: str) -> Ending:
    return Ending(fault, "invalid", why, "infrastructure", "model_error", in_run="retried")


def _engine(fault: str, why: str) -> Ending:
    return Ending(fault, "invalid", why, "infrastructure", "engine_error", in_run="retried", by_text=False)


def _model(fault: str, why: str) -> Ending:
    return Ending(fault, "fail", why, None, "caller_hangup")


def _goes_on(fault: str, why: str, *, by_text: bool = True) -> Ending:
    return Ending(fault, "pass", why, None, "caller_hangup", by_text=by_text)


ENDINGS: tuple[Ending, ...] = (
    _server("llm-401", "a key that is refused says nothing about the model"),
    _server("llm-404", "nor does a wrong name or URL"),
    _server("llm-429", "nor does a limit of the vendor's; the run leaves the model alone for as long as was asked"),
    _server("llm-500", "the server's own trouble"),
    _server("llm-refused", "the server is gone"),
    _server("llm-stall-first", "ended by `timeouts.first_token_s`; nobody can tell a stalled server from a slow model"),
    _server("llm-stall-later", "ended by `timeouts.stall_s`"),
    _server("llm-cut", "half an answer is none; its tool calls are not run"),
    _server("llm-garbage", "not an OpenAI-compatible stream"),
    _model("llm-role-only", "the stream is well-formed and empty: an empty reply"),
    _model("llm-empty", "the model says nothing when asked, and again when asked once more; the caller gives up"),
    _goes_on("llm-empty@2", "one empty reply is asked for once more, and the model comes to itself"),
    Ending("llm-endless", "fail", "the answer is cut after 10,000 characters, and the caller has had to listen to them",
           None, "max_duration", text_reason="caller_hangup"),
    _model("llm-unknown-tool", "the desk refuses the call and tells the model so; the model's own doing"),
    _goes_on("llm-unknown-tool@1", "a model that does better when told so has lost nothing: extra calls are allowed"),
    _model("llm-bad-json", "the call is refused and the model is told so; the model's own doing"),
    _goes_on("llm-bad-json@1", "as with an unknown tool"),
    _goes_on("llm-parallel-handoff", "the handoff is carried out, and the call behind it is answered as the new role "
             "would be; neither is lost"),
    _goes_on("llm-expired-keepalive", "the request is held not to have been taken, sent again on a fresh connection "
             "and timed anew"),
    _engine("stt-raises", "a recogniser that breaks says nothing about the model"),
    Ending("stt-nothing", "fail", "a recogniser that hears nothing is part of the pipeline under test; `score` tells "
           "such failures from the model's (blame)", None, "caller_hangup", by_text=False),
    _goes_on("stt-slow", "the turn is answered later, and its latency says so", by_text=False),
    _engine("tts-raises", "a voice that breaks says nothing about the model"),
    _engine("tts-silence", "a sentence without sound is noticed (no sample above -60 dBov); the caller could hear "
            "nothing"),
    Ending("caller-silent", "invalid", "a caller that neither speaks nor leaves broke its brief; no desk can help it",
           "caller", "silence", in_run="retried"),
    Ending("worker-killed", "none", "the call is simply unfinished; invalid (harness) only if it kills its worker at "
           "every attempt", in_run="made again"),
    Ending("disk-full", "none", "no further call would fare better; what is finished stays", in_run="stops the run"),
    Ending("database-locked", "invalid", "the desk's tools could not work: our doing, and the model is not blamed",
           "harness", "harness_error", in_run="retried"),
    _goes_on("clock-jump", "durations are measured on the monotonic clock; the date stands in the record alone"),
)  # fmt: skip


@dataclass(frozen=True)
class Limit:
    """A row about a limit: a pipeline's key set to a value that this call exceeds."""

    key: str
    """Under `limits:`."""
    value: Any
    reason: EndReason
    why: str
    by_text: bool = True


LIMITS: tuple[Limit, ...] = (
    Limit("max_turns", 1, "max_turns", "the caller took more turns; judged as it stands"),
    Limit("max_duration_s", 10.0, "max_duration", "the line was open for so long; judged as it stands", by_text=False),
    Limit("max_cost_usd", 0.0001, "max_cost", "the model has cost more; judged as it stands"),
)


def unlisted() -> set[str]:
    """Faults without a row."""
    return set(KINDS) - {parse_fault(row.fault).name for row in ENDINGS}
