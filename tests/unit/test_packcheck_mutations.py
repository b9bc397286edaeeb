"""Every single change of a gold call is made, and one that passes is told."""

from __future__ import annotations

import pytest
from support.small_pack import TASK, checked, problems_of, small_pack

from callm_voice.bench.packcheck.findings import Problems
from callm_voice.bench.packcheck.mutations import mutations
from callm_voice.bench.packcheck.others import other_arguments, other_cell
from callm_voice.bench.packcheck.tasks import load_task, play_dialogue
from callm_voice.desk.pack import load_pack
from verifier.normalise import canonical, same
from verifier.verify import verify

pytestmark = pytest.mark.unit


@pytest.fixture
def made(tmp_path):
    """(what is changed, in words) for each change of the small pack's task."""
    pack = load_pack(small_pack(tmp_path))
    problems = Problems(pack.path)
    loaded = load_task(pack, "C1-E1", problems)
    played = play_dialogue(loaded, problems)
    verdict = verify(played.trace, played.state, loaded.file)
    found = list(mutations(loaded, played.trace, played.state, verdict))
    assert not any(verify(m.trace, m.state, loaded.file).passed for m in found)
    return [f"{m.key}: {m.what}" for m in found]


@pytest.mark.parametrize(
    "what",
    [
        "gold.calls.2: without the call of list_repairs",
        "gold.calls.3.args.decision: decide_extra_work without decision",
        "gold.calls.3.args.decision: decide_extra_work with decision='declined' in place of 'approved'",
        "gold.calls.3.args.extra_id: decide_extra_work with extra_id=2 in place of 1",
        "gold.calls.0.args.mobile: find_customer with mobile='+12125550142' in place of '+12125550141'",
        "gold.path.0: without the handoff to workshop",
        "gold.path: a further handoff to front at 1",
        "gold.state.extra_work.changed.0: extra_work: the row is there twice",
        "gold.state.extra_work.changed.0: extra_work: the row is not there",
        "gold.state.extra_work.changed.0: extra_work: the row is as it was",
        "gold.state: customers: one row twice",
        "gold.state: repairs: one row gone",
    ],
)
def test_a_change_of_each_kind_is_made(made, what):
    assert what in made


def test_each_cell_of_a_changed_row_is_altered(made):
    altered = {m.split(": ")[2].split(" ")[0] for m in made if m.startswith("gold.state.extra_work") and " is " in m}
    assert {"id", "repair_id", "description", "price_cents", "decision", "decided_at"} <= altered


def test_a_change_that_only_ignored_columns_show_passes_and_is_told(tmp_path):
    report = checked(
        tmp_path,
        ("pack.yaml", "ignored_columns: {}", "ignored_columns: {extra_work.decision: x, extra_work.decided_at: y}"),
    )
    assert report.mutations_caught == report.mutations - 1
    assert "gold.state.extra_work.changed.0: a call that differs passes: extra_work: the row is as it" in problems_of(
        report
    )


def test_swapped_handoffs_are_a_change(tmp_path):
    report_of_one = checked(tmp_path / "a")
    back = "    - call: transfer_to_workshop\n    - call: transfer_to_front\n    - call: transfer_to_workshop\n"
    tools = "    - tool: transfer_to_workshop\n    - tool: transfer_to_front\n    - tool: transfer_to_workshop\n"
    report = checked(
        tmp_path / "b",
        (TASK, "path: [workshop]", "path: [workshop, front, workshop]"),
        (TASK, "    - call: transfer_to_workshop\n", back),
        (TASK, "    - tool: transfer_to_workshop\n", tools),
    )
    assert problems_of(report) == ""
    # two calls to drop, two handoffs to skip, two pairs to swap, two roles at two further places
    assert report.mutations == report.mutations_caught == report_of_one.mutations + 2 + 2 + 2 + 4


@pytest.mark.parametrize(
    ("value", "arg_type"),
    [
        ("1972-06-30", "date"), ("2026-08-24T09:00", "datetime"), ("09:00", "time"), ("+12125550133", "phone"),
        ("Maria Alvarez", "name"), ("li_visit", "string"), (7, "integer"), (0, "integer"), (2.5, "number"),
        (True, "boolean"), (["a", "b"], "array"), ([], "array"), ({"a": 1}, "object"), (None, "string"), ("", "string"),
    ],
)  # fmt: skip
def test_another_value_never_means_the_same(value, arg_type):
    others = other_arguments(value, arg_type)
    assert others
    assert not any(same(value, other, arg_type) for other in others)


@pytest.mark.parametrize(("value", "arg_type"), [("1972-06-30", "date"), ("+12125550133", "phone"), (7, "integer")])
def test_another_value_is_of_the_same_kind(value, arg_type):
    assert all(canonical(other, arg_type)[0] == arg_type for other in other_arguments(value, arg_type))


def test_another_choice_is_one_of_the_schema():
    assert other_arguments("approved", "string", ["approved", "declined"]) == ["declined"]


@pytest.mark.parametrize("value", ["text", 3, None])
def test_another_cell_comes_from_the_column_or_is_made(value):
    rows = [{"c": 9}, {"c": "other"}]
    assert other_cell(value, "c", rows) not in (value, None)
