"""Load a pack (DESIGN §5) and check that its parts fit together. Nothing here looks into a task's gold."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from callm_voice.core.errors import ConfigError, NotFoundError
from callm_voice.core.yamlfile import load_model, load_yaml
from callm_voice.desk.arguments import ArgTypeName
from callm_voice.desk.database import CallDatabase, build_database
from callm_voice.desk.dispatch import Dispatcher
from callm_voice.desk.formats import PackFile, TaskFile
from callm_voice.desk.roles import Role, load_role, placeholders
from callm_voice.desk.toolfile import import_tools
from callm_voice.desk.tools import TRANSFER_PREFIX, Tool, find_tools
from verifier.trace import State

PACK_FILE = "pack.yaml"


@dataclass(frozen=True)
class Pack:
    """A loaded pack."""

    path: Path
    file: PackFile
    tools: Mapping[str, Tool]
    roles: Mapping[str, Role]
    content_hash: str
    """SHA-256 over the names and bytes of all its files."""
    _seed_state: State
    _seed_image: bytes

    @property
    def id(self) -> str:
        """The pack's id."""
        return self.file.id

    def role(self, name: str) -> Role:
        """One role; NotFoundError if there is none of that name."""
        if name not in self.roles:
            raise NotFoundError("role", name, list(self.roles))
        return self.roles[name]

    def open_database(self, path: Path | None = None) -> CallDatabase:
        """A freshly seeded database for one call, in memory or in a new file."""
        return CallDatabase(self.file.now, path, image=self._seed_image)

    def dispatcher(self, database: CallDatabase) -> Dispatcher:
        """Runs tool calls on `database`, with a session of its own."""
        session = copy.deepcopy(self.file.session)
        return Dispatcher(self.tools, database, session, self.file.safe_message_key)

    def seed_state(self) -> State:
        """The seed as the verifier reads it."""
        return copy.deepcopy(self._seed_state)

    def arg_types(self) -> dict[str, dict[str, ArgTypeName]]:
        """tool → argument → the verifier's type name, transfers included."""
        types: dict[str, dict[str, ArgTypeName]]
        types = {tool.name: {a.name: a.kind.arg_type for a in tool.arguments} for tool in self.tools.values()}
        for role in self.roles.values():
            for to, transfer in role.transfers.items():
                types.setdefault(TRANSFER_PREFIX + to, {}).update(dict.fromkeys(transfer.params, "string"))
        return types

    def task_ids(self) -> list[str]:
        """Ids of the tasks, sorted."""
        return sorted(p.stem for p in (self.path / "tasks").glob("*.yaml"))

    def task_path(self, task_id: str) -> Path:
        """The file of a task; NotFoundError lists those that there are."""
        if task_id not in self.task_ids():
            raise NotFoundError("task", f"{self.id}/{task_id}", [f"{self.id}/{t}" for t in self.task_ids()])
        return self.path / "tasks" / f"{task_id}.yaml"

    def task(self, task_id: str) -> TaskFile:
        """A task without its gold, which is dropped unread."""
        path = self.task_path(task_id)
        content = load_yaml(path)
        if isinstance(content, dict):
            content.pop("gold", None)
        task = load_model(path, TaskFile, content)
        if task.id != task_id:
            raise ConfigError(path, "id", f"the file is named {task_id}, so its id must be {task_id}")
        known = self.file.categories
        if known and task.category not in known and task.category not in known.values():
            raise ConfigError(path, "category", f"not one of the pack's: {', '.join(known.values())}")
        return task


def load_pack(path: Path) -> Pack:
    """Load and check the pack in folder `path`.

    Raises:
        ConfigError: names the file, the place and what was expected.
    """
    pack_path = path / PACK_FILE
    file = load_model(pack_path, PackFile)
    if file.now.tzinfo is not None:
        raise ConfigError(pack_path, "now", "local to the business, so without an offset")
    content_hash = _hash(path)
    tools = find_tools(import_tools(path, file.id, content_hash))
    values = placeholders(file.business, file.now)
    agents = sorted((path / "agents").glob("*.md"))
    roles = {agent.stem: load_role(agent, path / "policies", tools, values) for agent in agents}
    _check_transfers(path, file.start_role, roles)
    with closing(build_database(path / "schema.sql", path / "seed.sql", file.now)) as seeded:
        _check_ignored(pack_path, file, seeded)
        return Pack(path, file, tools, roles, content_hash, seeded.dump(), seeded.image())


def _check_transfers(path: Path, start: str, roles: Mapping[str, Role]) -> None:
    """Every transfer leads to a role, and every role can be reached."""
    if start not in roles:
        raise ConfigError(path / PACK_FILE, "start_role", f"there is no agents/{start}.md")
    reached, ahead = {start}, [start]
    while ahead:
        name = ahead.pop()
        for to in roles[name].transfers:
            if to not in roles:
                raise ConfigError(path / "agents" / f"{name}.md", "transfers", f"there is no agents/{to}.md")
            if to not in reached:
                reached.add(to)
                ahead.append(to)
    if lost := sorted(set(roles) - reached):
        raise ConfigError(path / "agents" / f"{lost[0]}.md", "", f"no way of transfers leads here from {start}")


def _check_ignored(pack_path: Path, file: PackFile, seeded: CallDatabase) -> None:
    """Every ignored column is one of the schema."""
    tables = seeded.tables()
    for ignored in file.ignored_columns:
        table, _, column = ignored.partition(".")
        candidates = tables.values() if table == "*" else [tables.get(table, [])]
        if not any(column in columns for columns in candidates):
            raise ConfigError(pack_path, f"ignored_columns.{ignored}", "the schema has no such column")


def _hash(path: Path) -> str:
    """SHA-256 over all files of the folder; hidden files and caches are left out."""
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        name = file.relative_to(path)
        if any(part.startswith(".") or part == "__pycache__" for part in name.parts):
            continue
        content = file.read_bytes()
        digest.update(f"{name.as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
