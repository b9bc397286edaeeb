"""A pack is loaded as a whole, and parts that do not fit together are named."""

from __future__ import annotations

import shutil
import sys

import pytest
from support.desk_call import TINY, tiny_pack

from callm_voice.bench.gold import gold_file, load_gold
from callm_voice.core.errors import ConfigError, NotFoundError
from callm_voice.desk.pack import load_pack

pytestmark = pytest.mark.unit


@pytest.fixture
def changed(tmp_path):
    """Load a copy of the tiny pack in which one text was replaced."""

    def run(file, old, new):
        folder = tmp_path / "tiny"
        shutil.copytree(TINY, folder)
        path = folder / file
        text = path.read_text() if path.exists() else ""
        assert old in text
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace(old, new) if old else new)
        return load_pack(folder)

    return run


def test_roles_tasks_and_seed_are_there():
    pack = tiny_pack()
    assert (pack.id, list(pack.roles), pack.task_ids()) == ("tiny", ["baking", "front"], ["C1-E1"])
    assert pack.seed_state()["orders"][0]["created_at"] == "2026-08-18 09:30:00"


def test_arg_types_cover_tools_and_transfers():
    types = tiny_pack().arg_types()
    assert types["find_customer"] == {"full_name": "name", "mobile": "phone"}
    assert types["transfer_to_baking"] == {"next_intent": "string"}
    assert types["transfer_to_front"] == {}


def test_arg_types_and_seed_fit_the_verifiers_gold_file():
    pack = tiny_pack()
    gold = load_gold(pack.task_path("C1-E1"))
    file = gold_file("tiny/C1-E1", gold, pack.seed_state(), pack.file.ignored_columns, pack.arg_types())
    assert file.arg_types["place_order"]["day"] == "date"


def test_a_task_comes_without_its_gold():
    task = tiny_pack().task("C1-E1")
    assert task.brief.traits["full_name"] == "Otto Sample"
    assert "gold" not in task.model_dump()


def test_gold_of_any_form_is_dropped_unread(changed):
    pack = changed("tasks/C1-E2.yaml", "", (TINY / "tasks/C1-E1.yaml").read_text().split("gold:")[0] + "gold: 7\n")
    with pytest.raises(ConfigError, match="its id must be C1-E2"):
        pack.task("C1-E2")


def test_an_unknown_role_or_task_lists_what_there_is():
    with pytest.raises(NotFoundError, match=r"no role named 'x'; known: baking, front"):
        tiny_pack().role("x")
    with pytest.raises(NotFoundError, match=r"no task named 'tiny/C9-E9'; known: tiny/C1-E1"):
        tiny_pack().task("C9-E9")


def test_each_call_has_a_database_and_a_session_of_its_own():
    pack = tiny_pack()
    one, two = pack.open_database(), pack.open_database()
    with one.transaction() as connection:
        connection.execute("DELETE FROM orders")
    assert two.dump() == pack.seed_state() != one.dump()
    pack.dispatcher(one).session["customer_id"] = 1
    assert pack.dispatcher(two).session == {"customer_id": None}
    one.close()
    two.close()


def test_the_hash_changes_with_any_file_and_with_nothing_else(changed):
    assert load_pack(TINY).content_hash == tiny_pack().content_hash
    assert changed("policies/voice.md", "short", "brief").content_hash != tiny_pack().content_hash


def test_loading_leaves_no_bytecode_and_gives_tools_a_module_of_their_own():
    load_pack(TINY)
    assert not list(TINY.rglob("*.pyc"))
    assert any(name.startswith("callm_pack_tiny_") for name in sys.modules)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("pack.yaml", "start_role: front", "start_role: nobody", r"start_role: there is no agents/nobody\.md"),
        ("pack.yaml", "09:30:00", "09:30:00Z", r"pack\.yaml: now: local to the business"),
        ("pack.yaml", "title: A", "tittle: A", r"pack\.yaml: title: this key is required"),
        ("pack.yaml", "orders.created_at", "orders.made_at", r"orders\.made_at: the schema has no such"),
        ("agents/front.md", "role: baking", "role: cellar", r"front\.md: transfers: there is no agents/cellar\.md"),
        ("agents/lost.md", "", "---\ntitle: L\n---\nHi.", r"lost\.md: no way of transfers leads here from front"),
        ("seed.sql", "VALUES (1, 'challah'", "VALUES (9, 'challah'", r"seed\.sql:3: SQLite says: FOREIGN KEY"),
        ("tools.py", "import json", "import no_such_thing", r"tools\.py:6: cannot be imported: ModuleNotFoundError"),
        ("tools.py", "import json", "import (", r"tools\.py:6: cannot be imported: SyntaxError"),
        ("tools.py", "import json", "1 / 0", r"tools\.py:6: cannot be imported: ZeroDivisionError"),
        ("tools.py", "    at: when the loaf", "    when: when the loaf", r"tools\.py:\d+: quote\.when: described"),
        ("agents/front.md", "{today}", "{tomorrow}", r"front\.md:11: \{tomorrow\}: unknown placeholder"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_named(changed, file, old, new, message):
    with pytest.raises(ConfigError, match=message):
        changed(file, old, new)


def test_a_task_whose_category_the_pack_does_not_have_is_named(changed):
    pack = changed("tasks/C1-E1.yaml", "category: Orders", "category: Money")
    with pytest.raises(ConfigError, match=r"C1-E1\.yaml: category: not one of the pack's: Orders"):
        pack.task("C1-E1")


@pytest.mark.parametrize("missing", ["pack.yaml", "tools.py", "schema.sql", "seed.sql"])
def test_a_missing_file_is_named(tmp_path, missing):
    shutil.copytree(TINY, tmp_path / "tiny")
    (tmp_path / "tiny" / missing).unlink()
    with pytest.raises(ConfigError, match=missing):
        load_pack(tmp_path / "tiny")
