"""A right task passes every check; a wrong one is told with file, line and key."""

from __future__ import annotations

import re

import pytest
from support.small_pack import TASK, checked, problems_of, small_pack

pytestmark = pytest.mark.unit


def test_the_small_pack_is_right(tmp_path):
    report = checked(tmp_path)
    assert problems_of(report) == ""
    assert (report.gold_pass, report.noop_fail, report.oracle_complete, report.ambiguous) == (True, True, True, 0)
    assert report.mutations_caught == report.mutations > 30


CALL_LISTS = "    - call: list_repairs\n"
DECIDE = "args: {extra_id: 1, decision: approved}\n  state"

WRONG = {
    "a tool that is not there": (
        "    - tool: list_repairs\n", "    - tool: list_bicycles\n",
        r"C1-E1\.yaml:\d+: gold\.calls\.2: there is no tool 'list_bicycles'",
    ),
    "an argument that the tool does not have": (
        DECIDE, DECIDE.replace("extra_id", "extra"),
        r"gold\.calls\.3\.args\.extra: decide_extra_work has no such argument; it has: extra_id, decision",
    ),
    "an argument of another kind": (
        DECIDE, DECIDE.replace("1", "one"), r'gold\.calls\.3\.args: extra_id: expected an integer, got "one"',
    ),
    "a path without an edge": (
        "path: [workshop]", "path: [front]", r"gold\.path\.0: front has no transfer to 'front'",
    ),
    "a path that the calls do not go": (
        "    - tool: transfer_to_workshop\n", "    - tool: transfer_to_front\n",
        r"gold\.path: the transfers among the calls go front, the path workshop",
    ),
    "a difficulty that the id denies": (
        "difficulty: easy", "difficulty: hard", r"difficulty: the id C1-E1 says otherwise than 'hard'",
    ),
    "a brief that cannot be played": (
        "after: [approve]\n      repeat", "after: [yes]\n      repeat",
        r"brief\.beats\.1: beat agree: after names an unknown beat",
    ),
    "a pattern that is none": (
        "any_of: ['\\bchain\\b']", "any_of: ['(chain']",
        r"C1-E1\.yaml:\d\d: brief\.beats\.3: beats\.ask_price\.when\.any_of: not a regular expression",
    ),
    "a trait that is not there": (
        "say: Yes, please do it.", "say: Yes, I am {nickname}.", r"beats\.agree\.say: unknown trait 'nickname'",
    ),
    "a transfer that must not be, and is expected": (
        "    - tool: list_repairs\n",
        "    - {tool: transfer_to_front, args: {why: x}, ok: false}\n    - tool: list_repairs\n",
        r"gold\.calls\.2\.args\.why: transfer_to_front has no such argument",
    ),
    "a call that is refused": (
        CALL_LISTS, "    - call: decide_extra_work\n      args: {extra_id: 3, decision: approved}\n" + CALL_LISTS,
        r"gold\.dialogue\.8: decide_extra_work failed: extra_unknown",
    ),
    "a gold call that nobody makes": (
        "  state: #", "    - tool: list_repairs\n  state: #",
        r"gold\.calls\.4: the dialogue does not make this call: list_repairs: not_called",
    ),
    "a state that the tools do not leave": (
        'decided_at: "2026-03-10T10:00"', 'decided_at: "2026-03-10T11:00"',
        r"gold\.state\.extra_work: gold expects a row that is not there",
    ),
    "a row that the seed does not have": (
        "- where: {id: 1}", "- where: {id: 9}", r"gold\.state\.extra_work\.changed\.0\.where: id = 9 picks 0 rows",
    ),
    "a change that gold does not expect": (
        "    - tool: decide_extra_work\n      args: {extra_id: 1, decision: approved}\n", "",
        r"gold\.calls: the dialogue's decide_extra_work writes, but gold does not expect it",
    ),
    "a caller that does not come to its end": (
        "It's written down.", "Very well.", r"gold\.dialogue: the caller did not come to its end",
    ),
    "a dialogue that begins with the caller": (
        "    - say: Halden Cycles, how can I help you?\n", "", r"gold\.dialogue\.0: the desk speaks first",
    ),
    "an unknown key": ("title: App", "headline: x\ntitle: App", r"C1-E1\.yaml:2: headline: unknown key"),
    "a step of two kinds": (
        CALL_LISTS, CALL_LISTS + "      say: Hm.\n", r"gold\.dialogue\.8: expected exactly one of say, hear, call",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_task_is_told(tmp_path, what):
    old, new, message = WRONG[what]
    report = checked(tmp_path, (TASK, old, new))
    assert re.search(message, problems_of(report)), problems_of(report)


def test_gold_that_expects_nothing_is_told(tmp_path):
    text = (small_pack(tmp_path / "a") / TASK).read_text()
    calls = text[text.index("  calls: #") : text.index("  dialogue: #")]
    report = checked(tmp_path / "b", (TASK, calls, "  calls: []\n"), (TASK, "path: [workshop]", "path: []"))
    assert "a call in which nothing is done passes" in problems_of(report)
    assert not report.noop_fail
