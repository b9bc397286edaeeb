"""The suite polices itself: every module carries one category, threads and child processes do not leak."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

CATEGORIES = {"unit", "property", "golden", "meta", "conversation", "faults", "realtime", "models", "browser"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test without exactly one category."""
    wrong = [i.nodeid for i in items if len(CATEGORIES & {m.name for m in i.iter_markers()}) != 1]
    if wrong:
        raise pytest.UsageError("tests without exactly one category marker: " + ", ".join(wrong[:5]))


@pytest.fixture(autouse=True)
def no_leaked_engine_threads() -> Iterator[None]:
    """A clock that a test made must have been closed, or its pool must be empty."""
    before = {t.ident for t in threading.enumerate()}
    yield
    left = [t for t in threading.enumerate() if t.ident not in before and t.name.startswith("callm-")]
    for thread in left:
        thread.join(timeout=2)
    alive = [t.name for t in left if t.is_alive()]
    assert not alive, f"threads were left running: {alive}"
