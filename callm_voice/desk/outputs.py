"""What the desk's agent hands out while a turn runs."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.trace import ToolCall


@dataclass(frozen=True)
class Say:
    """A piece of text for the caller."""

    inference_id: int
    role: str
    text_delta: str


@dataclass(frozen=True)
class SayEnd:
    """The inference's text is complete, or a tool call has begun behind it: speak what is held.

    Comes before the tools of that inference run, and more than once if text follows a call.
    """

    inference_id: int


@dataclass(frozen=True)
class ToolRan:
    """A tool call was answered."""

    inference_id: int
    call: ToolCall


@dataclass(frozen=True)
class RoleChanged:
    """A transfer succeeded."""

    from_role: str
    to_role: str


AgentOutput = Say | SayEnd | ToolRan | RoleChanged
