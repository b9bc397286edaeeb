"""Every call of the model's gets an answer; a tool that raises leaves no trace in database and session."""

from __future__ import annotations

import pytest
from support.desk_call import tiny_pack

from callm_voice.desk.dispatch import TOOL_FAILED, Dispatcher
from callm_voice.desk.tools import Tool

pytestmark = pytest.mark.unit


class Desk:
    """A dispatcher on a fresh tiny database."""

    def __init__(self, *extra):
        self.database = tiny_pack().open_database()
        tools = {**tiny_pack().tools, **{f.__name__: Tool(f.__name__, "extra", (), f) for f in extra}}
        self.dispatcher = Dispatcher(tools, self.database, {"customer_id": None}, "patient_safe_message")
        self.extra = tuple(f.__name__ for f in extra)

    def call(self, name, /, role="baking", unparsed=None, **args):
        role = tiny_pack().role(role)
        view = type("View", (), {"name": role.name, "tools": (*role.tools, *self.extra), "transfers": role.transfers})
        return self.dispatcher.run(view, name, args, unparsed=unparsed)


@pytest.fixture
def desk():
    """A dispatcher that is closed afterwards."""
    made = Desk()
    yield made
    made.database.close()


def find(desk, mobile="+12125550102"):
    return desk.call("find_customer", role="front", full_name="Otto Sample", mobile=mobile)


def test_a_tool_runs_with_converted_arguments_and_its_dates_are_text(desk):
    find(desk)
    answer = desk.call("place_order", item="challah", day="2026-08-21", quantity="2", gift="true")
    assert answer.output["data"] == {"order_id": 2, "day": "2026-08-21"}
    written = desk.database.dump()["orders"][-1]
    assert (written["quantity"], written["gift"], written["created_at"]) == (2, 1, "2026-08-18 09:30:00")


def test_a_refusal_keeps_what_the_tool_wrote_on_purpose(desk):
    answer = find(desk, mobile="+12125550199")
    assert (answer.ok, answer.output["error_code"], answer.error) == (False, "not_found", None)
    assert desk.database.dump()["attempts"] == [
        {"name": "Otto Sample", "mobile": "+12125550199", "at": "2026-08-18T09:30"}
    ]


def test_a_tool_that_raises_leaves_database_and_session_as_they_were(desk):
    find(desk)
    before = desk.database.dump()
    answer = desk.call("break_half_way")
    assert answer.output == {"data": None, "error_code": "tool_error", "ok": False, "patient_safe_message": TOOL_FAILED}
    assert "FOREIGN KEY" in answer.error
    assert desk.database.dump() == before
    assert desk.dispatcher.session == {"customer_id": 2}


def test_the_model_is_not_told_how_a_tool_broke(desk):
    assert "FOREIGN" not in str(desk.call("break_half_way").output)


@pytest.mark.parametrize(
    ("name", "role", "code", "words"),
    [
        ("nope", "front", "unknown_tool", 'no tool named "nope"; available: find_customer, transfer_to_baking'),
        ("", "front", "unknown_tool", 'no tool named ""'),
        ("place_order", "front", "not_available_in_role", "place_order is not available to front"),
        ("place_order", "baking", "invalid_arguments", "item: expected one of"),
    ],
)
def test_a_call_that_cannot_run_is_answered_with_code_and_reason(desk, name, role, code, words):
    answer = desk.call(name, role=role)
    assert (answer.ok, answer.output["ok"], answer.output["error_code"]) == (False, False, code)
    assert words in answer.output["data"]["message"]
    assert words in answer.error


def test_arguments_that_are_not_json_are_answered(desk):
    answer = desk.call("list_orders", unparsed="cut after 5 characters")
    assert answer.output["error_code"] == "invalid_arguments"
    assert "cut after 5 characters" in answer.error


def test_a_declared_transfer_succeeds(desk):
    answer = desk.call("transfer_to_baking", role="front", next_intent="order")
    assert (answer.output, answer.to_role, answer.is_transfer) == ({"success": True, "role": "baking"}, "baking", True)


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("transfer_to_nobody", {}, 'front cannot transfer to "nobody"'),
        ("transfer_to_front", {}, 'front cannot transfer to "front"'),
        ("transfer_to_baking", {"next_intent": 5}, "next_intent: expected a string, got 5"),
    ],
)
def test_a_transfer_that_cannot_be_made_says_why_and_moves_nobody(desk, name, args, words):
    answer = desk.call(name, role="front", **args)
    assert answer.output["success"] is False
    assert words in answer.output["error"]
    assert answer.to_role is None


def test_null_for_a_transfers_parameter_means_that_it_is_not_given(desk):
    assert desk.call("transfer_to_baking", role="front", next_intent=None).ok


def commits(ctx):
    ctx.run("DELETE FROM orders")
    ctx.db.commit()
    return ctx.ok()


def ends_with_or_rollback(ctx):
    try:
        ctx.run("INSERT OR ROLLBACK INTO customers (id, name, mobile) VALUES (1, 'x', 'y')")
    except Exception:  # noqa: BLE001
        return ctx.ok()


def returns_nothing(ctx):
    ctx.run("DELETE FROM orders")


def returns_no_json(ctx):
    return ctx.ok({"set": {1, 2}})


def alters_the_schema(ctx):
    ctx.run("DROP TABLE attempts")
    return ctx.ok()


def rewrites_the_answer(ctx):
    return {**ctx.ok(), "more": 1}


def exits(ctx):
    raise RuntimeError("no\nway")


def leaves_a_reading_cursor_open(ctx):
    ctx.db.execute("INSERT INTO attempts VALUES ('a', 'b', 'c') RETURNING name")
    ctx.db.execute("SELECT * FROM orders")
    return ctx.ok()


@pytest.mark.parametrize(
    "function",
    [commits, ends_with_or_rollback, returns_nothing, returns_no_json, alters_the_schema, rewrites_the_answer, exits],
)
def test_a_tool_that_breaks_the_rules_is_an_error_and_writes_nothing(function):
    desk = Desk(function)
    before = desk.database.dump()
    answer = desk.call(function.__name__)
    assert answer.output["error_code"] == "tool_error"
    assert function.__name__ in answer.error
    assert desk.database.dump() == before
    assert desk.call("quote", at="2026-08-20T09:00").ok, "the desk must work on afterwards"
    desk.database.close()


def test_open_cursors_do_not_hold_up_the_next_tool():
    desk = Desk(leaves_a_reading_cursor_open)
    desk.call("leaves_a_reading_cursor_open")
    assert find(desk).ok
    desk.database.close()
