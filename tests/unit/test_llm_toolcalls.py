"""Tool calls from fragments, in every order that servers produce."""

import pytest
from support.llm_servers import fragment

from callm_voice.llm.toolcalls import ToolCallAssembler, parse_arguments

pytestmark = pytest.mark.unit
TOOLS = ("find_patient", "get_balance", "get")


def assemble(*fragments, tools=TOOLS, cut=False):
    assembler = ToolCallAssembler(tools)
    started = [s.index for t, f in enumerate(fragments) for s in assembler.feed(f, float(t))]
    calls = assembler.finish(cut=cut, response_id="r")
    assert started == list(range(len(calls)))
    return calls, assembler.notes


def brief(calls):
    return [(c.call_id, c.name, c.arguments, c.error) for c in calls]


TWO = [("a", "find_patient", {"x": 1}, None), ("b", "get_balance", {"y": 2}, None)]


f = fragment
X, Y = '{"x": 1}', '{"y": 2}'


@pytest.mark.parametrize(
    ("fragments", "note"),
    [
        pytest.param(
            [f(0, "a", "find_patient", X), f(1, "b", "get_balance", Y)], None, id="whole"
        ),
        pytest.param(
            [
                f(0, "a", "find_patient", ""), f(1, "b", "get_balance", ""),
                f(0, arguments='{"x"'), f(1, arguments='{"y"'),
                f(1, arguments=": 2}"), f(0, arguments=": 1}"),
            ], None, id="interleaved by index",
        ),
        pytest.param(
            [
                f(0, "a", "find_patient"), f(0, arguments=X),
                f(0, "b", "get_balance"), f(0, arguments=Y),
            ], "two calls at index 0", id="both at index 0, told by id",
        ),
        pytest.param(
            [f(0, "a", "find_patient", X), f(0, "b", "get_balance", Y)],
            "two calls at index 0", id="both whole at index 0",
        ),
        pytest.param(
            [f(1, "a", "find_patient", X), f(2, "b", "get_balance", Y)],
            "first call at index 1", id="first at index 1",
        ),
        pytest.param(
            [
                f(None, "a", "find_patient", '{"x"'), f(None, arguments=": 1}"),
                f(None, "b", "get_balance", Y),
            ], None, id="no index",
        ),
        pytest.param(
            [
                f(0, "a", "find_patient", ""), f(0, "a", arguments='{"x"'), f(0, "a", arguments=": 1}"),
                f(1, "b", "get_balance", ""), f(1, "b", arguments=Y),
            ], None, id="id in every fragment",
        ),
        pytest.param(
            [
                f(0, "a", "find_patient", ""), f(0, "a", "find_patient", '{"x"'),
                f(0, "a", "find_patient", ": 1}"), f(1, "b", "get_balance", Y),
            ], None, id="id and name in every fragment",
        ),
        pytest.param(
            [
                f(0, "a", "find_", ""), f(0, name="patient"), f(0, arguments=X),
                f(1, "b", "get_balance", Y),
            ], "a name in pieces", id="name in pieces",
        ),
        pytest.param(
            [
                f(0, "a", "find_patient", {"x": 1}), f(1, "b", "get_balance", {"y": 2}),
            ], "arguments as an object instead of text", id="arguments as objects",
        ),
        pytest.param(
            [
                f(0, "a", "find_patient", X), f(1, "b", "get_balance", Y),
                f(0, "a", "find_patient", X), f(1, "b", "get_balance", Y),
            ], "a call was sent twice", id="both sent twice",
        ),
        pytest.param(
            [f(0, name="find_patient"), f(0, "a", arguments=X), f(1, "b", "get_balance", Y)],
            None, id="id after the name",
        ),
    ],
)  # fmt: skip
def test_two_calls_are_put_together(fragments, note):
    calls, notes = assemble(*fragments)
    assert brief(calls) == TWO
    assert notes == ([note] if note else [])


def test_a_new_name_at_the_same_index_begins_a_call_without_ids():
    calls, _ = assemble(fragment(0, name="find_patient", arguments='{"x": 1}'), fragment(0, name="get_balance"))
    assert [(c.name, c.arguments) for c in calls] == [("find_patient", {"x": 1}), ("get_balance", {})]


def test_the_same_tool_with_other_arguments_at_the_same_index_is_a_second_call():
    calls, _ = assemble(
        fragment(0, name="get_balance", arguments='{"y": 1}'), fragment(0, name="get_balance", arguments='{"y": 2}')
    )
    assert [c.arguments for c in calls] == [{"y": 1}, {"y": 2}]


def test_the_same_call_with_two_ids_stays_two_calls():
    same = '{"y": 1}'
    calls, _ = assemble(fragment(0, "a", "get_balance", same), fragment(1, "b", "get_balance", same))
    assert len(calls) == 2


def test_a_name_that_is_a_tool_is_complete_also_if_it_begins_another():
    calls, _ = assemble(fragment(0, name="get"), fragment(0, name="get_balance"))
    assert [c.name for c in calls] == ["get", "get_balance"]


def test_a_name_sent_again_longer_replaces_its_beginning():
    calls, _ = assemble(fragment(0, "a", "find"), fragment(0, "a", "find_patient"), fragment(0, arguments="{}"))
    assert [c.name for c in calls] == ["find_patient"]


def test_an_invented_name_does_not_swallow_the_next_call():
    calls, _ = assemble(fragment(0, name="invented"), fragment(0, name="get_balance", arguments="{}"))
    assert [c.name for c in calls] == ["invented", "get_balance"]


def test_one_id_for_two_calls_is_made_unique():
    calls, notes = assemble(fragment(0, "a", "find_patient", "{}"), fragment(1, "a", "get_balance", "{}"))
    assert [c.call_id for c in calls] == ["a", "a_1"]
    assert notes == ["two calls with the id a"]


def test_calls_without_ids_get_different_ones():
    calls, _ = assemble(fragment(0, name="get_balance", arguments="{}"), fragment(1, name="find_patient"))
    assert len({c.call_id for c in calls}) == 2
    assert all(c.call_id.startswith("call_") for c in calls)


def test_a_fragment_at_an_index_without_call_belongs_to_the_last_one():
    calls, notes = assemble(fragment(0, "a", "get_balance", '{"y"'), fragment(3, arguments=": 2}"))
    assert brief(calls) == [("a", "get_balance", {"y": 2}, None)]
    assert notes == ["a fragment at index 3, where no call began"]


def test_a_call_without_name_is_an_error():
    calls, _ = assemble(fragment(0, "a", arguments="{}"))
    assert calls[0].error == "the call has no name"


def test_the_time_is_that_of_the_last_fragment():
    calls, _ = assemble(fragment(0, "a", "get", ""), fragment(0, arguments="{"), fragment(0, arguments="}"))
    assert calls[0].t_s == 2.0


@pytest.mark.parametrize("raw", ["", "  ", "null", "{}", '"{}"'])
def test_no_arguments_are_an_empty_object(raw):
    assert parse_arguments(raw, cut=False) == ({}, None)


@pytest.mark.parametrize(
    ("raw", "cut", "error"),
    [
        ('{"a": 1', False, "cut: their JSON does not end"),
        ('{"a": "b', False, "cut: their JSON does not end"),
        ('{"a": 1', True, "cut at the length limit"),
        ("{a: 1}", False, "not JSON"),
        ('{"a": NaN}', False, "not JSON"),
        ("[1]", False, "not an object but list"),
        ("7", False, "not an object but int"),
    ],
)
def test_arguments_that_cannot_be_used_say_why(raw, cut, error):
    arguments, found = parse_arguments(raw, cut=cut)
    assert arguments == {}
    assert found is not None
    assert error in found


def test_deep_nesting_does_not_break_the_parser():
    arguments, error = parse_arguments("[" * 100_000, cut=False)
    assert arguments == {}
    assert error is not None
