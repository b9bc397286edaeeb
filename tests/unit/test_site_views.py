"""What the pages show of a call: transcript, gates, waterfall, marks, places."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.run_builder import MadeCall, write_call

from callm_voice.core.errors import ConfigError, NotFoundError
from callm_voice.report.blame import blame_call
from callm_voice.report.site.blame import blame_rows
from callm_voice.report.site.collect import LoadedCall, find_places, load_call
from callm_voice.report.site.conversation import rows_of
from callm_voice.report.site.desks import desk_view
from callm_voice.report.site.gates import gates_view
from callm_voice.report.site.marks import marks_of
from callm_voice.report.site.waterfall import inference_rows, turn_bars

pytestmark = pytest.mark.unit


def made(tmp_path: Path, call: MadeCall) -> LoadedCall:
    return load_call(find_places([write_call(tmp_path, call)])[0])


def test_rows_stand_in_the_order_of_time_and_a_transfer_once(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall())
    rows = rows_of(call.record)
    assert [row.t_ms for row in rows] == sorted(row.t_ms for row in rows)
    assert sum(row.kind == "handoff" for row in rows) == len(call.record.trace.handoffs)
    assert not [row.tool.name for row in rows if row.kind == "tool" and row.tool.is_transfer]
    assert len({row.id for row in rows}) == len(rows)


def test_what_differs_is_marked_on_both_sides_and_keeps_its_characters(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall(plot="misheard_name"))
    row = next(r for r in rows_of(call.record) if r.misheard)
    assert [p.text for p in row.said if p.differs] == ["Ana Field."]
    assert row.heard is not None
    assert [p.text for p in row.heard if p.differs] == ["Anna Feel."]
    assert " ".join(p.text for p in row.said) == "Hello, this is Ana Field. I'd like to move my appointment."


def test_a_turn_that_was_not_heard_says_so(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall(plot="turn_lost"))
    assert [r.heard_note for r in rows_of(call.record) if r.heard_note] == ["nothing was heard"]


def test_a_wrong_argument_shows_both_values_and_the_nearest_call(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall(plot="wrong_argument"))
    view = gates_view(call.record, call.gold)
    assert view is not None
    missing = next(row for row in view.tools if row.kind == "missing")
    assert (missing.tool, missing.why) == ("move", "called with other arguments")
    differing = [line for line in missing.arguments if line.sign == "!"]
    assert [(d.name, d.expected, d.actual) for d in differing] == [
        ("new_start", "2026-08-24T09:00", "2026-08-25T11:30")
    ]
    assert view.failed == ("tools", "state")
    assert view.missing_tools == view.extra_tools == ("move",)
    assert {row.sign for row in view.state} == {"-", "+"}
    assert [c.column for row in view.state for c in row.cells if c.differs] == ["start", "start"]


def test_an_invalid_call_has_no_gates(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall(plot="harness"))
    assert gates_view(call.record, call.gold) is None


def test_bars_fill_the_longest_turn_and_lie_end_to_end(tmp_path: Path) -> None:
    latency = made(tmp_path, MadeCall()).record.latency
    assert latency is not None
    turns = turn_bars(latency)
    longest = max(turns, key=lambda turn: turn.v2v_ms)
    assert sum(bar.width for bar in longest.bars) == pytest.approx(100, abs=0.01)
    for turn in turns:
        ends = [round(bar.left + bar.width, 2) for bar in turn.bars[:-1]]
        assert ends == [pytest.approx(bar.left, abs=0.02) for bar in turn.bars[1:]]


def test_an_inference_without_its_event_has_no_place_on_the_line(tmp_path: Path) -> None:
    latency = made(tmp_path, MadeCall()).record.latency
    assert latency is not None
    event = {"type": "inference_started", "inference_id": 2, "t_ms": 5000.0}
    rows = inference_rows(latency, (event,))
    assert [row.start_ms for row in rows[:3]] == [None, 5000.0, None]


def test_pressed_and_recognised_keys_stand_in_the_transcript_and_on_the_timeline(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall(keys=((5_000.0, "4711#", "471#"), (9_000.0, "12", "12"))))
    rows = rows_of(call.record, call.events)
    keys = [row for row in rows if row.kind == "keypad"]
    assert [(row.t_ms, row.keys.text) for row in keys if row.keys] == [
        (5_000.0, "pressed 4711#"), (5_680.0, "recognised 471#, pressed were 4711#"),
        (9_000.0, "pressed 12"), (9_280.0, "recognised 12"),
    ]  # fmt: skip
    assert [(m["t"], m["label"]) for m in marks_of(call, rows) if m["kind"] == "keypad"] == [
        (row.t_ms, f"keypad: {row.keys.text}") for row in keys if row.keys
    ]


def test_the_blame_has_what_was_said_and_heard_of_each_lost_value(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall(plot="misheard_number"))
    assert call.gold is not None
    view = blame_rows(blame_call(call.record, call.gold), call.record)
    assert view is not None
    assert view.blame == "recogniser"
    (row,) = view.rows
    (argument,) = row.args
    assert (argument.expected, argument.used) == ("+12125550133", "+12125550138")
    assert (argument.said, argument.heard, argument.used_heard) == (True, False, True)
    turn = next(t for t in call.record.transcript if t.party == "caller" and "0133" in t.said)
    assert (argument.start_ms, argument.end_ms) == (turn.start_ms, turn.end_ms)
    assert argument.words == (("212-555-0133.", "212-555-0138."),)


def test_a_call_that_did_not_fail_has_no_blame(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall())
    assert call.gold is not None
    assert blame_rows(blame_call(call.record, call.gold), call.record) is None


def test_losses_stand_where_they_were_heard_and_late_ticks_are_joined(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall())
    loss = {"type": "line_loss", "t_ms": 1100.0, "first_tick": 50, "packets": 3, "direction": "to_caller"}
    lags = [{"type": "line_lag", "t_ms": t, "tick": 1, "late_ms": 12} for t in (2000.0, 2100.0, 9000.0)]
    unknown = {"type": "of_tomorrow", "t_ms": 3000.0}
    marks = marks_of(LoadedCall(call.place, call.record, call.gold, (loss, *lags, unknown)), [])
    assert [(m["kind"], m["t"], m["len"]) for m in marks] == [
        ("loss", 1000.0, 60.0), ("late", 2000.0, 100.0), ("late", 9000.0, 20.0),
    ]  # fmt: skip
    assert marks[0]["channel"] == 1


def test_the_same_call_twice_is_one_and_two_calls_of_one_name_are_two(tmp_path: Path) -> None:
    folder = write_call(tmp_path / "a", MadeCall())
    shutil.copytree(folder, tmp_path / "b" / "copy")
    write_call(tmp_path / "c", MadeCall(plot="extra_row"))
    places = find_places([tmp_path / "a", tmp_path / "b", tmp_path / "c"])
    assert sorted(place.href for place in places) == [
        "call/demo/C1-E1/alpha/pstn-g711u/t1-2/", "call/demo/C1-E1/alpha/pstn-g711u/t1/",
    ]  # fmt: skip


def test_a_folder_without_calls_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="finished call"):
        find_places([tmp_path])


def test_a_record_that_is_none_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "call.json").write_text("[]")
    with pytest.raises(ConfigError, match=r"call\.json"):
        find_places([tmp_path])


def test_a_desk_that_is_not_installed_is_what_its_calls_show(tmp_path: Path) -> None:
    call = made(tmp_path, MadeCall(plot="wrong_path"))
    desk = desk_view("no_such_pack", [call.record])
    assert desk.missing
    assert [role.name for role in desk.roles] == ["router", "billing", "identity", "scheduling"]
    assert ("scheduling", "billing") in desk.edges


def test_an_installed_desk_has_its_tools_and_prompts() -> None:
    desk = desk_view("healthcare", [])
    assert desk.missing == ""
    assert desk.start_role == desk.roles[0].name == "router"
    assert all(role.prompt_chars and role.tools for role in desk.roles)
    assert not [tool.name for role in desk.roles for tool in role.tools if tool.name.startswith("transfer_to_")]
