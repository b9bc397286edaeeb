"""Tools are found in tools.py and described; what is wrong with one is said with file, function and line."""

from __future__ import annotations

from types import ModuleType

import pytest
from support.desk_call import tiny_pack

from callm_voice.core.errors import ConfigError
from callm_voice.desk.formats import TransferSpec
from callm_voice.desk.tools import BadArguments, find_tools, transfer_schema

pytestmark = pytest.mark.unit
HEAD = "import datetime as dt\nfrom typing import Any\nfrom callm_voice.desk.toolkit import ToolContext\n"
GOOD = '''
def look(ctx: ToolContext, day: dt.date, limit: int = 3) -> dict[str, Any]:
    """Look something up.

    In more words.

    Args:
        day: the day
            that is asked for.
        limit: how many.

    Returns:
        The envelope.
    """
'''


def tools_of(source):
    """The tools of a tools.py with this text."""
    module = ModuleType("callm_pack_test")
    exec(compile(HEAD + source, "tools.py", "exec"), module.__dict__)
    return find_tools(module)


def test_a_tool_is_described_by_signature_and_docstring():
    schema = tools_of(GOOD)["look"].schema()["function"]
    assert schema["description"] == "Look something up.\nIn more words."
    assert schema["parameters"] == {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date", "description": "the day that is asked for. (YYYY-MM-DD)"},
            "limit": {"type": "integer", "description": "how many.", "default": 3},
        },
        "required": ["day"],
        "additionalProperties": False,
    }


def test_helpers_private_functions_and_imported_functions_are_no_tools():
    source = GOOD + "def helper(x: int): ...\ndef _hidden(ctx: ToolContext): ...\nfrom json import dumps\n"
    assert list(tools_of(source)) == ["look"]


def test_annotations_may_be_postponed():
    assert tiny_pack().tools["place_order"].arguments[1].kind.arg_type == "date"


LOOK = """def look(ctx: ToolContext, %s):
  '''Look.

  Args:
    day: the day.
  '''
"""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def look(ctx: ToolContext): ...", r"tools\.py:4: look: this tool has no docstring"),
        (LOOK % "limit: int, day: str", r"look\.limit: this parameter is not described"),
        (LOOK % "", r"look\.day: described .* no such parameter"),
        (LOOK % "day", r"look\.day: this parameter has no type"),
        (LOOK % "day: dict", r"look\.day: the type .*dict"),
        (LOOK % "day: int | None", r"look\.day: a parameter that may be None needs a default"),
        (LOOK % "*day: int", r"look\.day: a tool takes named parameters only"),
        (LOOK % "day: 'Unknown'", r"look: an annotation cannot be read: .*Unknown"),
        ('async def look(ctx: ToolContext):\n  """Look."""', r"look: a tool is a plain function, not async"),
        ('def transfer_to_x(ctx: ToolContext):\n  """Look."""', r"transfer_to_x: .*without transfer_to_"),
        ('def Look(ctx: ToolContext):\n  """Look."""', r"Look: a tool's name is snake_case"),
    ],
)
def test_what_is_wrong_with_a_tool_is_said(source, message):
    with pytest.raises(ConfigError, match=message):
        tools_of(source)


def test_all_problems_of_a_call_are_named_at_once_and_superfluous_arguments_are_none():
    with pytest.raises(BadArguments) as error:
        tools_of(GOOD)["look"].convert({"limit": "many", "extra": 1})
    assert str(error.value) == (
        'day: expected a date as YYYY-MM-DD, but it is missing; limit: expected an integer, got "many"'
    )


def test_null_for_an_optional_argument_means_that_it_is_not_given():
    assert set(tools_of(GOOD)["look"].convert({"day": "2026-08-20", "limit": None})) == {"day"}


def test_a_transfer_is_a_tool_with_optional_strings():
    spec = TransferSpec(role="billing", when="Money.", params={"next_intent": "why"})
    function = transfer_schema(spec)["function"]
    assert (function["name"], function["description"]) == ("transfer_to_billing", "Money.")
    assert function["parameters"]["properties"] == {"next_intent": {"type": "string", "description": "why"}}
    assert function["parameters"]["required"] == []
