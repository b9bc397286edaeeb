"""A long tools.py may stand in parts: toolparts/*.py, imported relatively, hashed, and named in errors."""

from __future__ import annotations

import shutil

import pytest
from support.desk_call import TINY

from callm_voice.core.errors import ConfigError
from callm_voice.desk.pack import load_pack

pytestmark = pytest.mark.unit

COMMON = """
from callm_voice.desk.toolkit import Envelope, ToolContext

def counted(ctx: ToolContext, table: str) -> int:
    return ctx.row(f"SELECT count(*) AS n FROM {table}")["n"]
"""
PART = '''
from callm_voice.desk.toolkit import Envelope, ToolContext
from .common import counted

def count_orders(ctx: ToolContext) -> Envelope:
    """How many orders there are."""
    return ctx.ok({"orders": counted(ctx, "orders")})
'''


@pytest.fixture
def parted(tmp_path):
    """A copy of the tiny pack of which one tool stands in a part."""
    folder = tmp_path / "tiny"
    shutil.copytree(TINY, folder)
    (folder / "toolparts").mkdir()
    (folder / "toolparts" / "common.py").write_text(COMMON)
    (folder / "toolparts" / "counts.py").write_text(PART)
    tools = folder / "tools.py"
    tools.write_text(tools.read_text().replace("import json\n", "import json\nfrom .counts import count_orders\n", 1))
    front = folder / "agents" / "front.md"
    front.write_text(front.read_text().replace("tools: [", "tools: [count_orders, ", 1))
    return folder


def test_a_tool_of_a_part_runs_and_its_helper_is_no_tool(parted):
    pack = load_pack(parted)
    database = pack.open_database()
    answer = pack.dispatcher(database).run(pack.role("front"), "count_orders", {})
    database.close()
    assert answer.output["data"] == {"orders": len(pack.seed_state()["orders"])}
    assert "counted" not in pack.tools


def test_the_hash_covers_the_parts(parted):
    before = load_pack(parted).content_hash
    (parted / "toolparts" / "counts.py").write_text(PART + "\n# changed\n")
    assert load_pack(parted).content_hash != before


def test_a_changed_part_is_read_anew(parted):
    load_pack(parted)
    (parted / "toolparts" / "counts.py").write_text(PART.replace("How many orders", "The number of orders"))
    assert load_pack(parted).tools["count_orders"].description == "The number of orders there are."


def test_two_packs_with_parts_of_one_name_do_not_meet(parted, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(parted, other)
    (other / "toolparts" / "counts.py").write_text(PART.replace("How many orders", "The number of orders"))
    one, two = load_pack(parted), load_pack(other)
    assert one.tools["count_orders"].description != two.tools["count_orders"].description


def test_no_bytecode_is_left(parted):
    load_pack(parted)
    assert not list(parted.rglob("*.pyc"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0\n", r"toolparts/counts\.py:1: cannot be imported: ZeroDivisionError"),
        ("import (\n", r"toolparts/counts\.py:1: cannot be imported: SyntaxError"),
        (
            PART.replace('"""How many orders there are."""', ""),
            r"toolparts/counts\.py:5: count_orders: this tool has no",
        ),
    ],
)
def test_what_is_wrong_in_a_part_is_named_with_its_file_and_line(parted, text, message):
    (parted / "toolparts" / "counts.py").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_pack(parted)


def test_a_part_that_is_not_there_is_named(parted):
    (parted / "toolparts" / "counts.py").unlink()
    with pytest.raises(ConfigError, match=r"tools\.py:\d+: cannot be imported: ModuleNotFoundError"):
        load_pack(parted)
