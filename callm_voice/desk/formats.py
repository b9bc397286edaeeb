"""The file formats of a pack (DESIGN §5): `pack.yaml`, the front matter of a role, the public part of a task."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from callm_voice.core.brief import Beat, Brief, Expect, Name, Never

__all__ = ["Beat", "Brief", "Expect", "Name", "Never", "PackFile", "RoleFile", "TaskFile", "TaskId", "TransferSpec"]

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
    benchmark: bool = True
    """False: a pack for another purpose; what goes over all packs leaves it out, and it works by its name."""
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


class TaskFile(_Strict):
    """A task without its gold: what may be seen while a call runs, and what a page shows."""

    id: TaskId
    title: str
    category: str
    difficulty: Literal["easy", "medium", "hard"]
    measures: str
    brief: Brief
