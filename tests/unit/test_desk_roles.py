"""A role's file becomes a prompt and a list of tools, or an error that names the place."""

# ruff: noqa: DTZ001 - a pack's clock has no offset

from __future__ import annotations

import datetime as dt

import pytest
from support.desk_call import tiny_pack

from callm_voice.core.errors import ConfigError
from callm_voice.desk.roles import load_role, placeholders, written_date

pytestmark = pytest.mark.unit
VALUES = placeholders("Crumb and Co", dt.datetime(2026, 8, 18, 9, 30, 59))


@pytest.fixture
def load(tmp_path):
    """Load a role from the text of its file; one policy `voice` exists."""
    (tmp_path / "voice.md").write_text("Be short at {now}.\n")
    (tmp_path / "bad.md").write_text("One.\nTwo {nobody}.\n")

    def run(text):
        (tmp_path / "front.md").write_text(text)
        return load_role(tmp_path / "front.md", tmp_path, tiny_pack().tools, VALUES)

    return run


def test_the_prompt_is_body_then_policies_with_placeholders_filled(load):
    role = load("---\ntitle: Front\npolicies: [voice]\n---\n\nThis is {business}, {today}.\n")
    assert role.system_prompt == "This is Crumb and Co, Tuesday, August 18, 2026.\n\nBe short at 2026-08-18T09:30."


def test_braces_that_are_no_placeholder_stay(load):
    role = load('---\ntitle: Front\n---\n{"a": 1} {{now}} {A} {}')
    assert role.system_prompt == '{"a": 1} {now} {A} {}'


def test_tools_come_in_the_order_of_the_file_then_transfers(load):
    role = load("---\ntitle: F\ntools: [quote, list_orders]\ntransfers: [{role: baking, when: Orders.}]\n---\nHi.")
    assert [s["function"]["name"] for s in role.tool_schemas] == ["quote", "list_orders", "transfer_to_baking"]


def test_dates_are_written_without_the_machines_locale():
    assert written_date(dt.date(2027, 1, 3)) == "Sunday, January 3, 2027"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("You are nice.", r"front\.md:1: expected front matter between two lines of ---"),
        ("---\ntitle: F\nno end", r"front\.md:1: expected front matter"),
        ("---\n- a\n---\nHi.", r"the front matter is not a mapping"),
        ("---\ntitle: F\nbad: : :\n---\nHi.", r"front\.md:3: not valid YAML"),
        ("---\ntitle: F\nshoe_size: 5\n---\nHi.", r"front\.md: shoe_size: unknown key"),
        ("---\ntools: []\n---\nHi.", r"front\.md: title: this key is required"),
        ("---\ntitle: F\ntools: [nope]\n---\nHi.", r"tools\.py has no tool 'nope'; it has: break_half_way, "),
        ("---\ntitle: F\npolicies: [nope]\n---\nHi.", r"policies: there is no policy 'nope'"),
        (
            "---\ntitle: F\npolicies: [bad]\n---\nHi.",
            r"bad\.md:2: \{nobody\}: unknown .* \{business\}",
        ),
        ("---\ntitle: F\ntools: [quote, quote]\n---\nHi.", r"tools: an entry stands twice"),
        ("---\ntitle: F\n---\n  \n", r"the prompt is empty"),
    ],
)
def test_a_wrong_role_file_is_named_with_its_place(load, text, message):
    with pytest.raises(ConfigError, match=message):
        load(text)
