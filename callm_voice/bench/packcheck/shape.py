"""The pack as a whole: its transfer graph, what is never used, and how long its prompts are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from callm_voice.bench.packcheck.findings import Problems, TaskReport
from callm_voice.desk.pack import PACK_FILE, Pack
from callm_voice.desk.roles import Role
from callm_voice.desk.tools import TRANSFER_PREFIX

PROSE, SCHEMA = 4.2, 3.95
"""Characters a token. Over the roles of the benchmark's packs this comes within 3 % of Qwen2.5's own tokenizer, and it
is the same on every machine."""
TOKEN_METHOD = f"estimate: {PROSE} characters of prose, {SCHEMA} of schema a token"

MIN_TASKS, MIN_ROLES, MIN_TOOLS, MIN_TABLES, MIN_CATEGORIES = 36, 7, 25, 12, 6
PROMPT_TOKENS = (2_500, 7_000)


def prompt_tokens(role: Role) -> int:
    """What the role's model is sent before anything was said: prompt, policies, tool schemas."""
    schemas = json.dumps(list(role.tool_schemas), ensure_ascii=False)
    return round(len(role.system_prompt) / PROSE + len(schemas) / SCHEMA)


def check_pack(pack: Pack, reports: Sequence[TaskReport], problems: Problems) -> None:
    """What is wrong with any pack, however small."""
    offered = {name for role in pack.roles.values() for name in role.tools}
    used = {name for report in reports for name in report.used}
    for name in pack.tools:
        if name not in offered:
            problems.add(pack.path / "tools.py", name, "no role has this tool")
        elif name not in used:
            problems.add(pack.path / "tools.py", name, "no task uses this tool")
    gone_to = {name.removeprefix(TRANSFER_PREFIX) for name in used if name.startswith(TRANSFER_PREFIX)}
    for name in pack.roles:
        if name != pack.file.start_role and name not in gone_to:
            problems.add(pack.path / "agents" / f"{name}.md", "", "no task goes to this role")
    titles = Counter(pack.task(report.id).title for report in reports if _readable(report))
    for title, count in titles.items():
        if count > 1:
            problems.add(pack.path / PACK_FILE, "", f"{count} tasks have the title {title!r}")
    if not reports:
        problems.add(pack.path / PACK_FILE, "", "the pack has no tasks")


def check_bars(pack: Pack, reports: Sequence[TaskReport], problems: Problems) -> None:
    """What a pack of the benchmark's own has at least."""
    for bar in _bars(pack, reports):
        problems.add(pack.path / PACK_FILE, "", bar)
    for name, role in pack.roles.items():
        tokens = prompt_tokens(role)
        if not PROMPT_TOKENS[0] <= tokens <= PROMPT_TOKENS[1]:
            words = f"{tokens:,} prompt tokens ({TOKEN_METHOD}), not {PROMPT_TOKENS[0]:,} to {PROMPT_TOKENS[1]:,}"
            problems.add(pack.path / "agents" / f"{name}.md", "", words)


def tables(pack: Pack) -> int:
    """How many tables the schema has."""
    return len(pack.seed_state())


def _bars(pack: Pack, reports: Sequence[TaskReport]) -> Iterator[str]:
    counted = {
        "tasks": (len(reports), MIN_TASKS),
        "roles": (len(pack.roles), MIN_ROLES),
        "tools": (len(pack.tools), MIN_TOOLS),
        "tables": (tables(pack), MIN_TABLES),
    }
    for what, (count, least) in counted.items():
        if count < least:
            yield f"{count} {what}, fewer than {least}"
    levels: dict[str, set[str]] = {}
    for report in reports:
        number, _, rest = report.id.removeprefix("C").partition("-")
        levels.setdefault(number, set()).add(rest[:1])
    if len(levels) < MIN_CATEGORIES:
        yield f"tasks in {len(levels)} categories, fewer than {MIN_CATEGORIES}"
    for number, letters in sorted(levels.items()):
        if lacking := sorted(set("EMH") - letters):
            yield f"category {number} has no task of difficulty {', '.join(lacking)}"
    start = pack.file.start_role
    if all(start in (name, to) for name, role in pack.roles.items() for to in role.transfers):
        yield f"the transfer graph is a star: every edge begins or ends at {start}"


def _readable(report: TaskReport) -> bool:
    return bool(report.used)
