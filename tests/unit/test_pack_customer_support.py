"""The customer support desk: gold through the real tools, what the tools enforce, callers that follow other agents."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from callm_voice.bench.gold import TaskGold, gold_file, load_gold
from callm_voice.caller.base import Say
from callm_voice.caller.check import check_brief
from callm_voice.caller.scripted import ScriptedCaller
from callm_voice.core.paths import installed_data_dir
from callm_voice.desk.pack import Pack, load_pack
from verifier.gold import GoldFile
from verifier.trace import Handoff, State, ToolCall, Trace
from verifier.verify import verify

pytestmark = pytest.mark.unit

FOLDER = installed_data_dir() / "packs" / "customer_support"
TASKS = sorted(path.stem for path in (FOLDER / "tasks").glob("*.yaml"))
LETTERS = ("E", "M", "H")


@cache
def pack() -> Pack:
    return load_pack(FOLDER)


@cache
def gold(task_id: str) -> TaskGold:
    return load_gold(pack().task_path(task_id))


@cache
def seed() -> State:
    return pack().seed_state()


def expected(task_id: str) -> GoldFile:
    file = pack().file
    return gold_file(task_id, gold(task_id), seed(), file.ignored_columns, pack().arg_types())


class Desk:
    """One call's database, driven by hand."""

    def __init__(self) -> None:
        self.database = pack().open_database()
        self.dispatcher = pack().dispatcher(self.database)
        self.role = pack().role(pack().file.start_role)
        self.calls: list[ToolCall] = []
        self.handoffs: list[Handoff] = []

    def run(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """Run a call in the role that holds the floor, and keep it for the trace."""
        answer = self.dispatcher.run(self.role, tool, args)
        self.calls.append(
            ToolCall(
                call_id=f"call_{len(self.calls)}", role=self.role.name, name=tool, args=args, output=answer.output,
                ok=answer.ok, is_transfer=answer.is_transfer,
            )
        )  # fmt: skip
        if answer.to_role is not None:
            self.handoffs.append(Handoff(from_role=self.role.name, to_role=answer.to_role))
            self.role = pack().role(answer.to_role)
        return answer.output

    def anywhere(self, tool: str, **args: Any) -> dict[str, Any]:
        """Run a call in the first role that has the tool, whoever holds the floor."""
        self.role = next(role for role in pack().roles.values() if tool in role.tools)
        return self.run(tool, args)

    def verify(self, name: str, phone: str, zip_code: str, **more: str) -> dict[str, Any]:
        """Find the account and verify the caller."""
        self.anywhere("find_account", full_name=name, phone_e164=phone)
        return self.anywhere("verify_customer", full_name=name, phone_e164=phone, zip_code=zip_code, **more)

    def state(self) -> State:
        return self.database.dump()

    def trace(self) -> Trace:
        return Trace(start_role=pack().file.start_role, calls=tuple(self.calls), handoffs=tuple(self.handoffs))


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.database.close()


def play(desk: Desk, task_id: str) -> list[dict[str, Any]]:
    """Make the calls of a task's dialogue."""
    steps = gold(task_id).dialogue
    return [desk.run(step["call"], dict(step.get("args", {}))) for step in steps if "call" in step]


# --- gold -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_id", TASKS)
def test_the_dialogues_calls_pass_all_gates_and_nothing_is_done_twice(desk: Desk, task_id: str) -> None:
    """Each call of a task, made once more after the task passed, answers well and leaves the database as it is."""
    outputs = play(desk, task_id)
    done = desk.state()
    assert all(output.get("ok", output.get("success")) for output in outputs)
    assert verify(desk.trace(), done, expected(task_id)).passed
    for call in [c for c in desk.calls if not c.is_transfer]:
        old_number = task_id == "C1-M1" and call.name == "find_account"  # the account has another one by now
        assert desk.anywhere(call.name, **call.args)["ok"] or old_number or call.name == "verify_customer", call
    assert desk.state() == done


def test_doing_nothing_fails(desk: Desk) -> None:
    nothing, untouched = desk.trace(), desk.state()
    assert not any(verify(nothing, untouched, expected(task_id)).passed for task_id in TASKS[::9])


def test_the_tasks_cover_six_categories_with_every_difficulty() -> None:
    kinds = {(category, letter) for category in range(1, 7) for letter in LETTERS}
    assert {(int(t[1]), t[3]) for t in TASKS} == kinds
    assert len(TASKS) >= 36


def test_every_tool_is_used_by_some_task() -> None:
    used = {call.tool for t in TASKS for call in gold(t).gold.calls}
    assert set(pack().tools) - used == set()


@pytest.mark.parametrize("task_id", TASKS)
def test_the_brief_has_no_problem(task_id: str) -> None:
    assert check_brief(pack().task(task_id).brief) == []


def test_seed_sql_is_what_its_script_makes() -> None:
    spec = importlib.util.spec_from_file_location("customer_support_make_seed", FOLDER / "make_seed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.make() == (FOLDER / "seed.sql").read_text(encoding="utf-8")


def test_bulk_customers_cannot_be_taken_for_a_tasks_caller() -> None:
    """No two customers share a number, but for the household that a task is about."""
    phones = [c["phone_e164"] for c in seed()["customers"]]
    shared = {phone for phone in phones if phones.count(phone) > 1}
    assert shared == {"+15035550110"}


# --- identity -------------------------------------------------------------------------------------------------------

PUBLIC = {"get_policy", "check_outage", "list_plans", "list_products", "take_message"}
CHECK = {"find_account", "verify_customer"}
CARLA = ("Carla Benson", "+15035550196", "97005")
VALUES: dict[str, Any] = {
    "address_id": "adr_carla_benson_home", "amount_cents": 750, "effective_on": "2026-10-01", "full_name": "Ann Lee",
    "invoice_number": "inv_carla_benson_09", "line_id": "ln_carla_benson_09_1", "method": "mail", "mode": "mail_in",
    "new_phone_e164": "+15035550196", "new_sku": "LANTERN-GRAY", "order_item_id": "itm_430618_1",
    "order_number": "430618", "pay_on": "2026-09-28", "phone_e164": "+15035550196", "plan_code": "FIBER_300",
    "problem": "late", "reason": "defective", "repair_id": 1, "return_id": 2, "scope": "full", "serial": "41069253",
    "slot_id": "slot_westhaven_0918_15", "subscription_id": "sub_carla_benson", "visit_id": 4,
}  # fmt: skip


def some_args(tool: str) -> dict[str, Any]:
    return {a.name: VALUES[a.name] for a in pack().tools[tool].arguments if a.required}


@pytest.mark.parametrize("tool", sorted(set(pack().tools) - PUBLIC - CHECK))
def test_nothing_of_an_account_without_a_verified_caller(desk: Desk, tool: str) -> None:
    output = desk.anywhere(tool, **some_args(tool))
    assert (output["ok"], output["error_code"], output["data"]) == (False, "identity_not_verified", None)
    assert desk.state() == seed()


@pytest.mark.parametrize(
    "tool",
    [
        "get_order", "check_return", "cancel_order_item", "cancel_return", "check_device", "cancel_repair",
        "change_repair_mode",
    ],
)  # fmt: skip
def test_what_belongs_to_others_is_out_of_reach(desk: Desk, tool: str) -> None:
    desk.verify(*CARLA)
    assert desk.anywhere(tool, **some_args(tool))["error_code"].endswith("_unknown")
    assert desk.state() == seed()


def test_verification_wants_the_account_looked_up_first(desk: Desk) -> None:
    args = dict(zip(("full_name", "phone_e164", "zip_code"), CARLA, strict=True))
    assert desk.anywhere("verify_customer", **args)["error_code"] == "look_up_first"


def test_three_wrong_zip_codes_close_the_check(desk: Desk) -> None:
    codes = [desk.verify(CARLA[0], CARLA[1], z)["error_code"] for z in ("97006", "97007", "97008", "97005")]
    assert codes == ["zip_mismatch", "zip_mismatch", "identity_locked", "identity_locked"]


def test_a_name_that_two_of_a_household_sound_like_has_to_be_spelled(desk: Desk) -> None:
    asked = {"phone_e164": "+15035550110"}
    assert desk.anywhere("find_account", full_name="Bryon Hale", **asked)["error_code"] == "several_match"
    found = desk.anywhere("find_account", full_name="bryan hale", **asked)["data"]
    assert (found["read_back"], found["spell_it_back"]) == ("Bryan Hale", True)


def test_a_stranger_is_not_authorized_whatever_they_know(desk: Desk) -> None:
    assert desk.verify(*CARLA, caller_name="Tom Benson")["error_code"] == "not_authorized"
    assert desk.anywhere("list_invoices")["error_code"] == "identity_not_verified"


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("get_subscription", {}),
        ("quote_plan_change", {"plan_code": "FIBER_500"}),
        ("list_orders", {}),
        ("list_invoices", {}),
        ("update_phone", {"new_phone_e164": "+15035550111"}),
    ],
)
def test_service_access_ends_at_service_and_repairs(desk: Desk, tool: str, args: dict[str, Any]) -> None:
    assert desk.verify("Helen Reed", "+15035550139", "97211", caller_name="Marcus Reed")["data"]["acting"] == "service"
    assert desk.anywhere(tool, **args)["error_code"] == "not_for_this_caller"
    assert desk.anywhere("get_service_status")["ok"]
    assert desk.anywhere("list_devices")["ok"]


# --- a read before a write ------------------------------------------------------------------------------------------

LEFT_OUT: list[tuple[str, tuple[str, str, str], str, dict[str, Any], str]] = [
    ("order", ("George Bennett", "+15035550151", "97006"), "open_delivery_trace",
     {"order_number": "402716", "problem": "not_received"}, "read_order_first"),
    ("return", ("Nathan Wells", "+15035550168", "97214"), "open_return",
     {"order_item_id": "itm_430618_1", "reason": "defective", "method": "mail"}, "check_return_first"),
    ("device", ("Samuel Porter", "+15035550181", "97220"), "open_repair",
     {"serial": "41069253", "problem": "Dark.", "mode": "mail_in"}, "check_device_first"),
    ("line", ("Linda Crane", "+15035550194", "97214"), "book_visit",
     {"slot_id": "slot_riverside_0921_13", "problem": "Slow."}, "test_first"),
    ("modem", ("Paul Jennings", "+15035550195", "97210"), "restart_equipment",
     {"subscription_id": "sub_paul_jennings"}, "test_first"),
    ("quote", ("Amy Fletcher", "+15035550113", "97220"), "change_plan",
     {"plan_code": "FIBER_500", "effective_on": "2026-10-01"}, "not_quoted"),
    ("charge", CARLA, "apply_credit", {"line_id": "ln_carla_benson_09_1", "amount_cents": 750}, "explain_first"),
]  # fmt: skip


@pytest.mark.parametrize(("who", "tool", "args", "code"), [row[1:] for row in LEFT_OUT], ids=[r[0] for r in LEFT_OUT])
def test_no_write_about_what_was_not_read(
    desk: Desk, who: tuple[str, str, str], tool: str, args: dict[str, Any], code: str
) -> None:
    desk.verify(*who)
    assert desk.anywhere(tool, **args)["error_code"] == code
    assert desk.state() == seed()


@pytest.mark.parametrize("number", ["412-780", "412 780", "41278", "4127800"])
def test_an_order_number_is_six_bare_digits(desk: Desk, number: str) -> None:
    desk.verify("Rachel Turner", "+15035550161", "97215")
    assert desk.anywhere("get_order", order_number=number)["error_code"] == "order_number_form"


# --- limits and windows ---------------------------------------------------------------------------------------------


def test_what_has_shipped_is_neither_cancelled_nor_sent_elsewhere(desk: Desk) -> None:
    desk.verify("Oliver Grant", "+15035550163", "97220")
    desk.anywhere("get_order", order_number="720355")
    assert desk.anywhere("cancel_order_item", order_item_id="itm_720355_1")["error_code"] == "already_shipped"
    assert desk.anywhere("open_delivery_trace", order_number="720355", problem="late")["error_code"] == "not_late_yet"


@pytest.mark.parametrize(
    ("who", "item", "why"),
    [
        (("Frank Dawson", "+15035550173", "97230"), "itm_318527_1", "window_closed"),
        (("Grace Palmer", "+15035550179", "97210"), "itm_471640_1", "not_returnable"),
        (("Julia Barnes", "+15035550171", "97211"), "itm_445903_1", "already_open"),
        (("Alice Morgan", "+15035550153", "97034"), "itm_477205_1", "not_delivered"),
    ],
)
def test_an_item_that_may_not_come_back_is_refused(desk: Desk, who: tuple[str, str, str], item: str, why: str) -> None:
    desk.verify(*who)
    assert desk.anywhere("check_return", order_item_id=item)["data"]["why_not"] == why
    assert desk.anywhere("open_return", order_item_id=item, reason="defective", method="mail")["error_code"] == why
    exception = desk.anywhere("request_return_exception", order_item_id=item, reason="Please.")
    assert exception["ok"] == (why == "window_closed")


def test_a_device_has_one_open_repair(desk: Desk) -> None:
    desk.verify("Arthur Lane", "+15035550185", "97034")
    desk.anywhere("check_device", serial="60417325")
    output = desk.anywhere("open_repair", serial="60417325", problem="Strap.", mode="store")
    assert (output["error_code"], output["data"]["repair_id"]) == ("repair_open", 3)


def test_out_of_warranty_the_price_has_to_be_accepted(desk: Desk) -> None:
    desk.verify("Diana Rowe", "+15035550187", "97214")
    assert desk.anywhere("check_device", serial="72031654")["data"]["repair_cost_cents"] == 18900
    args = {"serial": "72031654", "problem": "Does not charge.", "mode": "store"}
    assert desk.anywhere("open_repair", **args)["error_code"] == "quote_not_accepted"
    assert desk.anywhere("open_repair", **args, quote_accepted=True)["data"]["cost_cents"] == 18900


def test_a_credit_ends_at_the_days_without_service_and_a_review_takes_the_rest(desk: Desk) -> None:
    """Three whole days out of thirty of $75.00."""
    desk.verify(*CARLA)
    line = {"line_id": "ln_carla_benson_09_1"}
    assert desk.anywhere("explain_charge", **line)["data"]["credit_possible_cents"] == 750
    assert desk.anywhere("request_refund_review", **line, reason="All of it.")["error_code"] == "credit_first"
    assert desk.anywhere("apply_credit", **line, amount_cents=7500)["error_code"] == "above_limit"
    assert desk.anywhere("apply_credit", **line, amount_cents=750)["ok"]
    assert desk.anywhere("request_refund_review", **line, reason="All of it.")["data"]["amount_cents"] == 6750


def test_what_the_desk_can_credit_is_not_disputed(desk: Desk) -> None:
    desk.verify("Leonard Cole", "+15035550116", "97230")
    line = {"line_id": "ln_leonard_cole_09_2"}
    desk.anywhere("explain_charge", **line)
    assert desk.anywhere("open_dispute", **line, reason="Sent back.")["error_code"] == "credit_it"


def test_a_fee_for_a_plan_change_has_to_be_accepted(desk: Desk) -> None:
    desk.verify("Andrew Mercer", "+15035550119", "97215")
    quote = desk.anywhere("quote_plan_change", plan_code="FIBER_300")["data"]
    assert (quote["effective_on"], quote["fee_cents"]) == ("2026-10-01", 6000)
    change = {"plan_code": "FIBER_300", "effective_on": "2026-10-01"}
    assert desk.anywhere("change_plan", **change)["error_code"] == "fee_not_accepted"
    assert desk.anywhere("change_plan", plan_code="FIBER_300", effective_on="2026-09-16")["error_code"] == "not_quoted"


def test_a_line_that_is_good_gets_no_technician(desk: Desk) -> None:
    desk.verify("Wendy Sharp", "+15035550115", "97214")
    desk.anywhere("run_line_test", subscription_id="sub_wendy_sharp")
    output = desk.anywhere("book_visit", slot_id="slot_riverside_0921_13", problem="Slow.")
    assert output["error_code"] == "no_visit_needed"


def test_during_an_outage_no_line_is_tested(desk: Desk) -> None:
    desk.verify("Howard Pierce", "+15035550193", "97034")
    assert desk.anywhere("get_service_status")["data"]["outage"]["expected_at"] is None
    assert desk.anywhere("run_line_test", subscription_id="sub_howard_pierce")["error_code"] == "area_outage"


@pytest.mark.parametrize(("day", "ok"), [("2026-09-15", False), ("2026-10-04", True), ("2026-10-05", False)])
def test_a_bill_is_paid_at_most_fourteen_days_late(desk: Desk, day: str, ok: bool) -> None:
    desk.verify("Ralph Norton", "+15035550114", "97211")
    assert desk.anywhere("set_payment_date", invoice_number="inv_ralph_norton_09", pay_on=day)["ok"] == ok


# --- prompts --------------------------------------------------------------------------------------------------------


def test_the_desks_are_linked_beside_the_router() -> None:
    """The transfer graph is no star: most edges run between specialists."""
    edges = {(name, to) for name, role in pack().roles.items() for to in role.transfers}
    beside = {(a, b) for a, b in edges if "router" not in (a, b) and "identity" not in (a, b)}
    assert len(beside) > len(edges) / 2
    assert len(pack().roles) >= 7


# --- callers --------------------------------------------------------------------------------------------------------


def identified(name: str) -> list[tuple[str, str]]:
    """Floors until the caller is verified, as most agents speak them."""
    return [
        ("Thank you for calling Larkfield. How may I help you today?", "opening"),
        ("May I have the full name on the account and the phone number associated with it?", f"'{name}'"),
        (f"Thank you. I found an account for {name}. Is that correct?", "'Yes'"),
        ("For security, could you tell me the ZIP code of your billing address?", "'zip code'"),
    ]


HABITS: dict[str, list[tuple[str, str]]] = {
    "C1-E1": [
        *identified("Walter Simmons"),
        ("What is the full name of the person you'd like to add?", "give_her_name"),
        ("Should Laura have full access, or only internet service and repairs?", "give_scope"),
        ("I have Laura Simmons, L-A-U-R-A, S-I-M-M-O-N-S, with full access. Shall I add her?", "yes_1"),
        ("Laura Simmons now has full access to your account. Anything else?", "thank_and_leave"),
    ],
    "C3-H2": [
        *identified("Grace Palmer"),
        ("Unfortunately, earbuds can't be returned. Would you like to arrange a repair?", "object"),
        ("I understand. Would you like me to set up a free repair under warranty?", "yes_1"),
        ("Would you like to mail them in, or drop them off at a store?", "by_mail"),
        ("What exactly is wrong with the earbuds?", "what_is_wrong"),
        ("Mail-in repair for the Pebble earbuds at no cost. Shall I open it?", "yes_1"),
        ("Your repair is open. You'll receive a prepaid box. Anything else?", "thank_and_leave"),
    ],
    "C4-M2": [
        *identified("Diana Rowe"),
        ("I see two graphite Falcon laptops, from March 2024 and January 2025. Which one is it?", "read_wrong_label"),
        ("7203-1645 is from January 2025 and under warranty. Is that the one?", "correct_serial"),
        ("Got it, 7203-1654. The repair would be $189.00. Would you like to go ahead?", "a_lot"),
        ("Nothing is charged unless you agree. Would you like to proceed for $189.00?", "yes_1"),
        ("How would you like to send it, mail-in or store?", "by_mail"),
        ("So a mail-in repair for 7203-1654 at $189.00. Shall I open it?", "yes_1"),
        ("Your repair is open. Anything else?", "thank_and_leave"),
    ],
    "C5-H1": [
        *identified("Carla Benson"),
        ("You have a technician booked for Thursday, September 17. What day works better?", "which_day"),
        ("On Friday I have 10:00 AM to noon, 1:00 PM to 3:00 PM, and 3:00 PM to 5:00 PM.", "take_later"),
        ("So I'll move it to Friday, September 18, from 3:00 PM to 5:00 PM. Shall I go ahead?", "yes_1"),
        ("Done! Your visit is now scheduled for Friday from 3:00 PM to 5:00 PM. Anything else?", "ask_money"),
        ("That is the monthly price, billed in advance. I can credit $7.50. Would you like me to apply that?", "yes_2"),
        ("I've applied a credit of $7.50. I can ask the refund team for the rest. Would you like me to?", "ask_rest"),
        ("I've submitted the request to the refund team. Anything else?", "thank_and_leave"),
    ],
    "C5-H2": [
        *identified("Steven Holt"),
        ("Your line is working properly, at 100 megabits. Would you like to look at a faster plan?", "ask_cancel"),
        ("Would you like me to cancel the technician visit on Friday, from 1 to 3 PM?", "yes_2"),
        ("I've cancelled your Friday visit. Would you like to hear about faster plans?", "ask_plan"),
        ("Fiber 300 is $60.00 a month from tomorrow. There's no fee. Shall I put that in?", "rather_500"),
        ("Fiber 500 is $75.00 a month, starting tomorrow. Would you like me to make that change?", "yes_3"),
        ("You're all set. Starting tomorrow you'll have Fiber 500.", "thank_and_leave"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("task_id", HABITS)
async def test_the_caller_follows_another_agent_to_the_end(task_id: str) -> None:
    caller = ScriptedCaller(pack().task(task_id).brief)
    for text, expected in HABITS[task_id]:
        action = await caller.heard(text)
        assert isinstance(action, Say), (text, action)
        caller.said(action.text, beat=action.beat)
        if expected.startswith("'"):
            assert expected.strip("'") in action.text, (text, action)
        else:
            assert action.beat == expected, (text, action)
    assert caller.finished == "done"
