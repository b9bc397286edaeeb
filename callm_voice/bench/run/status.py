"""Where a run stands, as one document."""

from __future__ import annotations

import json
from typing import Any

from callm_voice.bench.run.ledger import KINDS, Ledger, Standing
from callm_voice.bench.run.lock import is_locked
from callm_voice.bench.run.planner import PROGRESS_FILE
from callm_voice.bench.run.session import the_plan
from callm_voice.bench.run.store import Store


def status(store: Store) -> dict[str, Any]:
    """Done, left, running, outcomes by model, cost, time left. Reads only.

    Raises:
        ConfigError: it is no planned run.
    """
    plan = the_plan(store)
    standings = list(Ledger(store, plan, settle=False).standings.values())
    working = store.local is not None and is_locked(store.local)
    progress = _progress(store) if working else {}
    done = sum(s.status != "open" for s in standings)
    used_up = [s.call.id for s in standings if s.used_up]
    return {
        "run": store.name,
        "state": "running" if working else "finished" if done + len(used_up) == len(standings) else "unfinished",
        "calls": len(standings),
        "done": done,
        "left": len(standings) - done - len(used_up),
        "running": progress.get("running", []),
        "passed": sum(s.status == "pass" for s in standings),
        "failed": sum(s.status == "fail" for s in standings),
        "used_up": used_up,
        "cost_usd": _cost(standings),
        "unpriced_attempts": sum(s.unpriced for s in standings),
        "max_cost_usd": plan.args.max_cost,
        "eta_s": progress.get("eta_s"),
        "models": [_of_model(model, [s for s in standings if s.call.model == model]) for model in _models(standings)],
        "superseded": [entry.model_dump() for entry in plan.superseded],
    }


def tally(store: Store) -> dict[str, dict[str, int]]:
    """`PACK/TASK MODEL` → how many trials passed, failed, are open: the scoreboard, for comparing two runs."""
    found: dict[str, dict[str, int]] = {}
    for standing in Ledger(store, the_plan(store), settle=False).standings.values():
        call = standing.call
        row = found.setdefault(f"{call.pack}/{call.task} {call.model}", {"pass": 0, "fail": 0, "open": 0})
        row[standing.status] += 1
    return found


def _models(standings: list[Standing]) -> list[str]:
    return list(dict.fromkeys(s.call.model for s in standings))


def _of_model(model: str, standings: list[Standing]) -> dict[str, Any]:
    return {
        "model": model,
        "calls": len(standings),
        "done": sum(s.status != "open" for s in standings),
        "passed": sum(s.status == "pass" for s in standings),
        "failed": sum(s.status == "fail" for s in standings),
        "invalid": {kind: sum(s.invalid.count(kind) for s in standings) for kind in KINDS},
        "used_up": sum(s.used_up for s in standings),
        "cost_usd": _cost(standings),
    }


def _cost(standings: list[Standing]) -> float | None:
    """What is known of it; None if nothing is."""
    attempts = sum(len(s.invalid) + (s.status != "open") for s in standings)
    unpriced = sum(s.unpriced for s in standings)
    return sum(s.cost_usd for s in standings) if attempts > unpriced else None


def _progress(store: Store) -> dict[str, Any]:
    try:
        found = json.loads(store.read(PROGRESS_FILE) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
