"""Traits in lines, and what `check_brief` finds wrong with a brief."""

from __future__ import annotations

from typing import Any

import pytest
from support.small_brief import TRAITS, small_brief

from callm_voice.caller.check import check_brief
from callm_voice.caller.script import load_script
from callm_voice.caller.traits import render
from callm_voice.core.errors import ConfigError

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("{full_name}", "Nora Quill"),
        ("{full_name:spell}", "N-O-R-A, Q-U-I-L-L"),
        ("{full_name:first} / {full_name:last}", "Nora / Quill"),
        ("{mobile:digits}", "2 1 2, 5 5 5, 0 1 0 0"),
        ("{zip:digits}", "1 0 0 0 1"),
        ("{date_of_birth:date}", "February 9, 1980"),
        ("no slot", "no slot"),
    ],
)
def test_a_trait_is_rendered_in_the_form_that_is_asked_for(template: str, line: str) -> None:
    assert render(template, TRAITS, where="say") == line


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{mobil}", "unknown trait 'mobil'; known: date_of_birth, full_name, mobile, zip"),
        ("{mobile:shout}", "unknown form 'shout' of trait 'mobile'"),
        ("{full_name:digits}", "nothing is left of trait 'full_name'"),
        ("{mobile", "a brace without its partner"),
    ],
)
def test_a_wrong_slot_is_a_config_error_that_names_file_key_and_what_is_known(template: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        render(template, TRAITS, where="beats.give.say", source="C5-H1.yaml")
    assert str(caught.value).startswith("C5-H1.yaml: beats.give.say: ")
    assert message in str(caught.value)


def test_a_date_that_does_not_exist_stays_as_it_is_written() -> None:
    assert render("{d:date}", {"d": "1980-02-31"}, where="say") == "1980-02-31"


def test_a_bad_pattern_is_refused_when_the_script_is_loaded() -> None:
    with pytest.raises(ConfigError, match=r"beats\.b\.when\.any_of: not a regular expression: '\(x'"):
        load_script(small_brief(beats=[{"id": "b", "say": "x", "when": {"any_of": ["(x"]}}]))


def test_a_good_brief_has_no_problems() -> None:
    assert check_brief(small_brief()) == []


def beats(*changes: dict[str, Any]) -> list[dict[str, Any]]:
    """A sound pair of beats and what a case adds."""
    return [
        {"id": "ask", "say": "Can you help?", "ask": True, "repeat": 2},
        {"id": "bye", "say": "Bye.", "hang_up": True, "after": ["ask"], "when": {"any_of": ["done"]}},
        *changes,
    ]


NO_RULES: dict[str, Any] = {"never": []}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"beats": beats({"id": "b", "say": "x", "after": ["nobody"]})},
            "beat b: after names an unknown beat 'nobody'",
        ),
        ({"beats": beats({"id": "b", "say": "x", "before": ["nobody"]})}, "beat b: before names an unknown beat"),
        ({"beats": beats(), "never": [{"pattern": "x", "until": "nobody"}]}, "never 'x': until names an unknown beat"),
        ({"beats": beats({"id": "b", "say": "x", "when": {"none_of": ["[a"]}})}, "beats.b.when.none_of: not a regular"),
        ({"beats": beats(), "never": [{"pattern": "*"}]}, "never.0.pattern: not a regular expression: '*'"),
        ({"beats": beats(), "hold": ["("]}, "hold: not a regular expression: '('"),
        ({"beats": beats({"id": "b", "say": "{shoe}"})}, "beats.b.say: unknown trait 'shoe'"),
        ({"beats": beats()[1:]}, "no beat is marked `ask`"),
        ({"beats": beats()[:1]}, "no beat is marked `hang_up`"),
        ({"beats": beats({"id": "ask", "say": "x"})}, "beat ask: the id stands twice"),
        ({"beats": beats({"id": "opening", "say": "x"})}, "beat opening: this id is taken"),
        ({"beats": beats(), "opening": " "}, "the opening is empty"),
        (
            {"beats": beats({"id": "b", "say": "", "ask": True})},
            "beat b: `ask` and `barge_in_ms` need something to say",
        ),
        ({"beats": beats({"id": "b", "say": "x", "barge_in_ms": -1})}, "beat b: barge_in_ms is negative"),
    ],
)
def test_each_kind_of_problem_is_named_with_its_beat(changes: dict[str, Any], problem: str) -> None:
    assert any(found.startswith(problem) for found in check_brief(small_brief(**{**NO_RULES, **changes})))


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        ([{"id": "b", "say": "x", "after": ["bye"]}], "it comes after bye, which hangs up"),
        ([{"id": "b", "say": "x", "after": ["b"]}], "it comes after itself"),
        ([{"id": "b", "say": "x", "repeat": 0}], "repeat is less than 1"),
        ([{"id": "b", "say": "x", "after": ["ask"], "before": ["ask"]}], "it must come before and after ask"),
        ([{"id": "b", "say": "x", "before": ["opening"]}], "nothing is said before the opening"),
        ([{"id": "b", "say": "x", "when": {"any_of": ["q"], "none_of": ["q"]}}], "the same pattern is wanted and excl"),
        ([{"id": "b", "say": "x", "after": ["ask"], "when": {"any_of": ["done"]}}], "bye stands before it, matches"),
        (
            [{"id": "a", "say": "x", "repeat": 0}, {"id": "b", "say": "x", "after": ["a"]}],
            "it comes after a",
        ),
    ],
)
def test_a_beat_that_can_never_be_reached_is_found(added: list[dict[str, Any]], reason: str) -> None:
    found = check_brief(small_brief(beats=beats(*added), **NO_RULES))
    assert any(p.startswith("beat b: can never be reached: ") and reason in p for p in found)


def test_a_line_that_is_forbidden_when_it_would_be_said_is_found() -> None:
    rules = [{"pattern": "sesame", "until": "bye"}]
    found = check_brief(small_brief(beats=beats({"id": "b", "say": "Open sesame."}), never=rules))
    assert found == ["beat b: say says what it must not at that time: never 'sesame' until bye"]


def test_the_beat_that_lifts_a_rule_may_say_it_and_so_may_those_after_it() -> None:
    rules = [{"pattern": "sesame", "until": "first"}]
    added = [{"id": "first", "say": "Sesame."}, {"id": "second", "say": "Sesame again.", "after": ["first"]}]
    assert check_brief(small_brief(beats=beats(*added), never=rules)) == []


def test_an_opening_that_is_forbidden_is_found() -> None:
    found = check_brief(small_brief(beats=beats(), never=[{"pattern": "bill"}]))
    assert found == ["opening: says what it must not: never 'bill' ever"]
