"""What `packs check` reports: counts per pack, and a problem for each thing that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from callm_voice.core.errors import ConfigError
from callm_voice.core.yamlfile import line_of


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(_Frozen):
    """One thing that is wrong, and where."""

    task: str = ""
    """Task id; empty: of the pack."""
    file: str
    """Relative to the pack's folder."""
    line: int | None = None
    key: str = ""
    problem: str

    def one_line(self) -> str:
        """`tasks/C1-E1.yaml:12: gold.calls.2: what is wrong`."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.key}: {self.problem}" if self.key else f"{where}: {self.problem}"


class Origin(_Frozen):
    """Where one argument of one gold call comes from."""

    key: str
    """`calls.3.args.dob`."""
    tool: str
    value: Any
    origin: str
    """In words, such as `trait date_of_birth` or `get_patient_summary: upcoming_appointments.id`; empty: from nowhere,
    so the task leaves it undetermined."""
    from_caller: bool = False
    """The caller says it."""


class TaskReport(_Frozen):
    """One task."""

    id: str
    gold_pass: bool = False
    """The dialogue's calls through the real tools pass all gates."""
    noop_fail: bool = False
    """Doing nothing fails."""
    mutations: int = 0
    mutations_caught: int = 0
    oracle_complete: bool = False
    """The dialogue brings the scripted caller to its end in text mode, and the call passes."""
    origins: tuple[Origin, ...] = ()
    used: tuple[str, ...] = ()
    """Tools that gold or the dialogue calls."""
    inaudible: tuple[str, ...] | None = None
    """Arguments that no spoken form of brings across; None: not listened to."""
    problems: tuple[Problem, ...] = ()

    @property
    def ambiguous(self) -> int:
        """Arguments that nothing determines."""
        return sum(not origin.origin for origin in self.origins)


class PackReport(_Frozen):
    """One pack."""

    id: str
    tasks: int
    roles: int
    tools: int
    tables: int
    prompt_tokens_min: int
    prompt_tokens_max: int
    token_method: str
    reports: tuple[TaskReport, ...]
    problems: tuple[Problem, ...]
    """Of the pack and of its tasks."""

    def document(self, *, origins: bool = False) -> dict[str, Any]:
        """As `--json` prints it."""
        found: dict[str, Any] = {
            "id": self.id,
            "tasks": self.tasks,
            "roles": self.roles,
            "tools": self.tools,
            "tables": self.tables,
            "prompt_tokens_min": self.prompt_tokens_min,
            "prompt_tokens_max": self.prompt_tokens_max,
            "gold_pass": sum(r.gold_pass for r in self.reports),
            "noop_fail": sum(r.noop_fail for r in self.reports),
            "mutations": sum(r.mutations for r in self.reports),
            "mutations_caught": sum(r.mutations_caught for r in self.reports),
            "oracle_complete": sum(r.oracle_complete for r in self.reports),
            "ambiguous": sum(r.ambiguous for r in self.reports),
        }
        if any(r.inaudible is not None for r in self.reports):
            found["inaudible"] = sum(len(r.inaudible or ()) for r in self.reports)
        found["token_method"] = self.token_method
        found["problems"] = [p.model_dump(mode="json") for p in self.problems]
        if origins:
            found["origins"] = {r.id: [o.model_dump(mode="json") for o in r.origins] for r in self.reports}
        return found


class Problems:
    """Collects the problems of one pack or task.

    Args:
        folder: of the pack; files are named relative to it.
        task: id of the task, or empty.
    """

    def __init__(self, folder: Path, task: str = "") -> None:
        self._folder, self._task = folder, task
        self.found: list[Problem] = []

    def add(self, file: Path, key: str, problem: str) -> None:
        """A problem under a key of a file; its line is looked up in YAML files."""
        line = line_of(file, key.split(".")) if key and file.suffix == ".yaml" else None
        self._add(file, line, key, problem)

    def add_error(self, error: ConfigError) -> None:
        """A problem that loading found."""
        self._add(Path(error.path), error.line, error.key, error.expected)

    def _add(self, file: Path, line: int | None, key: str, problem: str) -> None:
        name = file.relative_to(self._folder).as_posix() if file.is_relative_to(self._folder) else str(file)
        self.found.append(Problem(task=self._task, file=name, line=line, key=key, problem=problem))
