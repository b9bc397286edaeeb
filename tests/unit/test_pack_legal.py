"""The legal desk: gold of each task through the real tools, the callers' ends, and the rules that the tools enforce."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from callm_voice.bench.gold import TaskGold, gold_file, load_gold
from callm_voice.bench.packcheck.play import HandDesk
from callm_voice.caller.check import check_brief
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.caller.text import TextDialogue, talk
from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.formats import TaskFile
from callm_voice.desk.pack import Pack, load_pack
from callm_voice.llm.oracle_script import check_script
from verifier.verify import verify

pytestmark = pytest.mark.unit

LEGAL = installed_data_dir() / "packs" / "legal"
TASKS = sorted(path.stem for path in (LEGAL / "tasks").glob("*.yaml"))
NADIA = {"full_name": "Nadia Brooks", "dob": "1988-05-09"}
LAURA = {"full_name": "Laura Bennett", "dob": "1981-02-08"}
OLIVIA = {"full_name": "Olivia Barrett", "dob": "1969-11-19"}
ANGELA = {"first_name": "Angela", "last_name": "Moss", "mobile_e164": "+13125550161"}


@cache
def legal() -> Pack:
    return load_pack(LEGAL)


@cache
def task_of(task_id: str) -> TaskFile:
    return legal().task(task_id)


@cache
def gold_of(task_id: str) -> TaskGold:
    return load_gold(legal().task_path(task_id))


class Desk(HandDesk):
    """One call's desk, worked by hand."""

    def anywhere(self, tool: str, **args: Any) -> dict[str, Any]:
        """Run a call in the first role that has the tool, whoever holds the floor."""
        self.role = next(role for role in self.pack.roles.values() if tool in role.tools)
        return self.call(tool, args).output

    def code(self, tool: str, **args: Any) -> str | None:
        """The error code of a call."""
        return self.anywhere(tool, **args)["error_code"]

    @property
    def untouched(self) -> bool:
        """Whether the database is as it was seeded."""
        return self.database.dump() == self.pack.seed_state()

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows that are new."""
        seeded = self.pack.seed_state()[table]
        return [row for row in self.database.dump()[table] if row not in seeded]


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk(legal())
    yield made
    made.close()


# --- tasks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_id", TASKS)
def test_gold_calls_through_the_real_tools_pass_all_gates(desk: Desk, task_id: str) -> None:
    pack, gold = legal(), gold_of(task_id)
    file = gold_file(f"legal/{task_id}", gold, pack.seed_state(), pack.file.ignored_columns, pack.arg_types())
    for step in gold.dialogue:
        if "call" in step:
            desk.call(step["call"], step.get("args", {}))
    played = desk.played()
    verdict = verify(played.trace, played.state, file)
    assert verdict.passed, verdict


@pytest.mark.parametrize(("task_id", "tool"), [("C1-H1", "check_conflicts"), ("C4-M2", "copy"), ("C3-H1", "reminder")])
def test_the_order_of_writes_that_belong_together_is_free(desk: Desk, task_id: str, tool: str) -> None:
    """Two names checked the other way round, the new copy or reminder made before the old one goes."""
    pack, gold = legal(), gold_of(task_id)
    file = gold_file(f"legal/{task_id}", gold, pack.seed_state(), pack.file.ignored_columns, pack.arg_types())
    steps = [step for step in gold.dialogue if "call" in step]
    first, second = (i for i, step in enumerate(steps) if tool in step["call"])
    steps[first], steps[second] = steps[second], steps[first]
    for step in steps:
        desk.call(step["call"], step.get("args", {}))
    played = desk.played()
    assert verify(played.trace, played.state, file).passed


@pytest.mark.parametrize("task_id", TASKS)
def test_the_brief_and_the_dialogue_have_no_problem(task_id: str) -> None:
    path = legal().task_path(task_id)
    assert check_brief(task_of(task_id).brief) == []
    check_script(gold_of(task_id).dialogue, path)


class OracleFloors:
    """The agent's floors: what the dialogue says up to each `hear`, and its `else` if the words do not match."""

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self.steps, self.at = steps, 0

    async def turn(self, words: str | None) -> str:
        step = self.steps[self.at]
        if words is not None:
            patterns = step["hear"].get("any_of", [])
            if patterns and not any(re.search(p, words, re.IGNORECASE) for p in patterns):
                return str(step["else"])
            self.at += 1
        said = []
        while self.at < len(self.steps) and "hear" not in self.steps[self.at]:
            said.append(self.steps[self.at].get("say", ""))
            self.at += 1
        return " ".join(part for part in said if part)


@pytest.mark.parametrize("task_id", TASKS)
async def test_the_oracles_dialogue_brings_the_caller_to_its_end_without_repeating_itself(task_id: str) -> None:
    caller = ScriptedCaller(task_of(task_id).brief)
    floors = OracleFloors(gold_of(task_id).dialogue)
    dialogue: TextDialogue = await talk(caller, floors.turn, max_turns=40)
    assert caller.finished == "done", dialogue
    lines = [turn for turn in dialogue.turns if turn.party == "caller"]
    assert not [turn for turn in lines if "repeats its ask" in turn.why]
    assert all(turn.beat or turn.why.startswith(("asked for", "confirms", "spells")) for turn in lines), dialogue


REWORDED: dict[str, tuple[tuple[str, str], ...]] = {
    "asks before each step": (
        (r"Is that right\?", "Is that correct?"),
        (r"Shall I (\w+)", r"Would you like me to \1"),
        (r"^It's (booked|sent|moved|cancelled|confirmed|noted|changed|ordered)", r"That has been \1"),
        (r"^I've (sent) (the (payment )?link)", r"\2 has been sent"),
        (r"Which one would you like\?", "Do any of those work for you?"),
    ),
    "asks whether there is anything else": (
        (r"Is that right\?", "Did I get that right?"),
        (r"Shall I (\w+)", r"Should I go ahead and \1"),
        (r"^(It's \w+ed|It's sent|I've \w+)([^?]*)$", r"\1\2 Is there anything else I can help you with today?"),
    ),
    "says what it is going to do": (
        (r"\. Is that right\?", ", correct?"),
        (r"Shall I ([^?]*)\?", r"Just to confirm, I'll \1. Okay?"),
        (r"^It's (booked|moved|confirmed)", r"You're all set. It is now \1"),
        (r"^It's sent", "I just sent it to you"),
        (r"Which one would you like\?", ""),
    ),
}
"""Habit of an agent → how the oracle's words are put instead."""


class RewordedFloors(OracleFloors):
    """The same floors in other words."""

    def __init__(self, steps: list[dict[str, Any]], changes: tuple[tuple[str, str], ...]) -> None:
        super().__init__(
            [{**step, "say": self._put(step["say"], changes)} if "say" in step else step for step in steps]
        )

    @staticmethod
    def _put(words: str, changes: tuple[tuple[str, str], ...]) -> str:
        for pattern, other in changes:
            words = re.sub(pattern, other, words)
        return words


@pytest.mark.parametrize("habit", REWORDED)
@pytest.mark.parametrize("task_id", [t for t in TASKS if "-H" in t])
async def test_the_caller_comes_to_its_end_with_an_agent_that(habit: str, task_id: str) -> None:
    caller = ScriptedCaller(task_of(task_id).brief)
    floors = RewordedFloors(gold_of(task_id).dialogue, REWORDED[habit])
    dialogue = await talk(caller, floors.turn, max_turns=50)
    assert caller.finished == "done", dialogue
    assert not [turn for turn in dialogue.turns if "repeats its ask" in turn.why]


def test_each_category_has_easy_medium_and_hard_tasks() -> None:
    kinds = {(task_id[:2], task_id[3]) for task_id in TASKS}
    assert kinds == {(f"C{n}", level) for n in range(1, 7) for level in "EMH"}
    assert {task_of(t).category for t in TASKS} == set(legal().file.categories.values())


def test_every_tool_is_of_a_role_and_of_a_task() -> None:
    used = {call.tool for t in TASKS for call in gold_of(t).gold.calls}
    assert {tool for role in legal().roles.values() for tool in role.tools} == set(legal().tools)
    assert set(legal().tools) <= used


@pytest.mark.parametrize("name", sorted(legal().roles))
def test_what_a_role_sees_is_of_production_length(name: str) -> None:
    """Prompt, policies and tool schemas: 2,500 to 7,000 tokens, at four characters a token."""
    role = legal().role(name)
    assert 2500 <= (len(role.system_prompt) + len(json.dumps(role.tool_schemas))) / 4 <= 7000


def _make_seed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("legal_make_seed", LEGAL / "make_seed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_seed_is_what_its_script_writes() -> None:
    assert _make_seed().make() == (LEGAL / "seed.sql").read_text(encoding="utf-8")


def test_only_those_meant_to_be_alike_share_a_birthday_and_a_sound() -> None:
    clients = legal().seed_state()["clients"]
    shared = [c["first_name"] for c in clients if sum(c["dob"] == other["dob"] for other in clients[:30]) > 1]
    assert shared == ["Karin", "Karen"]


# --- privilege ------------------------------------------------------------------------------------------------------

OF_A_FILE: dict[str, dict[str, Any]] = {
    "get_client_overview": {},
    "update_mobile": {"old_mobile_e164": "+13125550131", "new_mobile_e164": "+13125550199"},
    "list_appointments": {},
    "find_slots": {"type_code": "CLIENT_MEETING", "matter_number": "2610"},
    "book_appointment": {"slot_id": "slot_fisher_0917_1100", "type_code": "PHONE_UPDATE", "matter_number": "2610"},
    "reschedule_appointment": {"appointment_id": 5, "new_slot_id": "slot_singh_0917_1100"},
    "cancel_appointment": {"appointment_id": 5},
    "confirm_appointment": {"appointment_id": 5},
    "join_waitlist": {"matter_number": "2610", "type_code": "SIGNING"},
    "leave_waitlist": {"matter_number": "2417", "type_code": "SIGNING"},
    "get_account_balance": {},
    "get_invoice": {"invoice_number": "10418"},
    "explain_line": {"line_id": "il_10418_1"},
    "list_payments": {},
    "get_trust_statement": {"matter_number": "2901"},
    "request_trust_payment": {"invoice_number": "10418"},
    "request_trust_refund": {"matter_number": "2901"},
    "check_payment_plan": {"invoice_number": "10481"},
    "start_payment_plan": {"invoice_number": "10481", "months": 6},
    "send_payment_link": {"invoice_number": "10418", "mobile_e164": "+13125550143"},
    "dispute_line": {"line_id": "il_10418_1", "reason": "Too much."},
    "list_documents": {"matter_number": "2610"},
    "send_document": {"document_id": "doc_2610_1", "channel": "email"},
    "report_document_sent": {"document_id": "doc_2719_1"},
    "request_copy": {"matter_number": "2610", "kind": "full_file"},
    "withdraw_copy_request": {"matter_number": "2751", "kind": "full_file"},
    "get_matter_status": {"matter_number": "2610"},
    "list_deadlines": {"matter_number": "2610"},
    "report_deadline_done": {"deadline_id": "dl_brooks_answers"},
    "request_extension": {"deadline_id": "dl_brooks_answers", "reason": "Ill."},
    "set_reminder": {"deadline_id": "dl_brooks_answers", "send_on": "2026-09-21"},
    "remove_reminder": {"deadline_id": "dl_brooks_answers", "send_on": "2026-09-16"},
    "list_hearings": {"matter_number": "2246"},
    "confirm_hearing": {"hearing_id": "hear_marsh"},
}


@pytest.mark.parametrize("tool", OF_A_FILE)
def test_nothing_of_a_file_without_a_verified_client(desk: Desk, tool: str) -> None:
    output = desk.anywhere(tool, **OF_A_FILE[tool])
    assert (output["ok"], output["error_code"], output["data"]) == (False, "identity_not_verified", None)
    assert desk.untouched


@pytest.mark.parametrize("tool", [t for t, args in OF_A_FILE.items() if args and t != "update_mobile"])
def test_another_clients_file_is_out_of_reach(desk: Desk, tool: str) -> None:
    desk.anywhere("verify_identity", full_name="Alice Duncan", dob="1987-07-07")
    assert desk.anywhere(tool, **OF_A_FILE[tool])["ok"] is False
    assert desk.untouched


def test_a_question_for_an_attorney_needs_the_clients_own_matter(desk: Desk) -> None:
    words = {"topic": "legal_question", "message": "Should I sign?", "matter_number": "2610"}
    assert desk.code("take_message", **words) == "identity_not_verified"
    desk.anywhere("verify_identity", **LAURA)
    assert desk.anywhere("take_message", **words)["data"] == {"your_matters": ["2417", "2471"]}
    assert desk.untouched


def test_a_second_message_of_a_topic_replaces_the_first(desk: Desk) -> None:
    desk.anywhere("take_message", topic="third_party", message="Called.")
    desk.anywhere("take_message", topic="third_party", message="Wants a call.", callback_e164="312-555-0181")
    assert [(m["body"], m["callback_e164"]) for m in desk.rows("messages")] == [("Wants a call.", "+13125550181")]


# --- identity -------------------------------------------------------------------------------------------------------


def test_two_who_differ_by_a_letter_are_spelled_back(desk: Desk) -> None:
    data = desk.anywhere("identify_client", first_name="Karin", last_name="Nilsen", dob="1980-03-08")["data"]
    assert (data["read_back"]["full_name"], data["spell_it_back"]) == ("Karin Nilsen", True)
    assert desk.code("identify_client", first_name="Carin", last_name="Nilsen", dob="1980-03-08") == "several_match"


def test_three_failed_checks_close_the_check(desk: Desk) -> None:
    codes = [desk.code("verify_identity", full_name=n, dob="1988-05-09") for n in ("A B", "C D", "E F")]
    assert codes == ["identity_mismatch", "identity_mismatch", "identity_locked"]
    assert desk.code("verify_identity", **NADIA) == "identity_locked"


def test_a_mobile_changes_only_against_the_old_one(desk: Desk) -> None:
    desk.anywhere("verify_identity", **NADIA)
    wrong = {"old_mobile_e164": "+13125550113", "new_mobile_e164": "+13125550199"}
    assert desk.code("update_mobile", **wrong) == "old_mobile_mismatch"
    right = {**wrong, "old_mobile_e164": "+13125550131"}
    assert desk.anywhere("update_mobile", **right) == desk.anywhere("update_mobile", **right)


# --- conflicts and intake -------------------------------------------------------------------------------------------


def check(desk: Desk, name: str, **args: Any) -> dict[str, Any]:
    return desk.anywhere(
        "check_conflicts", **{"other_party": name, "practice_area": "EMPLOYMENT", "spelling_confirmed": True, **args}
    )


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("Catherine Doyle", "conflict"),
        ("catherine doyle", "conflict"),
        ("Kathryn Doyle", "clear"),
        ("Pierce Roofing", "conflict"),
        ("Halcyon Labs", "clear"),
    ],
)
def test_the_firm_does_not_act_against_its_clients_or_their_companies(desk: Desk, name: str, result: str) -> None:
    """Those on the other side of a client's case are no clients; one letter makes another name."""
    desk.anywhere("register_prospect", **ANGELA)
    assert check(desk, name)["data"]["result"] == result


def test_the_other_side_of_an_open_matter_cannot_hire_the_firm(desk: Desk) -> None:
    desk.anywhere("register_prospect", first_name="Todd", last_name="Brenner", mobile_e164="+13125550182")
    assert check(desk, "Granite Tools")["data"]["result"] == "conflict"
    assert desk.code("get_intake_questions", practice_area="EMPLOYMENT") == "conflict"


def test_no_check_without_a_caller_and_a_confirmed_spelling(desk: Desk) -> None:
    assert check(desk, "Summit Foods")["error_code"] == "register_first"
    desk.anywhere("register_prospect", **ANGELA)
    assert check(desk, "Summit Foods", spelling_confirmed=False)["error_code"] == "confirm_spelling"
    assert desk.rows("conflict_checks") == []


def test_a_corrected_spelling_replaces_the_check(desk: Desk) -> None:
    desk.anywhere("register_prospect", **ANGELA)
    check(desk, "Catherine Doyle")
    check(desk, "Kathryn Doyle")
    assert [(c["other_party"], c["result"]) for c in desk.rows("conflict_checks")] == [("Kathryn Doyle", "clear")]


def test_no_fact_is_taken_before_a_clear_check_of_that_area(desk: Desk) -> None:
    fact = {"practice_area": "EMPLOYMENT", "event_on": "2026-09-04", "summary": "Fired."}
    assert desk.code("save_intake", **fact) == "conflict_check_first"
    desk.anywhere("register_prospect", **ANGELA)
    check(desk, "Summit Foods", practice_area="TENANCY")
    assert desk.code("save_intake", **fact) == "conflict_check_first"
    check(desk, "Summit Foods")
    assert desk.anywhere("save_intake", **fact)["ok"]


def test_an_intake_saved_again_is_corrected(desk: Desk) -> None:
    desk.anywhere("register_prospect", **ANGELA)
    check(desk, "Summit Foods")
    fact = {"practice_area": "EMPLOYMENT", "event_on": "2026-08-28", "summary": "Fired."}
    assert desk.anywhere("save_intake", **fact)["data"]["urgent"] is False
    assert desk.anywhere("save_intake", **{**fact, "event_on": "2026-09-04", "court_date": "2026-09-29"})["data"][
        "urgent"
    ]
    assert [(i["event_on"], i["urgent"]) for i in desk.rows("intakes")] == [("2026-09-04", 1)]


def test_a_referral_needs_its_reason_on_record(desk: Desk) -> None:
    desk.anywhere("register_prospect", **ANGELA)
    assert desk.code("record_referral", reason="conflict") == "reason_not_on_record"
    assert desk.anywhere("record_referral", reason="area_closed") == desk.anywhere(
        "record_referral", reason="area_closed"
    )
    assert [p["status"] for p in desk.rows("prospects")] == ["declined"]


def test_a_consultation_needs_an_intake(desk: Desk) -> None:
    desk.anywhere("register_prospect", **ANGELA)
    assert desk.code("book_appointment", slot_id="slot_fisher_0917_1100", type_code="CONSULT") == "intake_first"


# --- calendar -------------------------------------------------------------------------------------------------------


def test_only_papers_that_are_ready_can_be_signed(desk: Desk) -> None:
    desk.anywhere("verify_identity", **LAURA)
    lease = {"slot_id": "slot_singh_0917_1100", "type_code": "SIGNING", "matter_number": "2471"}
    assert desk.code("book_appointment", **lease) == "nothing_to_sign"
    other = {"slot_id": "slot_singh_0917_1100", "type_code": "SIGNING", "matter_number": "2417"}
    assert desk.code("book_appointment", **other) == "other_attorney"


def test_a_preparation_lies_before_the_hearing(desk: Desk) -> None:
    desk.anywhere("verify_identity", full_name="Victor Lang", dob="1973-09-27")
    late = {"slot_id": "slot_osborne_1002_1100", "type_code": "HEARING_PREP", "matter_number": "2644"}
    assert desk.code("book_appointment", **late) == "no_hearing_after"


def test_booking_twice_is_one_appointment_and_another_of_the_kind_is_refused(desk: Desk) -> None:
    desk.anywhere("verify_identity", **LAURA)
    wanted = {"slot_id": "slot_hughes_0917_0900", "type_code": "SIGNING", "matter_number": "2417"}
    assert desk.anywhere("book_appointment", **wanted) == desk.anywhere("book_appointment", **wanted)
    again = {**wanted, "slot_id": "slot_hughes_0917_1530"}
    assert desk.code("book_appointment", **again) == "already_booked"
    assert len(desk.rows("appointments")) == 1


def test_a_cancelled_time_is_free_again(desk: Desk) -> None:
    desk.anywhere("verify_identity", **LAURA)
    assert desk.anywhere("cancel_appointment", appointment_id=5) == desk.anywhere(
        "cancel_appointment", appointment_id=5
    )
    found = desk.anywhere("find_slots", type_code="CLIENT_MEETING", matter_number="2471", earliest="2026-09-18")["data"]
    assert "2026-09-18T15:30" in [slot["start"] for slot in found["slots"]]


# --- money ----------------------------------------------------------------------------------------------------------


def test_money_of_one_matter_never_pays_anothers_invoice(desk: Desk) -> None:
    desk.anywhere("verify_identity", **OLIVIA)
    assert desk.code("request_trust_payment", invoice_number="10481") == "trust_too_low"
    assert desk.anywhere("request_trust_payment", invoice_number="10418")["data"]["amount_cents"] == 76_000
    assert [r["matter_id"] for r in desk.rows("trust_requests")] == ["mat_2901"]


def test_trust_money_stays_while_the_matter_is_open(desk: Desk) -> None:
    desk.anywhere("verify_identity", **OLIVIA)
    assert desk.code("request_trust_refund", matter_number="2901") == "matter_open"
    assert desk.untouched


def test_a_plan_is_rounded_up_and_set_up_once(desk: Desk) -> None:
    desk.anywhere("verify_identity", **OLIVIA)
    plan = desk.anywhere("start_payment_plan", invoice_number="10418", months=6)["data"]
    assert (plan["monthly_cents"], plan["first_due_on"]) == (12_667, "2026-10-01")
    assert desk.anywhere("start_payment_plan", invoice_number="10418", months=6)["data"] == plan
    assert desk.code("start_payment_plan", invoice_number="10418", months=12) == "no_plan"


def test_a_link_goes_only_to_the_mobile_on_file(desk: Desk) -> None:
    desk.anywhere("verify_identity", **OLIVIA)
    link = {"invoice_number": "10418", "mobile_e164": "+13125550134"}
    assert desk.code("send_payment_link", **link) == "mobile_not_on_file"
    assert desk.untouched


# --- papers and deadlines -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("document_id", "code"), [("doc_2733_1", "attorney_only"), ("doc_2733_3", "not_final")])
def test_notes_of_the_attorney_and_drafts_do_not_leave_the_desk(desk: Desk, document_id: str, code: str) -> None:
    desk.anywhere("verify_identity", full_name="Irene Caldwell", dob="1959-12-02")
    assert desk.code("send_document", document_id=document_id, channel="email") == code
    assert desk.untouched


def test_what_the_firm_has_to_do_is_not_the_clients_to_report(desk: Desk) -> None:
    desk.anywhere("verify_identity", full_name="Robert Sandoval", dob="1979-03-17")
    assert desk.code("report_deadline_done", deadline_id="dl_sandoval_reply") == "firm_acts"


@pytest.mark.parametrize("day", ["2026-09-15", "2026-09-24"])
def test_a_reminder_comes_between_tomorrow_and_the_due_day(desk: Desk, day: str) -> None:
    desk.anywhere("verify_identity", **NADIA)
    assert desk.code("set_reminder", deadline_id="dl_brooks_answers", send_on=day) == "day_not_possible"


READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_offices", {"office_id": "off_elm"}), ("list_practice_areas", {}), ("list_attorneys", {}),
    ("get_firm_fact", {"topic": "closing"}), ("get_consultation_fee", {"practice_area": "FAMILY"}),
    ("get_client_overview", {}), ("list_appointments", {}), ("get_account_balance", {}), ("list_payments", {}),
    ("get_invoice", {"invoice_number": "10418"}), ("explain_line", {"line_id": "il_10418_1"}),
    ("get_trust_statement", {"matter_number": "2901"}), ("check_payment_plan", {"invoice_number": "10481"}),
    ("list_documents", {"matter_number": "2910"}), ("get_matter_status", {"matter_number": "2901"}),
    ("list_deadlines", {"matter_number": "2901"}), ("list_hearings", {"matter_number": "2901"}),
    ("find_slots", {"type_code": "CLIENT_MEETING", "matter_number": "2901"}),
)  # fmt: skip


def test_reading_writes_nothing(desk: Desk) -> None:
    desk.anywhere("verify_identity", **OLIVIA)
    assert [tool for tool, args in READS if not desk.anywhere(tool, **args)["ok"]] == []
    assert desk.untouched
