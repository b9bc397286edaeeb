"""`python -m callm_voice.cli.reference [--check]`: writes docs/cli.md from the commands' own help."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from callm_voice.cli.commands import app

TARGET = Path("docs/cli.md")
HEAD = """# Command line

Made by `python -m callm_voice.cli.reference` from the commands' own help; CI compares it.

`callm-voice --version` prints the version, `--help` behind any command its help. `python -m callm_voice` is the same
program. Answers go to stdout, all else to stderr. Exit codes: 0 ok, 1 a bar or check failed, 2 usage, 3 environment or
an invalid call, 130 interrupted; a command that means something closer by them says so.
"""


def reference() -> str:
    """The whole page. Typer carries its own copy of click, so commands are told apart by their attributes."""
    root = typer.main.get_command(app)
    parts = [HEAD]
    for path, command in _commands(root, ["callm-voice"]):
        parts.append(_section(path, command))
    return "\n".join(parts)


def _commands(command: Any, path: list[str]) -> Iterator[tuple[list[str], Any]]:
    if hasattr(command, "commands"):
        for name, sub in command.commands.items():
            yield from _commands(sub, [*path, name])
    else:
        yield path, command


def _section(path: list[str], command: Any) -> str:
    lines = [f"## `{' '.join(path)}`", "", (command.help or "").strip(), ""]
    lines += ["| parameter | default | meaning |", "|---|---|---|"]
    for parameter in command.params:
        if parameter.param_type_name == "option":
            name = ", ".join(f"`{o}`" for o in parameter.opts)
            elsewhere = f"; also `{parameter.envvar}` in the environment" if parameter.envvar else ""
            text = (parameter.help or "") + elsewhere
        else:
            name = f"`{parameter.metavar or (parameter.name or '').upper()}`"
            text = getattr(parameter, "help", "") or ""
        default = "required" if parameter.required else _default(parameter.default)
        lines.append(f"| {name} | {default} | {text.replace('|', '/')} |")
    return "\n".join(lines) + "\n"


def _default(value: object) -> str:
    return "" if value is None or value is False or value == () else f"`{value}`"


def main() -> None:
    """Write the page, or with `--check` exit with 1 if it differs."""
    page = reference()
    if "--check" in sys.argv[1:]:
        current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        sys.exit(0 if current == page else "docs/cli.md is stale: run python -m callm_voice.cli.reference")
    TARGET.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
