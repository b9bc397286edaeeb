"""A role of the desk: front matter, prompt with its policies, placeholders filled, tools as the model sees them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from callm_voice.core.errors import ConfigError
from callm_voice.core.yamlfile import load_model, load_yaml_text
from callm_voice.desk.formats import RoleFile, TransferSpec
from callm_voice.desk.toolkit import iso
from callm_voice.desk.tools import Tool, transfer_schema
from callm_voice.llm.types import ToolSchema

_PLACEHOLDER = re.compile(r"\{\{(?P<literal>[a-z_]+)\}\}|\{(?P<name>[a-z_]+)\}")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True)
class Role:
    """One agent of the desk."""

    name: str
    title: str
    system_prompt: str
    tools: tuple[str, ...]
    transfers: Mapping[str, TransferSpec]
    """Role that it can transfer to → the edge."""
    tool_schemas: tuple[ToolSchema, ...]
    """Its tools in the order of the front matter, then its transfers."""


def written_date(day: dt.date) -> str:
    """`Tuesday, August 18, 2026`, whatever the machine's locale."""
    return f"{_WEEKDAYS[day.weekday()]}, {_MONTHS[day.month - 1]} {day.day}, {day.year}"


def placeholders(business: str, now: dt.datetime) -> dict[str, str]:
    """What `{business}`, `{today}` and `{now}` (ISO, to the minute) stand for in prompts. `{{now}}` stays `{now}`."""
    return {"business": business, "today": written_date(now), "now": iso(now.replace(second=0, microsecond=0))}


def load_role(path: Path, policies: Path, tools: Mapping[str, Tool], values: Mapping[str, str]) -> Role:
    """Read `agents/ROLE.md`.

    Raises:
        ConfigError: no front matter, a wrong key, an unknown tool, policy or placeholder, or an empty prompt.
    """
    front, body = _split(path)
    file = load_model(path, RoleFile, front)
    for name in file.tools:
        if name not in tools:
            raise ConfigError(path, "tools", f"tools.py has no tool {name!r}; it has: {', '.join(sorted(tools))}")
    parts = [_filled(path, body, values)]
    for policy in file.policies:
        policy_path = policies / f"{policy}.md"
        if not policy_path.is_file():
            raise ConfigError(path, "policies", f"there is no policy {policy!r}: {policy_path} does not exist")
        parts.append(_filled(policy_path, _read(policy_path), values))
    transfers = {transfer.role: transfer for transfer in file.transfers}
    for what, listed in (("tools", file.tools), ("transfers", [t.role for t in file.transfers])):
        if len(set(listed)) < len(listed):
            raise ConfigError(path, what, "an entry stands twice")
    schemas = (*(tools[n].schema() for n in file.tools), *(transfer_schema(t) for t in file.transfers))
    return Role(path.stem, file.title, "\n\n".join(parts), file.tools, transfers, schemas)


def _split(path: Path) -> tuple[dict[str, object], str]:
    """Front matter between two `---` lines, and the body."""
    lines = _read(path).splitlines()
    if not lines or lines[0].rstrip() != "---" or "---" not in (line.rstrip() for line in lines[1:]):
        raise ConfigError(path, "", "expected front matter between two lines of ---", line=1)
    end = next(i for i, line in enumerate(lines) if i and line.rstrip() == "---")
    front = load_yaml_text("\n".join(["", *lines[1:end]]), path)
    if not isinstance(front, dict):
        raise ConfigError(path, "", "the front matter is not a mapping of keys", line=1)
    return front, "\n".join(lines[end + 1 :])


def _filled(path: Path, text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled."""

    def fill(match: re.Match[str]) -> str:
        if match["literal"]:
            return "{" + match["literal"] + "}"
        if match["name"] not in values:
            known = ", ".join("{" + name + "}" for name in values)
            line = _read(path).count("\n", 0, _read(path).find(match[0])) + 1
            raise ConfigError(path, match[0], f"unknown placeholder; known: {known}", line=line)
        return values[match["name"]]

    if not text.strip():
        raise ConfigError(path, "", "the prompt is empty")
    return _PLACEHOLDER.sub(fill, text.strip())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(path, "", f"cannot be read: {error}") from error
