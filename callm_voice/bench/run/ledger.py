"""What has become of each planned call, read from the run's folders alone: nothing is remembered anywhere else.

calls/PACK/TASK/MODEL/LINE/tN        the call that counts
invalid/PACK/TASK/MODEL/LINE/tN/aK   attempts that do not
superseded/.../tN/sK                 scored calls that were made again on request
deaths.json                          call → how often its worker died, against calls that kill their workers
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from callm_voice.bench.run.plan import PlannedCall, RunPlan
from callm_voice.bench.run.store import Store
from callm_voice.core.record import CallRecord
from callm_voice.core.runfolder import EVENTS_FILE, RECORD_FILE, STATE_FILE, dump_record

DEATHS_FILE = "deaths.json"
Kind = Literal["harness", "infrastructure", "caller"]
KINDS: tuple[Kind, ...] = ("harness", "infrastructure", "caller")


@dataclass
class Standing:
    """One planned call."""

    call: PlannedCall
    status: Literal["open", "pass", "fail"] = "open"
    invalid: list[Kind] = field(default_factory=list)
    """Of each attempt that does not count."""
    deaths: int = 0
    cost_usd: float = 0.0
    """Of all attempts, the caller's model included."""
    unpriced: int = 0
    """Attempts whose cost nobody knows."""
    allowed: int = 3

    @property
    def attempts(self) -> int:
        """That count against the cap."""
        return len(self.invalid) + self.deaths

    @property
    def used_up(self) -> bool:
        """No attempt is left, and none was valid."""
        return self.status == "open" and self.attempts >= self.allowed


class Ledger:
    """The standings of a run.

    Args:
        store: the run's files.
        settle: put in order what a killed planner left (an invalid call that still stands among the valid ones).
    """

    def __init__(self, store: Store, plan: RunPlan, *, settle: bool = True) -> None:
        self._store, self._plan = store, plan
        self.standings = {call.id: Standing(call) for call in plan.calls}
        self._deaths = _read_json(store, DEATHS_FILE)
        finished = store.finished()
        for standing in self.standings.values():
            standing.allowed = plan.args.invalid_cap + plan.more_attempts.get(standing.call.id, 0)
            standing.deaths = int(self._deaths.get(standing.call.id, 0))
            self._read(standing, finished, settle)
        by_folder = {folder_of(plan, call): call.id for call in plan.calls}
        for folder in sorted(finished):
            if folder.startswith("superseded/"):
                owner = by_folder.get("calls/" + str(PurePosixPath(folder).parent).removeprefix("superseded/"))
                if owner is not None:
                    self._count_cost(self.standings[owner], self._outline(folder))

    def take(self, call_id: str, record: CallRecord) -> Standing:
        """A finished call whose folder stands under `calls`; an invalid one is moved out of there."""
        standing = self.standings[call_id]
        self._place(standing, record.outcome.status, record.outcome.invalid_kind)
        self._count_cost(standing, _outline_of(record.model_dump(mode="json")))
        return standing

    def add_invalid(self, call_id: str, record: CallRecord) -> Standing:
        """An attempt that left no folder of its own."""
        standing = self.standings[call_id]
        folder = self._attempt_folder(standing)
        self._store.write(f"{folder}/{EVENTS_FILE}", b"")
        self._store.write(f"{folder}/{STATE_FILE}", b"{}\n")
        self._store.write(f"{folder}/{RECORD_FILE}", dump_record(record).encode())
        self._store.remove(folder_of(self._plan, standing.call) + ".partial")
        standing.invalid.append(record.outcome.invalid_kind or "harness")
        return standing

    def add_death(self, call_id: str) -> Standing:
        """The worker that made it died: the call is unfinished."""
        standing = self.standings[call_id]
        standing.deaths += 1
        self._deaths[call_id] = standing.deaths
        self._store.write(DEATHS_FILE, json.dumps(self._deaths, indent=1).encode())
        return standing

    @property
    def cost_usd(self) -> float:
        """What is known of the costs of all attempts."""
        return sum(standing.cost_usd for standing in self.standings.values())

    def _read(self, standing: Standing, finished: set[str], settle: bool) -> None:
        folder = folder_of(self._plan, standing.call)
        number = 1
        while (attempt := f"{_invalid(folder)}/a{number}") in finished:
            outline = self._outline(attempt)
            standing.invalid.append(outline["kind"] or "harness")
            self._count_cost(standing, outline)
            number += 1
        if folder in finished:
            outline = self._outline(folder)
            self._count_cost(standing, outline)
            if settle or outline["status"] != "invalid":
                self._place(standing, outline["status"], outline["kind"])

    def _place(
        self, standing: Standing, status: Literal["pass", "fail", "invalid", "unscored"], kind: Kind | None
    ) -> None:
        if status in ("pass", "fail"):
            standing.status = status
        else:
            self._store.move(folder_of(self._plan, standing.call), self._attempt_folder(standing))
            standing.invalid.append(kind or "harness")

    def _attempt_folder(self, standing: Standing) -> str:
        return f"{_invalid(folder_of(self._plan, standing.call))}/a{len(standing.invalid) + 1}"

    def _outline(self, folder: str) -> dict[str, Any]:
        return _outline_of(_read_json(self._store, f"{folder}/{RECORD_FILE}"))

    def _count_cost(self, standing: Standing, outline: dict[str, Any]) -> None:
        standing.cost_usd += outline["cost_usd"]
        standing.unpriced += outline["unpriced"]


def folder_of(plan: RunPlan, call: PlannedCall) -> str:
    """The call's folder, from the run's."""
    return plan.spec(call, ".").folder().as_posix()


def _invalid(folder: str) -> str:
    return "invalid/" + folder.removeprefix("calls/")


def _outline_of(record: dict[str, Any]) -> dict[str, Any]:
    """What the planner needs of a record."""
    outcome = record.get("outcome", {})
    costs = [record.get("cost_usd")]
    if record.get("caller_usage"):
        costs.append(record.get("caller_cost_usd"))
    return {
        "status": outcome.get("status", "invalid"),
        "kind": outcome.get("invalid_kind"),
        "cost_usd": sum(cost for cost in costs if cost is not None),
        "unpriced": int(None in costs),
    }


def _read_json(store: Store, path: str) -> dict[str, Any]:
    """A JSON object, or nothing."""
    try:
        found = json.loads(store.read(path) or b"{}")
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}
