"""Faults that can be put into a call by name: what `--fault NAME[@WHEN]` means. Plain data; `fault_hooks` does it.

`WHEN` counts what the fault is about, in one call, from 1: answers of the model, turns of the caller, sentences of the
agent. `@3` is the third one alone, `@3+` the third and all that follow. Without it, the fault's own default holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from callm_voice.core.errors import NotFoundError, UsageError

Counts = Literal["request", "answer with a call", "answer with a handoff", "turn", "sentence", "tool call", "file"]
_WHEN = re.compile(r"([1-9][0-9]{0,5})(\+?)")


@dataclass(frozen=True)
class FaultKind:
    """One fault that has a name."""

    name: str
    what: str
    """What happens, one sentence without its stop."""
    counts: Counts
    """What `WHEN` counts."""
    first: int = 2
    lasting: bool = False
    """Without a `WHEN` of the user's: once, or from then on."""


KINDS: dict[str, FaultKind] = {
    kind.name: kind
    for kind in (
        FaultKind("llm-401", "the server refuses the key", "request"),
        FaultKind("llm-404", "the server does not know the model", "request"),
        FaultKind("llm-429", "the server asks to be left alone for 2 s (`Retry-After`)", "request"),
        FaultKind("llm-500", "the server reports an error of its own", "request"),
        FaultKind("llm-refused", "nothing listens at the server's port any more", "request", lasting=True),
        FaultKind("llm-stall-first", "the answer begins, and no token ever comes", "request"),
        FaultKind("llm-stall-later", "the answer stops after its first token", "request"),
        FaultKind("llm-cut", "the connection breaks after the first token", "request"),
        FaultKind("llm-garbage", "the event stream holds HTML", "request"),
        FaultKind("llm-role-only", "the stream holds the role, and `[DONE]`", "request", lasting=True),
        FaultKind("llm-empty", "the answer is complete and empty", "request", lasting=True),
        FaultKind("llm-endless", "the answer never ends", "request", lasting=True),
        FaultKind("llm-unknown-tool", "the tool that is called does not exist", "answer with a call", 1, lasting=True),
        FaultKind("llm-bad-json", "the arguments of a call are not JSON", "answer with a call", 1, lasting=True),
        FaultKind("llm-parallel-handoff", "behind a handoff a second call stands in the same answer",
                  "answer with a handoff", 1, lasting=True),
        FaultKind("llm-expired-keepalive", "the server closes the kept connection as the request arrives", "request"),
        FaultKind("stt-raises", "the recogniser breaks", "turn"),
        FaultKind("stt-nothing", "the recogniser hears nothing", "turn", lasting=True),
        FaultKind("stt-slow", "the recogniser takes 2 s longer", "turn"),
        FaultKind("tts-raises", "the agent's voice breaks in the middle of a sentence", "sentence"),
        FaultKind("tts-silence", "the agent's voice gives silence", "sentence"),
        FaultKind("caller-silent", "the caller neither speaks nor leaves, and the agent waits for it", "turn",
                  lasting=True),
        FaultKind("worker-killed", "the process that makes the call is killed", "turn"),
        FaultKind("disk-full", "the disk is full when a file of the call is written", "file", 1, lasting=True),
        FaultKind("database-locked", "somebody else holds a lock on the call's database", "tool call", 1,
                  lasting=True),
        FaultKind("clock-jump", "the date of the machine goes back by an hour", "turn"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A fault and its moment."""

    kind: FaultKind
    first: int
    lasting: bool

    @property
    def name(self) -> str:
        """Of its kind."""
        return self.kind.name

    def hits(self, number: int) -> bool:
        """Whether it is due at the `number`-th of what it counts."""
        return number >= self.first if self.lasting else number == self.first

    def __str__(self) -> str:
        return f"{self.name}@{self.first}{'+' if self.lasting else ''}"


def parse_fault(text: str) -> Fault:
    """The fault that `NAME[@WHEN]` means.

    Raises:
        NotFoundError: no fault has this name; lists those that are.
        UsageError: `WHEN` has another form.
    """
    name, at, when = text.strip().partition("@")
    kind = KINDS.get(name)
    if kind is None:
        raise NotFoundError("fault", name, [*KINDS])
    if not at:
        return Fault(kind, kind.first, kind.lasting)
    found = _WHEN.fullmatch(when)
    if found is None:
        raise UsageError(
            f"--fault {text}: expected {name}@N or {name}@N+", hint=f"N counts from 1: which {kind.counts} of the call"
        )
    return Fault(kind, int(found[1]), bool(found[2]))


FAULT_HELP = (
    "Put a fault into the call, NAME[@WHEN]: @3 at the third chance only, @3+ from then on; docs/outcomes.md tells how "
    "each ends. Names: " + ", ".join(KINDS)
)
"""Of the option, in every command that has it."""
