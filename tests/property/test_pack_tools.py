"""The tools of every installed pack: whatever they are called with, they answer, and touch only the call's database."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing, contextmanager
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tool_arguments import Arguments

from callm_voice.bench.gold import load_gold
from callm_voice.core.paths import installed_data_dir
from callm_voice.core.yamlfile import load_model
from callm_voice.desk.formats import PackFile
from callm_voice.desk.pack import load_pack

pytestmark = pytest.mark.property

FOLDERS = sorted(p.parent for p in (installed_data_dir() / "packs").glob("*/pack.yaml"))
PACKS = [folder.name for folder in FOLDERS if load_model(folder / "pack.yaml", PackFile).benchmark]
OUTSIDE = ("socket.", "subprocess.", "os.", "shutil.", "sqlite3.connect", "urllib.", "ftplib.", "smtplib.", "winreg.")
"""Audit events (PEP 578) of what a tool must not do."""
CALLS = 25
"""In a row, on one database."""
seen: list[str] | None = None
"""Events while a tool runs; None: nothing is watched."""


def _watch(event: str, args: tuple[object, ...]) -> None:
    if seen is None:
        return
    if event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append(f"open for writing: {args[0]}")
    elif event.startswith(OUTSIDE):
        seen.append(event)


sys.addaudithook(_watch)


@contextmanager
def watched():
    """Fails if anything outside is touched."""
    global seen
    seen = []
    try:
        yield
        assert seen == []
    finally:
        seen = None


@cache
def loaded(name):
    """(the pack, what draws its calls, the calls of each task's dialogue)."""
    pack = load_pack(installed_data_dir() / "packs" / name)
    dialogues = [load_gold(pack.task_path(task_id)).dialogue for task_id in pack.task_ids()[::2]]
    calls = [[(step["call"], step.get("args", {})) for step in steps if "call" in step] for steps in dialogues]
    return pack, Arguments(pack), calls


class Desk:
    """One call's tools, each run in a role that has it."""

    def __init__(self, pack, database):
        self.pack, self.database = pack, database
        self.dispatcher = pack.dispatcher(database)
        self.outputs = []

    def run(self, tool, args):
        holds = [
            r for r in self.pack.roles.values() if tool in r.tools or tool.removeprefix("transfer_to_") in r.transfers
        ]
        answer = self.dispatcher.run(holds[0], tool, args)
        self.outputs.append(answer.output)
        return answer


@contextmanager
def in_the_middle(name, rng):
    """A desk after the first calls of one of the pack's tasks, and calls that a model might go on with."""
    pack, arguments, dialogues = loaded(name)
    with closing(pack.open_database()) as database:
        desk = Desk(pack, database)
        begun = rng.choice(dialogues)
        for tool, args in begun[: rng.randint(0, len(begun))]:
            desk.run(tool, args)
        thread = arguments.thread([desk.dispatcher.session, *desk.outputs, *begun])
        yield desk, (arguments.draw(rng, thread) for _ in range(CALLS))


@pytest.mark.parametrize("name", PACKS)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_arguments_break_a_tool_a_foreign_key_or_out_of_the_database(name, seed):
    with in_the_middle(name, Random(seed)) as (desk, calls):
        connection = desk.database.connection
        for tool, args in calls:
            before = connection.total_changes
            with watched():
                answer = desk.run(tool, args)
            assert answer.error is None or answer.output["error_code"] == "invalid_arguments", (
                tool,
                args,
                answer.error,
            )
            assert list(answer.output) == ["data", "error_code", "ok", desk.pack.file.safe_message_key], (tool, args)
            json.dumps(answer.output, allow_nan=False)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == [], (tool, args)
            assert not connection.in_transaction
            assert answer.error is None or connection.total_changes == before, (tool, args)


@pytest.mark.parametrize("name", PACKS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_done_twice_breaks_nothing(name, seed):
    with in_the_middle(name, Random(seed)) as (desk, calls):
        for tool, args in calls:
            for _ in range(2):
                answer = desk.run(tool, args)
                assert answer.output["error_code"] != "tool_error", (tool, args, answer.error)


@pytest.mark.parametrize("name", PACKS)
def test_the_drawn_calls_are_no_farce(name):
    """A good part of the tools succeeds on some of them."""
    found: set[str] = set()
    for seed in range(100):
        with in_the_middle(name, Random(seed)) as (desk, calls):
            found.update(tool for tool, args in calls if desk.run(tool, args).ok)
    tools = loaded(name)[0].tools
    assert len(found) >= len(tools) / 2, sorted(set(tools) - found)


def test_the_watch_sees_what_it_is_for(tmp_path):
    with pytest.raises(AssertionError), watched():
        (tmp_path / "x").write_text("out")
    with pytest.raises(AssertionError), watched():
        os.mkdir(tmp_path / "y")
    with watched():
        (tmp_path / "x").read_text()
