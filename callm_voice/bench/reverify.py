"""Recompute the verdict of a finished call from its folder alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callm_voice.core.errors import ConfigError
from callm_voice.core.runfolder import GOLD_FILE, STATE_FILE, load_record
from verifier.gold import GoldFile
from verifier.trace import State
from verifier.verdict import Verdict
from verifier.verify import verify


@dataclass(frozen=True)
class Reverified:
    """One call's verdict, new beside recorded."""

    folder: str
    status: str
    verdict: Verdict | None
    same: bool

    def as_json(self) -> dict[str, Any]:
        verdict = self.verdict.model_dump(mode="json") if self.verdict else None
        return {"call": self.folder, "status": self.status, "same": self.same, "verdict": verdict}

    def line(self) -> str:
        if self.verdict is None:
            return f"{self.status + ' ':8}{self.folder}  (no verdict: the call does not count)"
        gates = "  ".join(
            f"{name} {'ok' if gate.passed else 'MISS'}"
            for name, gate in (
                ("tools", self.verdict.tools),
                ("path", self.verdict.path),
                ("state", self.verdict.state),
            )
        )
        drift = "" if self.same else "  DIFFERS FROM THE RECORDED VERDICT"
        return f"{'pass' if self.verdict.passed else 'fail':8}{self.folder}  {gates}{drift}"


def reverify_call(folder: Path, *, relative_to: Path) -> Reverified:
    """Verify one finished call again.

    Raises:
        ConfigError: a file of the call is missing or not in the form of this version.
    """
    record = load_record(folder)
    name = str(folder.relative_to(relative_to)) if folder != relative_to else str(folder)
    if record.outcome.status in ("invalid", "unscored"):
        return Reverified(name, record.outcome.status, None, same=record.verdict is None)
    gold = GoldFile.model_validate(_load(folder / GOLD_FILE))
    state: State = _load(folder / STATE_FILE)
    verdict = verify(record.trace, state, gold)
    return Reverified(name, record.outcome.status, verdict, same=verdict == record.verdict)


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(path, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(path, "", f"not valid JSON: {error}") from error
