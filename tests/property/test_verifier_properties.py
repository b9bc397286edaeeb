"""What must hold for every call: gold passes, nothing fails, each mutation fails, the order of rows never matters."""

from __future__ import annotations

import copy
import datetime as dt
import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.verifier_cases import GOLD, GOLD_FILE, SEED, perfect_state, perfect_trace, tool_call

from verifier.gates import state_gate
from verifier.gold import ArgType, Gold, GoldFile
from verifier.matching import match
from verifier.normalise import canonical, same
from verifier.scores import Tally, pass_hat_k, score
from verifier.trace import Handoff, State, ToolCall, Trace, clean_json
from verifier.verify import dump_verdict, verify

pytestmark = pytest.mark.property

FULL, FEW = (settings(max_examples=n, deadline=None, suppress_health_check=[HealthCheck.too_slow]) for n in (80, 25))
"""A busy machine is no finding: examples are counted, not timed."""

CELLS = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, -2.0]), st.text(alphabet="aAé \u2028", max_size=3)
)
ROWS = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 3)}, optional={"v": CELLS, "w": st.sampled_from([None, 1, 1.0, "x"])}),
    max_size=5,
)
STATES = st.dictionaries(st.sampled_from(["a", "b", "c"]), ROWS, max_size=3)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)
ARG_TYPES: list[ArgType | None] = [
    None, "string", "name", "integer", "number", "boolean", "date", "time", "datetime", "phone", "array", "object",
]  # fmt: skip
NEAR_FORMS = st.text(alphabet="0123456789-/:+.TZapm ,JuneSept", max_size=24)


def passes(trace: Trace, state: State) -> bool:
    return verify(trace, state, GOLD_FILE).passed


def shuffled(data: st.DataObject, state: State) -> State:
    return {table: data.draw(st.permutations(rows)) for table, rows in state.items()}


# ---- one whole call


def test_gold_itself_passes() -> None:
    assert passes(perfect_trace(), perfect_state())


def test_doing_nothing_fails_every_gate() -> None:
    verdict = verify(Trace(start_role="router"), SEED, GOLD_FILE)
    assert [verdict.tools.passed, verdict.path.passed, verdict.state.passed] == [False] * 3


@FULL
@given(st.data())
def test_gold_in_any_order_of_calls_and_rows_among_any_extra_calls_passes(data: st.DataObject) -> None:
    extra = data.draw(st.lists(st.sampled_from([tool_call("find_slots", {}), tool_call("hours", {"day": 1})])))
    calls = data.draw(st.permutations([*perfect_trace().calls, *extra]))
    trace = perfect_trace().model_copy(update={"calls": tuple(calls)})
    assert passes(trace, shuffled(data, perfect_state()))


@pytest.mark.parametrize("dropped", range(len(GOLD.calls)))
def test_dropping_any_call_fails(dropped: int) -> None:
    calls = [call for i, call in enumerate(perfect_trace().calls) if i != dropped]
    assert not passes(perfect_trace().model_copy(update={"calls": tuple(calls)}), perfect_state())


@pytest.mark.parametrize(("i", "name"), [(i, name) for i, want in enumerate(GOLD.calls) for name in want.args])
@FEW
@given(value=JSON)
def test_changing_or_dropping_any_argument_fails(i: int, name: str, value: Any) -> None:
    calls = list(perfect_trace().calls)
    arg_type = GOLD_FILE.arg_types.get(calls[i].name, {}).get(name)
    without = {k: v for k, v in calls[i].args.items() if k != name}
    if not same(calls[i].args[name], clean_json(value), arg_type):
        changed = [*calls[:i], tool_call(calls[i].name, without | {name: value}), *calls[i + 1 :]]
        assert not passes(perfect_trace().model_copy(update={"calls": tuple(changed)}), perfect_state())
    dropped = [*calls[:i], tool_call(calls[i].name, without), *calls[i + 1 :]]
    assert not passes(perfect_trace().model_copy(update={"calls": tuple(dropped)}), perfect_state())


@FULL
@given(st.lists(st.sampled_from(["identity", "scheduling", "billing"]), max_size=4))
def test_any_other_path_fails(roles: list[str]) -> None:
    handoffs = tuple(Handoff(from_role="x", to_role=role) for role in roles)
    trace = perfect_trace().model_copy(update={"handoffs": handoffs})
    assert passes(trace, perfect_state()) is (tuple(roles) == GOLD.path)


@FULL
@given(st.data())
def test_adding_dropping_or_altering_any_row_fails(data: st.DataObject) -> None:
    state = perfect_state()
    table = data.draw(st.sampled_from([t for t in sorted(state) if state[t]]))
    row = data.draw(st.sampled_from(state[table]))
    how = data.draw(st.sampled_from(["add", "drop", "alter"]))
    if how == "add":
        state[table].append(dict(row))
    elif how == "drop":
        state[table].remove(row)
    else:
        column = data.draw(st.sampled_from([c for c in sorted(row) if c != "created_at"]))
        row[column] = data.draw(CELLS.filter(lambda v: v != row[column]))
    assert not passes(perfect_trace(), state)


@FEW
@given(
    st.lists(
        st.tuples(
            st.sampled_from([want.tool for want in GOLD.calls]), st.dictionaries(st.text(max_size=3), JSON, max_size=3)
        ),
        max_size=6,
    )
)
def test_a_models_garbage_never_raises_and_its_verdict_can_be_written(calls: list[tuple[str, dict[str, Any]]]) -> None:
    trace = Trace(start_role="router", calls=tuple(tool_call(name, args) for name, args in calls))
    assert json.loads(dump_verdict(verify(trace, SEED, GOLD_FILE)))["passed"] is False


# ---- rows


@FULL
@given(STATES, st.data())
def test_the_order_of_rows_never_changes_a_byte_of_the_verdict(state: State, data: st.DataObject) -> None:
    gold = GoldFile(task="demo/C1-E1", gold=Gold(path=(), calls=()), seed={"a": [], "b": [{"id": 1, "v": 1.0, "w": 1}]})
    trace = Trace(start_role="router")
    first = dump_verdict(verify(trace, state, gold))
    assert dump_verdict(verify(trace, shuffled(data, state), gold)) == first


@FULL
@given(STATES, st.data())
def test_a_state_equals_itself_in_any_order_and_one_extra_row_always_shows(state: State, data: st.DataObject) -> None:
    assert state_gate(state, shuffled(data, state), {}).passed
    more = copy.deepcopy(state)
    table = data.draw(st.sampled_from(["a", "b", "new"]))
    more.setdefault(table, []).append({"id": data.draw(st.integers(0, 3)), "v": data.draw(CELLS)})
    findings = state_gate(state, shuffled(data, more), {}).findings
    assert [(f.kind, f.table) for f in findings] == [("extra", table)]


@FULL
@given(STATES, STATES)
def test_missing_and_extra_change_places_when_the_two_states_do(left: State, right: State) -> None:
    there, back = state_gate(left, right, {}).findings, state_gate(right, left, {}).findings
    assert sum(f.kind == "missing" for f in there) == sum(f.kind == "extra" for f in back)
    assert len(there) == len(back)


# ---- matching


@FEW
@given(st.lists(st.lists(st.integers(0, 4), unique=True, max_size=4), max_size=5))
def test_a_matching_is_valid_and_no_larger_one_exists(candidates: list[list[int]]) -> None:
    found = match(candidates)
    taken = [right for right in found if right is not None]
    assert len(taken) == len(set(taken))
    assert all(right is None or right in candidates[left] for left, right in enumerate(found))
    orders = permutations([*range(5), *([None] * len(candidates))], len(candidates))
    best = max((sum(r in candidates[i] for i, r in enumerate(order)) for order in orders), default=0)
    assert len(taken) == best


# ---- values


@FULL
@given(st.sampled_from(ARG_TYPES), st.one_of(JSON, NEAR_FORMS), st.one_of(JSON, NEAR_FORMS))
def test_comparing_is_an_equivalence_and_never_raises(arg_type: ArgType | None, left: Any, right: Any) -> None:
    assert same(left, left, arg_type)
    assert same(left, right, arg_type) == same(right, left, arg_type)
    assert (hash(canonical(left, arg_type)) == hash(canonical(right, arg_type))) or not same(left, right, arg_type)


@FULL
@given(st.dates(min_value=dt.date(1000, 1, 1)))
def test_a_date_means_the_same_in_each_written_form(day: dt.date) -> None:
    for form in ("%m/%d/%Y", "%B %d, %Y", "%b %d %Y", "%d %B %Y", "%Y/%m/%d", "%Y-%m-%dT00:00"):
        assert same(day.isoformat(), day.strftime(form), "date")


@FULL
@given(JSON)
def test_cleaned_json_is_written_and_read_back_the_same(value: Any) -> None:
    cleaned = clean_json(value)
    call = ToolCall(call_id="c", role="r", name="n", args={"v": value}, output={}, ok=True)
    assert ToolCall.model_validate_json(call.model_dump_json()) == call
    assert clean_json(cleaned) == cleaned


# ---- scores

COUNTS = st.integers(0, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@FULL
@given(COUNTS, st.integers(1, 12))
def test_pass_hat_k_never_rises_with_k(counts: tuple[int, int], k: int) -> None:
    passed, trials = counts
    now, then = pass_hat_k(passed, trials, k), pass_hat_k(passed, trials, k + 1)
    assert then is None or (now is not None and then <= now)


@FULL
@given(st.lists(COUNTS, min_size=1, max_size=6), st.integers(1, 6))
def test_bounds_hold_the_value_and_never_rise_with_k(counts: list[tuple[int, int]], k: int) -> None:
    tallies = [Tally(pack="p", task=str(i), passed=c, trials=n) for i, (c, n) in enumerate(counts)]
    now, then = score(tallies, k), score(tallies, k + 1)
    assert now.low is not None
    assert now.high is not None
    assert then.low is not None
    assert then.high is not None
    assert now.value is None or now.low == now.value == now.high
    assert 0 <= now.low <= now.high <= 1
    assert then.low <= now.low
    assert then.high <= now.high
