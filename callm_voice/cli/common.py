"""What every command shares: answers on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer
from rich.console import Console

JSON_OPTION = typer.Option(False, "--json", help="Print one JSON document on stdout; everything else goes to stderr.")

err = Console(stderr=True, highlight=False)
out = Console(highlight=False)


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


def say(text: str) -> None:
    """One line for the person at the terminal, on stderr. Never interpreted as markup."""
    err.print(text, markup=False, soft_wrap=True)
