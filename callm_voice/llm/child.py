"""What our server processes share: the ready line, and the end of the parent."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable
from typing import Any

PARENT_CHECK_S = 1.0
"""How often the parent is looked for, besides waiting for the end of stdin."""


def take_stdout() -> Callable[[dict[str, Any]], None]:
    """Keep stdout for the ready line alone: whatever a library prints goes to stderr from now on.

    Returns:
        the function that writes the ready line.
    """
    ready_fd = os.dup(1)
    os.dup2(2, 1)

    def announce(ready: dict[str, Any]) -> None:
        with os.fdopen(ready_fd, "w", encoding="utf-8") as out:
            out.write(json.dumps(ready) + "\n")

    return announce


def wait_for_parent_end() -> None:
    """Block until stdin ends or the parent is gone (another process that it forked may hold the pipe)."""
    parent = os.getppid()
    while os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin.fileno()], [], [], PARENT_CHECK_S)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            return
