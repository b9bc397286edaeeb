"""The tools gate and the path gate, finding by finding."""

from __future__ import annotations

import pytest
from support.verifier_cases import tool_call

from verifier.gates import ignored_in, path_gate, tools_gate
from verifier.gold import ExpectedCall
from verifier.trace import Handoff

pytestmark = pytest.mark.unit


def want(tool: str, ok: bool | None = True, **args: object) -> ExpectedCall:
    return ExpectedCall(tool=tool, args=args, ok=ok)


def test_an_expected_call_is_hit_and_extra_arguments_are_allowed() -> None:
    gate = tools_gate([want("find", place="a")], [tool_call("find", {"place": "a", "max": 3})], {})
    assert gate.passed
    assert [(d.name, d.kind) for d in gate.findings[0].args] == [("max", "extra"), ("place", "equal")]


def test_extra_calls_are_allowed_and_listed_after_the_expected_ones_in_the_order_they_ran() -> None:
    calls = [tool_call("x", {}), tool_call("find", {}), tool_call("a", {})]
    gate = tools_gate([want("find")], calls, {})
    assert gate.passed
    assert [(f.kind, f.actual_index) for f in gate.findings] == [("hit", 1), ("extra", 0), ("extra", 2)]


def test_one_actual_call_does_not_serve_two_expected_ones() -> None:
    gate = tools_gate([want("find"), want("find")], [tool_call("find", {})], {})
    assert [f.kind for f in gate.findings] == ["hit", "missing"]
    assert not gate.passed


def test_greedy_order_does_not_lose_a_match_that_is_possible() -> None:
    """The free call would take the only call that the strict one can have."""
    calls = [tool_call("find", {"place": "a"}), tool_call("find", {"place": "b"})]
    gate = tools_gate([want("find"), want("find", place="a")], calls, {})
    assert gate.passed
    assert [f.actual_index for f in gate.findings] == [1, 0]


def test_the_order_of_calls_does_not_count() -> None:
    assert tools_gate([want("a"), want("b")], [tool_call("b", {}), tool_call("a", {})], {}).passed


def test_a_missing_call_shows_the_nearest_one_with_its_differences() -> None:
    calls = [tool_call("move", {"id": 9, "to": "z"}), tool_call("move", {"id": 2, "to": "z"})]
    finding = tools_gate([want("move", id=2, to="x", why="w")], calls, {}).findings[0]
    assert (finding.kind, finding.nearest_index, finding.why) == ("missing", 1, "arguments")
    assert {d.name: (d.kind, d.expected, d.actual) for d in finding.args} == {
        "id": ("equal", 2, 2),
        "to": ("differs", "x", "z"),
        "why": ("missing", "w", None),
    }


def test_a_call_that_was_never_made_has_no_nearest() -> None:
    finding = tools_gate([want("move", id=2)], [tool_call("find", {"id": 2})], {}).findings[0]
    assert (finding.why, finding.nearest_index) == ("not_called", None)


def test_a_call_that_could_not_be_run_does_not_match() -> None:
    calls = [tool_call("move", {"id": 2}, ok=False, error="unknown tool")]
    gate = tools_gate([want("move", id=2)], calls, {})
    assert not gate.passed
    assert gate.findings[0].why == "not_run"


def test_a_refused_call_does_not_match_because_it_did_nothing() -> None:
    gate = tools_gate([want("move", id=2)], [tool_call("move", {"id": 2}, ok=False)], {})
    assert not gate.passed
    assert gate.findings[0].why == "refused"


def test_gold_may_expect_that_a_call_is_refused() -> None:
    assert tools_gate([want("move", ok=False)], [tool_call("move", {}, ok=False)], {}).passed
    assert tools_gate([want("move", ok=False)], [tool_call("move", {})], {}).findings[0].why == "not_refused"


def test_gold_may_leave_open_whether_a_call_is_refused() -> None:
    for ok in (True, False):
        assert tools_gate([want("move", ok=None)], [tool_call("move", {}, ok=ok)], {}).passed


def test_arguments_are_compared_by_their_declared_types() -> None:
    calls = [tool_call("verify", {"dob": "February 3, 1980"})]
    assert tools_gate([want("verify", dob="1980-02-03")], calls, {"verify": {"dob": "date"}}).passed
    assert not tools_gate([want("verify", dob="1980-02-03")], calls, {}).passed


@pytest.mark.parametrize(
    ("expected", "roles", "passed"),
    [
        ([], [], True),
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["b", "a"], False),
        (["a", "b"], ["a"], False),
        (["a"], ["a", "a"], False),
    ],
)
def test_the_path_is_the_exact_sequence_of_roles(expected: list[str], roles: list[str], passed: bool) -> None:
    handoffs = [Handoff(from_role="x", to_role=role) for role in roles]
    gate = path_gate(expected, handoffs)
    assert gate.passed is passed
    assert gate.actual == tuple(roles)


def test_ignored_columns_are_of_one_table_or_of_all() -> None:
    entries = {"*.created_at": "clock", "links.token": "random", "a.b": "other"}
    assert ignored_in("links", entries) == {"created_at", "token"}
    assert ignored_in("slots", entries) == {"created_at"}
