"""The file formats of a pack (DESIGN §5): `pack.yaml`, the front matter of a role, the public part of a task."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
TaskId = Annotated[str, StringConstraints(pattern=r"^C\d+-[EMH]\d+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PackFile(_Strict):
    """`pack.yaml`."""

    id: Name
    title: str
    version: str
    business: str
    """The name that the desk answers with."""
    now: dt.datetime
    """The frozen date and time of the pack, local to the business, without offset: `2026-08-18T09:30:00`."""
    start_role: Name
    safe_message_key: str = "patient_safe_message"
    """The industry's own name for the last key of a tool's envelope."""
    session: dict[str, Any] = Field(default_factory=dict)
    """Initial `ctx.session` of a call (nothing verified, ...)."""
    ignored_columns: dict[str, str] = Field(default_factory=dict)
    """`table.column` or `*.column` that the state gate ignores → the reason."""
    categories: dict[str, str] = Field(default_factory=dict)
    """Category number as text → its title: `"5": Billing and payments`."""
    vocabulary: tuple[str, ...] = ()
    """Words of the trade, public to everyone (for a pipeline that biases its recogniser and says so)."""


class TransferSpec(_Strict):
    """One edge of the transfer graph: the tool `transfer_to_ROLE` of the role that declares it."""

    role: Name
    when: str
    """Description of the tool as the model sees it."""
    params: dict[Name, str] = Field(default_factory=dict)
    """Optional string parameters → description (`next_intent`)."""


class RoleFile(_Strict):
    """Front matter of `agents/ROLE.md`; the body is the prompt."""

    title: str
    tools: tuple[Name, ...] = ()
    transfers: tuple[TransferSpec, ...] = ()
    policies: tuple[Name, ...] = ()
    """`policies/NAME.md`, put after the body in this order."""


class Expect(_Strict):
    """A condition on what the agent was heard to say. All given parts must hold; patterns are regular expressions,
    case-insensitive, searched anywhere."""

    any_of: tuple[str, ...] = ()
    all_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()


class Beat(_Strict):
    """One thing that the scripted caller can say.

    Beats are tried in the order of the file; the first whose conditions hold and that is not used up is played.
    `{trait}` stands for a trait in its written form; `{trait:spell}` for it spelled, `{trait:digits}` in groups.
    """

    id: Name
    say: str
    """Empty: say nothing (with `hang_up`, or to wait)."""
    when: Expect = Expect()
    """Empty: holds always."""
    after: tuple[Name, ...] = ()
    """Beats that must have been played before."""
    before: tuple[Name, ...] = ()
    """Beats that must not have been played yet."""
    repeat: int = 1
    """How often it may be played."""
    repeat_say: str = ""
    """What to say from the second time on; empty: the same."""
    ask: bool = False
    """This is the caller's request: it is repeated when nothing else matched."""
    hang_up: bool = False
    """Hang up after saying it."""
    barge_in_ms: int | None = None
    """Say it this long after the agent began to speak, over the agent, if the floor before matched `when`."""


class Never(_Strict):
    """What the caller must not say: a pattern, until a beat has been played (or ever)."""

    pattern: str
    until: Name | None = None
    reason: str = ""


class Brief(_Strict):
    """What the caller is given."""

    traits: dict[Name, str]
    """In written form: `date_of_birth: "1972-06-30"`, `mobile: 212-555-0133`."""
    script: str
    """Locked prose, as the LLM caller gets it and the task page shows it."""
    opening: str
    """The caller's first words, after the greeting."""
    beats: tuple[Beat, ...]
    never: tuple[Never, ...] = ()
    hold: tuple[str, ...] = (
        r"\b(one|a|just a) (moment|second|minute)\b", r"\bplease hold\b", r"\blet me (check|look|pull|see|find|get)\b",
        r"\bbear with me\b", r"\btransfer(ring)? you\b|\bconnect(ing)? you\b",
    )  # fmt: skip
    """If the agent's floor ends with words like these and asks nothing, the caller waits."""


class TaskFile(_Strict):
    """A task without its gold: what may be seen while a call runs, and what a page shows."""

    id: TaskId
    title: str
    category: str
    difficulty: Literal["easy", "medium", "hard"]
    measures: str
    brief: Brief
