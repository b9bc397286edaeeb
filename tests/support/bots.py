"""Bots that run elsewhere, in processes of their own: started, asked for their port, ended by closing their stdin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
END_LIMIT_S = 60


@contextmanager
def bot(
    script: str, *args: str, env: dict[str, str] | None = None, log: Path | None = None, exit_code: int = 0
) -> Iterator[int]:
    """Run `tests/support/SCRIPT`; its port. What it says on stderr goes to `log`, and it must end with `exit_code`."""
    environment = {**os.environ, **(env or {})}
    with (log or Path(os.devnull)).open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, str(FOLDER / script), *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            assert first, "the bot ended before it listened"
            yield json.loads(first)["port"]
        finally:
            process.stdin.close()
            try:
                process.wait(END_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise
            finally:
                process.stdout.close()
        said = log.read_text("utf-8", errors="replace") if log is not None else ""
        assert process.returncode == exit_code, f"the bot ended with exit code {process.returncode}: {said}"


@contextmanager
def media_bot(folder: Path, steps: list[dict[str, Any]]) -> Iterator[str]:
    """A bot that works off a script (media_bot.py); its URL."""
    script = folder / "steps.json"
    script.write_text(json.dumps(steps), encoding="utf-8")
    with bot("media_bot.py", str(script), log=folder / "bot.log") as port:
        yield f"ws://127.0.0.1:{port}/media"
