"""The desk as the pages show it: roles, transfers, tools and tasks of a pack as it is installed here."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from callm_voice.core import paths
from callm_voice.core.errors import CallmError
from callm_voice.core.record import CallRecord
from callm_voice.desk.pack import Pack, load_pack

TRANSFER = "transfer_to_"


@dataclass(frozen=True)
class ToolView:
    """One tool as the model sees it."""

    name: str
    description: str
    arguments: tuple[tuple[str, bool], ...]
    """Name, and whether it must be given."""


@dataclass(frozen=True)
class TaskView:
    """What a page shows of a task; its gold is not among it."""

    title: str
    category: str
    difficulty: str
    measures: str
    script: str
    traits: dict[str, str]


@dataclass(frozen=True)
class RoleView:
    """One agent of the desk."""

    name: str
    title: str = ""
    prompt_chars: int | None = None
    tools: tuple[ToolView, ...] = ()
    transfers: tuple[tuple[str, str], ...] = ()
    """Role that it can transfer to, and when it should."""


@dataclass(frozen=True, eq=False)
class DeskView:
    """One industry's desk. Two are the same only if they are one object."""

    id: str
    title: str
    start_role: str
    roles: tuple[RoleView, ...]
    business: str = ""
    version: str = ""
    content_hash: str = ""
    tasks: dict[str, TaskView] = field(default_factory=dict)
    missing: str = ""
    """Why the pack is not shown in full; empty: it is."""

    @property
    def edges(self) -> list[tuple[str, str]]:
        """All transfers that the desk allows."""
        return [(role.name, to) for role in self.roles for to, _ in role.transfers]


def desk_view(pack_id: str, records: Iterable[CallRecord]) -> DeskView:
    """The pack of that name where it is installed; else what the calls themselves show of it."""
    try:
        return _from_pack(load_pack(paths.find("packs", pack_id)))
    except CallmError as error:
        return _from_calls(pack_id, list(records), error.one_line())


def _from_pack(pack: Pack) -> DeskView:
    roles = []
    for name in sorted(pack.roles, key=lambda role: (role != pack.file.start_role, role)):
        role = pack.roles[name]
        schemas = [schema.get("function", schema) for schema in role.tool_schemas]
        tools = tuple(_tool(schema) for schema in schemas if not str(schema["name"]).startswith(TRANSFER))
        transfers = tuple((to, edge.when) for to, edge in role.transfers.items())
        roles.append(RoleView(name, role.title, len(role.system_prompt), tools, transfers))
    tasks = {task_id: _task(pack, task_id) for task_id in pack.task_ids()}
    file = pack.file
    return DeskView(
        pack.id, file.title, file.start_role, tuple(roles), file.business, file.version, pack.content_hash, tasks
    )


def _task(pack: Pack, task_id: str) -> TaskView:
    task = pack.task(task_id)
    return TaskView(
        task.title, task.category, task.difficulty, task.measures, task.brief.script, dict(task.brief.traits)
    )


def _tool(schema: dict[str, object]) -> ToolView:
    parameters = schema.get("parameters")
    known = parameters if isinstance(parameters, dict) else {}
    required = set(known.get("required", []))
    arguments = tuple((str(name), name in required) for name in known.get("properties", {}))
    return ToolView(str(schema["name"]), str(schema.get("description", "")), arguments)


def _from_calls(pack_id: str, records: list[CallRecord], reason: str) -> DeskView:
    """Roles and transfers that were seen or expected in the calls."""
    start = records[0].trace.start_role if records else "start"
    seen: dict[str, set[str]] = {start: set()}
    for record in records:
        for handoff in record.trace.handoffs:
            seen.setdefault(handoff.from_role, set()).add(handoff.to_role)
            seen.setdefault(handoff.to_role, set())
        if record.verdict is not None:
            steps = (record.trace.start_role, *record.verdict.path.expected)
            for here, there in itertools.pairwise(steps):
                seen.setdefault(here, set()).add(there)
                seen.setdefault(there, set())
    roles = tuple(
        RoleView(name, transfers=tuple((to, "") for to in sorted(seen[name])))
        for name in sorted(seen, key=lambda role: (role != start, role))
    )
    return DeskView(pack_id, _title(pack_id), start, roles, missing=reason)


def _title(pack_id: str) -> str:
    return re.sub(r"[_-]+", " ", pack_id).strip().capitalize()
