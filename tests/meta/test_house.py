"""The house polices itself: docs do not drift, nothing points off the repository."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.meta
ROOT = Path(__file__).parents[2]


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split() if (ROOT / name).is_file()]


pytestmark = [
    pytest.mark.meta,
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="these look at the repository, not at an installation"),
]


def test_the_command_line_reference_is_what_the_commands_say() -> None:
    from callm_voice.cli.reference import reference

    assert (ROOT / "docs/cli.md").read_text(encoding="utf-8") == reference()


def test_no_package_registry_is_named() -> None:
    host = re.compile(r"(py" + r"pi|pythonho" + r"sted|npm" + r"js)\.(org|com)")
    naming = [p.name for p in tracked() if p.suffix != ".flac" and host.search(p.read_text("utf-8", errors="ignore"))]
    assert naming == []


def test_no_machine_path_stands_in_the_repository() -> None:
    path = re.compile(r"(?<![\w.])/(wo" + r"rk|home|ro" + r"ot)/[a-z]")
    naming = [
        str(p.relative_to(ROOT))
        for p in tracked("*.py", "*.md", "*.yaml", "*.toml", "Makefile")
        if path.search(p.read_text("utf-8"))
    ]
    assert naming == []


def test_product_files_are_small_enough_to_find_a_room_in() -> None:
    long = {
        str(p.relative_to(ROOT)): n
        for p in tracked("callm_voice/*.py", "verifier/*.py")
        if (n := len(p.read_text("utf-8").splitlines())) > 400
    }
    assert long == {}
