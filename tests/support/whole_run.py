"""A whole run through the command line: its process, its workers, its scoreboard."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from support.cli import Ran, callm, command, hearing_ctrl_c

from callm_voice.core.paths import installed_data_dir

AT_ONCE = "oracle?ttft_ms=0&tokens_per_s=10000"


def copied_pack(name: str, into: Path) -> Path:
    """A pack that nobody else edits."""
    return Path(shutil.copytree(installed_data_dir() / "packs" / name, into / name))


def run_args(out: Path | str, packs: Path | str, models: str, *more: str) -> tuple[str, ...]:
    """A run without audio."""
    return (
        "run", "--packs", str(packs), "--models", models, "--lines", "text", "--pipeline", "scripted",
        "--out", str(out), *more,
    )  # fmt: skip


def run_json(out: Path | str, packs: Path | str, models: str, *more: str, env: dict[str, str] | None = None) -> Ran:
    """Make it; `--json`."""
    return callm(*run_args(out, packs, models, *more, "--json"), env=env)


def start_run(args: tuple[str, ...], log: Path) -> subprocess.Popen[bytes]:
    """Start it; its stderr is appended to a file. It may keep compiled modules, as everywhere but in a sandbox: a run
    that is killed often starts many processes, and each would compile the whole product."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with log.open("ab") as file, hearing_ctrl_c():
        return subprocess.Popen(command(*args), stdout=subprocess.DEVNULL, stderr=file, env=env)


def children(pid: int) -> list[int]:
    """Processes whose parent is `pid`, by the kernel's table (Linux)."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return sorted(found)


def is_alive(pid: int) -> bool:
    """Whether a process of this number runs (Linux)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def board(out: Path) -> Any:
    """The scoreboard: task and model → how many trials passed, failed, are open."""
    from callm_voice.bench.run.status import tally
    from callm_voice.bench.run.store import open_store

    return tally(open_store(str(out)))
