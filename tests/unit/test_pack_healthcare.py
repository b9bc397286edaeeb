"""The healthcare desk: gold of each task through the real tools, the outputs that the page prints, the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from callm_voice.bench.gold import gold_file, load_gold
from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.pack import Pack, load_pack
from verifier.gold import GoldFile
from verifier.trace import Handoff, State, ToolCall, Trace
from verifier.verify import verify

pytestmark = pytest.mark.unit

HEALTHCARE = installed_data_dir() / "packs" / "healthcare"
TASKS = sorted(path.stem for path in (HEALTHCARE / "tasks").glob("*.yaml"))
MARIA = {"full_name": "Maria Alvarez", "dob": "1972-06-30"}

CONSULT = {
    "id": 2,
    "patient_id": "pat_maria_alvarez",
    "location_id": "loc_park_ave",
    "provider_id": "prov_chen",
    "appointment_type_code": "COS_CONSULT",
    "start": "2026-08-21T15:00",
    "end": "2026-08-21T15:30",
    "description": "Botox consult",
    "status": "booked",
    "created_at": "2026-11-11 01:06:12",
}


def _slot(number: int, start: str, end: str) -> dict[str, str]:
    return {
        "slot_id": f"slot_loc_park_ave_{number}",
        "location_id": "loc_park_ave",
        "location": "Park Avenue",
        "provider_id": "prov_chen",
        "provider": "Dr. Amy Chen, MD, FAAD",
        "start": start,
        "end": end,
    }


PRINTED: dict[str, dict[str, Any]] = {
    "verify_identity": {"verified": True, "patient_id": "pat_maria_alvarez"},
    "get_patient_summary": {
        "patient_id": "pat_maria_alvarez",
        "name": "Maria Alvarez",
        "language": "en",
        "home_office": "Park Avenue",
        "upcoming_appointments": [CONSULT],
        "balance_cents": 48000,
        "insurance": {"carrier": "Cigna", "plan_name": "Open Access Plus", "member_id_last4": "6778"},
        "portal_active": False,
        "open_orders": [],
        "clinical_flags": [],
    },
    "get_account_balance": {
        "balance_cents": 48000,
        "line_items": [
            {"line_item_id": "li_noshow", "description": "Missed-visit fee", "amount_cents": 5000},
            {"line_item_id": "li_visit", "description": "Office visit balance", "amount_cents": 43000},
        ],
    },
    "explain_charge": {
        "line_item_id": "li_visit",
        "approved_script": "That charge is the portion of your visit your insurance applied to your deductible "
        "or copay after the claim processed.",
    },
    "offer_financing": {"eligible": True, "provider": "CareCredit", "note": None},
    "send_payment_link": {"sent": True, "channel": "sms", "mobile_e164": "+12125550133", "amount_cents": None},
    "find_slots": {
        "slots": [
            _slot(1, "2026-08-24T09:00", "2026-08-24T09:30"),
            _slot(2, "2026-08-25T11:30", "2026-08-25T12:00"),
            _slot(3, "2026-08-26T14:00", "2026-08-26T14:30"),
        ],
        "count": 3,
    },
    "reschedule_appointment": {
        "appointment": {**CONSULT, "start": "2026-08-24T09:00", "end": "2026-08-24T09:30"},
        "status": "rescheduled",
        "fee_cents": 0,
        "note": "Rescheduling never costs anything — say so.",
    },
}
"""Tool → `data` of its answer in C5-H1, key for key as the published page of the benchmark prints it."""

OFFICES = [
    {
        "id": "loc_park_ave",
        "name": "Park Avenue",
        "zip": "10016",
        "offers_cosmetic": True,
        "address": "386 Park Avenue South, New York, NY 10016",
        "floor": "4th floor",
        "suite": "Suite 410",
        "hours": "Mon-Fri 8am-5pm, Sat 9am-1pm",
        "services": "medical, surgical, cosmetic, allergy",
        "transit": "One block from the 6 train at 33rd Street",
        "parking": "Garage next door on East 27th",
    },
    {
        "id": "loc_brooklyn_heights",
        "name": "Brooklyn Heights",
        "zip": "11201",
        "offers_cosmetic": True,
        "address": "142 Montague Street, Brooklyn, NY 11201",
        "floor": "2nd floor",
        "suite": "Suite 2B",
        "hours": "Mon-Fri 8am-5pm",
        "services": "medical, surgical, cosmetic, allergy",
        "transit": "Two blocks from Borough Hall",
        "parking": "Street parking; garage on Clinton Street",
    },
    {
        "id": "loc_windermere",
        "name": "Windermere",
        "zip": "34786",
        "offers_cosmetic": False,
        "address": "7600 Conroy Windermere Road, Windermere, FL 34786",
        "floor": "Ground floor",
        "suite": "Suite 100",
        "hours": "Mon-Fri 8am-5pm",
        "services": "medical, surgical, allergy",
        "transit": "No transit nearby",
        "parking": "Free surface lot",
    },
]


@cache
def healthcare() -> Pack:
    return load_pack(HEALTHCARE)


class Desk:
    """One call's database, driven by hand: each call runs in whichever role has the tool."""

    def __init__(self) -> None:
        self.pack = healthcare()
        self.database = self.pack.open_database()
        self.dispatcher = self.pack.dispatcher(self.database)
        self.role = self.pack.role(self.pack.file.start_role)
        self.calls: list[ToolCall] = []
        self.handoffs: list[Handoff] = []

    def run(self, tool: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run a call in the role that holds the floor and keep it for the trace."""
        answer = self.dispatcher.run(self.role, tool, args or {})
        call_id = f"call_{len(self.calls) + 1}"
        self.calls.append(
            ToolCall(
                call_id=call_id,
                role=self.role.name,
                name=tool,
                args=args or {},
                output=answer.output,
                ok=answer.ok,
                is_transfer=answer.is_transfer,
            )
        )
        if answer.to_role is not None:
            self.handoffs.append(Handoff(from_role=self.role.name, to_role=answer.to_role))
            self.role = self.pack.role(answer.to_role)
        return answer.output

    def anywhere(self, tool: str, **args: Any) -> dict[str, Any]:
        """Run a call in the first role that has the tool, whoever holds the floor."""
        self.role = next(role for role in self.pack.roles.values() if tool in role.tools)
        return self.run(tool, args)

    def trace(self) -> Trace:
        return Trace(start_role=self.pack.file.start_role, calls=tuple(self.calls), handoffs=tuple(self.handoffs))

    def state(self) -> State:
        return self.database.dump()


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.database.close()


@pytest.fixture
def maria(desk: Desk) -> Desk:
    """A desk that has verified Maria Alvarez."""
    assert desk.anywhere("verify_identity", **MARIA)["ok"]
    return desk


def gold_of(task_id: str) -> GoldFile:
    pack = healthcare()
    gold = load_gold(pack.task_path(task_id))
    return gold_file(f"healthcare/{task_id}", gold, pack.seed_state(), pack.file.ignored_columns, pack.arg_types())


def play_gold(desk: Desk, task_id: str) -> list[dict[str, Any]]:
    return [desk.run(call.tool, dict(call.args)) for call in load_gold(healthcare().task_path(task_id)).gold.calls]


# --- gold -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_id", TASKS)
def test_gold_calls_through_the_real_tools_pass_all_gates(desk: Desk, task_id: str) -> None:
    for step in load_gold(healthcare().task_path(task_id)).dialogue:
        if "call" in step:
            desk.run(step["call"], step.get("args", {}))
    verdict = verify(desk.trace(), desk.state(), gold_of(task_id))
    assert verdict.passed, verdict


@pytest.mark.parametrize("task_id", TASKS)
def test_doing_nothing_leaves_calls_and_rows_missing(desk: Desk, task_id: str) -> None:
    verdict = verify(desk.trace(), desk.state(), gold_of(task_id))
    assert (verdict.tools.passed, verdict.state.passed) == (False, False)


@pytest.mark.parametrize("task_id", TASKS)
def test_what_the_dialogue_calls_beside_gold_writes_nothing(desk: Desk, task_id: str) -> None:
    task = load_gold(healthcare().task_path(task_id))
    played = [(step["call"], step.get("args", {})) for step in task.dialogue if "call" in step]
    for call in task.gold.calls:
        index = next(
            i for i, (tool, args) in enumerate(played) if tool == call.tool and call.args.items() <= args.items()
        )
        played.pop(index)
    for tool, args in played:
        before = desk.state()
        if not tool.startswith("transfer_to_"):
            desk.anywhere(tool, **args)
        assert desk.state() == before, tool


@pytest.mark.parametrize("tool", PRINTED)
def test_c5_h1_answers_as_the_page_prints(desk: Desk, tool: str) -> None:
    play_gold(desk, "C5-H1")
    output = next(call.output for call in desk.calls if call.name == tool)
    assert output == {"data": PRINTED[tool], "error_code": None, "ok": True, "patient_safe_message": None}
    assert json.dumps(output["data"]) == json.dumps(PRINTED[tool])  # the order of the keys, too


def test_list_locations_answers_as_the_page_prints(desk: Desk) -> None:
    assert desk.anywhere("list_locations", location_id="loc_park_ave")["data"] == {"locations": OFFICES}


def test_the_extra_calls_of_the_page_do_not_fail_c5_h1(desk: Desk) -> None:
    """`max_results`, `new_slot_id` and a look at the offices are extra arguments and calls."""
    for call in load_gold(healthcare().task_path("C5-H1")).gold.calls:
        extra: dict[str, dict[str, Any]] = {
            "find_slots": {"max_results": 3},
            "reschedule_appointment": {"new_slot_id": "slot_loc_park_ave_1"},
        }
        if call.tool == "find_slots":
            desk.run("list_locations", {"location_id": "loc_park_ave"})
        desk.run(call.tool, {**call.args, **extra.get(call.tool, {})})
    assert verify(desk.trace(), desk.state(), gold_of("C5-H1")).passed


def test_every_reading_tool_leaves_the_seed_as_it_is(maria: Desk) -> None:
    maria.anywhere("identify_patient", first_name="Maria", last_name="Alvares", dob="1972-06-30")
    for tool in ("get_patient_summary", "list_locations", "list_providers", "list_appointment_types"):
        assert maria.anywhere(tool)["ok"]
    for tool in ("get_account_balance", "list_payments", "offer_financing"):
        assert maria.anywhere(tool)["ok"]
    assert maria.anywhere("explain_charge", line_item_id="li_visit")["ok"]
    assert maria.anywhere("get_practice_fact", topic="results")["ok"]
    assert maria.anywhere("find_slots", location_ids=["loc_park_ave", "loc_windermere"])["ok"]
    assert maria.state() == healthcare().seed_state()


# --- identity -------------------------------------------------------------------------------------------------------

OF_A_CHART: dict[str, dict[str, Any]] = {
    "get_patient_summary": {},
    "get_account_balance": {},
    "explain_charge": {"line_item_id": "li_visit"},
    "list_payments": {},
    "offer_financing": {},
    "send_payment_link": {"mobile_e164": "+12125550133"},
    "request_charge_review": {"line_item_id": "li_visit", "reason": "Too much."},
    "book_appointment": {"slot_id": "slot_loc_park_ave_1", "appointment_type_code": "MED_FOLLOWUP"},
    "reschedule_appointment": {"appointment_id": 2, "new_start": "2026-08-24T09:00", "new_end": "2026-08-24T09:30"},
    "cancel_appointment": {"appointment_id": 2},
    "confirm_appointment": {"appointment_id": 2},
    "join_waitlist": {"location_id": "loc_park_ave", "appointment_type_code": "MED_FOLLOWUP"},
}


@pytest.mark.parametrize("tool", OF_A_CHART)
def test_nothing_of_a_chart_without_a_verified_caller(desk: Desk, tool: str) -> None:
    output = desk.anywhere(tool, **OF_A_CHART[tool])
    assert (output["ok"], output["error_code"], output["data"]) == (False, "identity_not_verified", None)
    assert desk.state() == healthcare().seed_state()


@pytest.mark.parametrize(
    "tool", ["reschedule_appointment", "cancel_appointment", "confirm_appointment", "explain_charge"]
)
def test_another_patients_rows_are_out_of_reach(desk: Desk, tool: str) -> None:
    desk.anywhere("verify_identity", full_name="Maria Alvares", dob="1972-03-06")
    output = desk.anywhere(tool, **OF_A_CHART[tool])
    assert output["error_code"] in {"appointment_unknown", "charge_unknown"}
    assert desk.state() == healthcare().seed_state()


@pytest.mark.parametrize(("first", "last"), [("Maria", "Alvares"), ("Mariah", "Albarez"), ("marya", "ALVAREZ")])
def test_a_misheard_name_is_found_by_sound(desk: Desk, first: str, last: str) -> None:
    data = desk.anywhere("identify_patient", first_name=first, last_name=last, dob="1972-06-30")["data"]
    assert data["read_back"] == {"full_name": "Maria Alvarez", "dob": "1972-06-30"}
    assert (data["match"], data["spell_it_back"]) == ("sounds_alike", True)


def test_the_spelled_name_is_found_exactly_whatever_its_case(desk: Desk) -> None:
    data = desk.anywhere("identify_patient", first_name="maria", last_name="ALVAREZ", dob="1972-06-30")["data"]
    assert (data["match"], data["spell_it_back"]) == ("exact", False)


@pytest.mark.parametrize(
    ("last", "dob"), [("Alvarado", "1972-06-30"), ("Alvarez", "1972-06-03"), ("Okafor", "1972-06-30")]
)
def test_a_wrong_name_or_date_finds_nobody(desk: Desk, last: str, dob: str) -> None:
    output = desk.anywhere("identify_patient", first_name="Maria", last_name=last, dob=dob)
    assert (output["ok"], output["error_code"], output["data"]) == (False, "no_match", None)


def test_twins_are_spelled_back_and_never_confused(desk: Desk) -> None:
    data = desk.anywhere("identify_patient", first_name="Daniel", last_name="Okafor", dob="1985-11-02")["data"]
    assert (data["read_back"]["full_name"], data["spell_it_back"]) == ("Daniel Okafor", True)
    output = desk.anywhere("identify_patient", first_name="Danyel", last_name="Okafor", dob="1985-11-02")
    assert output["error_code"] == "several_match"


def test_verification_wants_the_spelling_of_the_chart(desk: Desk) -> None:
    assert (
        desk.anywhere("verify_identity", full_name="Maria Alvares", dob="1972-06-30")["error_code"]
        == "identity_mismatch"
    )
    assert desk.anywhere("verify_identity", full_name="maria  alvarez", dob="1972-06-30")["ok"]


def test_three_failed_checks_close_the_check_for_this_call(desk: Desk) -> None:
    codes = [
        desk.anywhere("verify_identity", full_name=n, dob="1972-06-30")["error_code"] for n in ("A B", "C D", "E F")
    ]
    assert codes == ["identity_mismatch", "identity_mismatch", "identity_locked"]
    assert desk.anywhere("verify_identity", **MARIA)["error_code"] == "identity_locked"
    assert desk.anywhere("get_patient_summary")["error_code"] == "identity_not_verified"


def test_a_new_patient_is_registered_once_and_counts_as_verified(desk: Desk) -> None:
    details = {
        "first_name": "Ines",
        "last_name": "Duarte",
        "dob": "1999-01-31",
        "mobile_e164": "+12125550176",
        "zip_code": "10003",
        "home_location_id": "loc_park_ave",
    }
    assert desk.anywhere("register_new_patient", **details)["data"]["patient_id"] == "pat_ines_duarte"
    assert desk.anywhere("register_new_patient", **details)["error_code"] == "already_registered"
    assert desk.anywhere("get_patient_summary")["data"]["name"] == "Ines Duarte"


# --- billing --------------------------------------------------------------------------------------------------------


def test_a_link_goes_only_to_the_mobile_on_the_chart(maria: Desk) -> None:
    output = maria.anywhere("send_payment_link", mobile_e164="+12125550123")
    assert output["error_code"] == "mobile_not_on_file"
    assert maria.state() == healthcare().seed_state()


@pytest.mark.parametrize("again", [{}, {"amount_cents": 48000}])
def test_a_link_that_is_sent_again_is_one_link(maria: Desk, again: dict[str, int]) -> None:
    first = maria.anywhere("send_payment_link", mobile_e164="+12125550133")
    assert maria.anywhere("send_payment_link", mobile_e164="212-555-0133", **again) == first
    assert len(maria.state()["payment_links"]) == len(healthcare().seed_state()["payment_links"]) + 1


@pytest.mark.parametrize("amount", [0, -100, 48001])
def test_a_link_cannot_be_for_more_than_is_owed(maria: Desk, amount: int) -> None:
    output = maria.anywhere("send_payment_link", mobile_e164="+12125550133", amount_cents=amount)
    assert output["error_code"] == "amount_not_payable"


def test_part_payments_are_taken_off_what_is_owed(desk: Desk) -> None:
    """Samuel Ortega: $146.00 less $46.00 paid, and a $50.00 fee; below the least balance for financing."""
    desk.anywhere("verify_identity", full_name="Samuel Ortega", dob="1966-12-19")
    assert desk.anywhere("get_account_balance")["data"]["balance_cents"] == 15000
    assert desk.anywhere("offer_financing")["data"]["eligible"] is False


def test_a_charge_is_put_up_for_review_once(maria: Desk) -> None:
    for _ in range(2):
        assert maria.anywhere("request_charge_review", line_item_id="li_noshow", reason="I called ahead.")["ok"]
    assert len(maria.state()["charge_reviews"]) == len(healthcare().seed_state()["charge_reviews"]) + 1


# --- scheduling -----------------------------------------------------------------------------------------------------

TO_MONDAY = {"appointment_id": 2, "new_start": "2026-08-24T09:00", "new_end": "2026-08-24T09:30"}


def test_moving_twice_to_the_same_time_changes_nothing_more(maria: Desk) -> None:
    first = maria.anywhere("reschedule_appointment", **TO_MONDAY)
    state = maria.state()
    assert maria.anywhere("reschedule_appointment", **TO_MONDAY) == first
    assert maria.state() == state


@pytest.mark.parametrize(
    ("start", "end", "code"),
    [
        ("2026-08-24T09:30", "2026-08-24T10:00", "slot_taken"),
        ("2026-08-18T13:00", "2026-08-18T13:30", "slot_taken"),
        ("2026-08-24T09:00", "2026-08-24T10:00", "slot_unknown"),
        ("2026-08-27T08:30", "2026-08-27T09:00", "provider_does_not_do_this"),
    ],
)
def test_a_visit_moves_only_to_a_free_time_that_fits(maria: Desk, start: str, end: str, code: str) -> None:
    """Taken, blocked, not a slot, and a provider without cosmetic consults."""
    output = maria.anywhere("reschedule_appointment", appointment_id=2, new_start=start, new_end=end)
    assert output["error_code"] == code
    assert maria.state() == healthcare().seed_state()


def test_the_time_that_a_moved_visit_had_is_free_again(maria: Desk) -> None:
    maria.anywhere("reschedule_appointment", **TO_MONDAY)
    free = maria.anywhere("find_slots", location_ids=["loc_park_ave"], latest="2026-08-24")["data"]["slots"]
    assert [slot["start"] for slot in free] == ["2026-08-21T15:00"]


def test_a_second_visit_of_the_same_kind_is_not_booked(maria: Desk) -> None:
    output = maria.anywhere("book_appointment", slot_id="slot_loc_park_ave_2", appointment_type_code="COS_CONSULT")
    assert (output["error_code"], output["data"]["id"]) == ("already_booked", 2)


def test_booking_twice_is_one_visit(maria: Desk) -> None:
    wanted = {"slot_id": "slot_loc_park_ave_2", "appointment_type_code": "MED_FOLLOWUP"}
    assert maria.anywhere("book_appointment", **wanted) == maria.anywhere("book_appointment", **wanted)
    assert len(maria.state()["appointments"]) == len(healthcare().seed_state()["appointments"]) + 1


def test_a_visit_of_today_is_cancelled_only_with_the_fee_accepted(desk: Desk) -> None:
    desk.anywhere("verify_identity", full_name="Jerome Baptiste", dob="1982-08-30")
    assert desk.anywhere("cancel_appointment", appointment_id=29)["error_code"] == "fee_not_accepted"
    assert desk.anywhere("cancel_appointment", appointment_id=29, fee_accepted=True)["data"]["fee_cents"] == 5000
    assert desk.anywhere("cancel_appointment", appointment_id=29)["data"]["status"] == "cancelled"
    assert desk.anywhere("get_account_balance")["data"]["balance_cents"] == 22400 + 5000


def test_an_unknown_office_is_answered_with_those_that_there_are(desk: Desk) -> None:
    output = desk.anywhere("find_slots", location_ids=["Park Avenue"])
    assert output["error_code"] == "location_ids_unknown"
    assert output["data"]["known"] == ["loc_brooklyn_heights", "loc_park_ave", "loc_windermere"]


def test_a_message_goes_to_the_team_of_its_topic(maria: Desk) -> None:
    for _ in range(2):
        assert (
            maria.anywhere("take_message", topic="medical_question", message="Asks if it hurts.")["data"]["team"]
            == "nurses"
        )
    assert len(maria.state()["messages"]) == len(healthcare().seed_state()["messages"]) + 1


# --- prompts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(healthcare().roles))
def test_what_a_role_sees_is_of_production_length(name: str) -> None:
    """Prompt, policies and tool schemas: 2,500 to 7,000 tokens, at four characters a token."""
    role = healthcare().role(name)
    assert 2500 <= (len(role.system_prompt) + len(json.dumps(role.tool_schemas))) / 4 <= 7000


def test_every_tool_belongs_to_a_role() -> None:
    assert {tool for role in healthcare().roles.values() for tool in role.tools} == set(healthcare().tools)
