"""A small desk for the verifier's tests: a seed, a gold, and the call that plays it exactly. Invented people only."""

from __future__ import annotations

import copy
import itertools
from typing import Any

from verifier.gold import ChangedRow, ExpectedCall, Gold, GoldFile, TableChange
from verifier.trace import Handoff, State, ToolCall, Trace

SEED: State = {
    "patients": [
        {"id": "pat_ana", "name": "Ana Field", "dob": "1980-02-03", "balance_cents": 48000, "email": None},
        {"id": "pat_bo", "name": "Bo Hill", "dob": "1991-11-30", "balance_cents": 0, "email": "bo@example.org"},
    ],
    "appointments": [
        {"id": 1, "patient_id": "pat_bo", "start": "2026-08-20T10:00", "status": "booked", "created_at": "seed"},
        {"id": 2, "patient_id": "pat_ana", "start": "2026-08-21T15:00", "status": "booked", "created_at": "seed"},
    ],
    "slots": [
        {"slot_id": "s1", "start": "2026-08-24T09:00", "open": 1},
        {"slot_id": "s2", "start": "2026-08-25T11:30", "open": 1},
    ],
    "links": [],
}

GOLD = Gold(
    path=("identity", "scheduling"),
    calls=(
        ExpectedCall(tool="transfer_to_identity", args={"next_intent": "scheduling"}),
        ExpectedCall(tool="verify_identity", args={"full_name": "Ana Field", "dob": "1980-02-03"}),
        ExpectedCall(tool="transfer_to_scheduling"),
        ExpectedCall(tool="find_slots", args={"location_ids": ["loc_a", "loc_b"]}),
        ExpectedCall(tool="move", args={"appointment_id": 2, "new_start": "2026-08-24T09:00"}),
        ExpectedCall(tool="send_link", args={"mobile": "+12125550133"}),
    ),
    state={
        "appointments": TableChange(changed=(ChangedRow(where={"id": 2}, set={"start": "2026-08-24T09:00"}),)),
        "slots": TableChange(cleared=({"slot_id": "s1"},)),
        "links": TableChange(written=({"id": 1, "mobile": "+12125550133", "amount_cents": None},)),
    },
)

GOLD_FILE = GoldFile(
    task="demo/C1-E1",
    gold=GOLD,
    seed=SEED,
    ignored_columns={"*.created_at": "wall time of the insert"},
    arg_types={
        "verify_identity": {"full_name": "name", "dob": "date"},
        "move": {"appointment_id": "integer", "new_start": "datetime"},
        "send_link": {"mobile": "phone"},
    },
)


def tool_call(name: str, args: dict[str, Any], *, ok: bool = True, error: str | None = None, n: int = 0) -> ToolCall:
    """A call that ran; with `ok=False` one that was refused, with `error` one that never ran."""
    transfer = name.startswith("transfer_to_")
    output = {"success": ok} if transfer else {"ok": ok, "data": {}, "error_code": None}
    return ToolCall(
        call_id=f"c{n}", role="router", name=name, args=args, output=output, ok=ok, is_transfer=transfer, error=error
    )


def perfect_trace() -> Trace:
    """Every expected call once, in order, and the transfers that go with them."""
    calls = tuple(tool_call(want.tool, dict(want.args), n=n) for n, want in enumerate(GOLD.calls))
    roles = ("router", *GOLD.path)
    handoffs = tuple(Handoff(from_role=a, to_role=b) for a, b in itertools.pairwise(roles))
    return Trace(start_role="router", calls=calls, handoffs=handoffs)


def perfect_state() -> State:
    """The database as gold wants it at hang-up."""
    state = copy.deepcopy(SEED)
    state["appointments"][1]["start"] = "2026-08-24T09:00"
    del state["slots"][0]
    state["links"].append({"id": 1, "mobile": "+12125550133", "amount_cents": None})
    return state
