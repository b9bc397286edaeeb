"""The history is valid for OpenAI-style servers whatever was heard, said, done and cut."""

from __future__ import annotations

import json

import pytest
from support.desk_call import problems_of

from callm_voice.desk.history import History, history_name

pytestmark = pytest.mark.unit


@pytest.fixture
def talk():
    """Heard, then an answer with text and one call, then an answer with text."""
    history = History()
    history.hear("Hello")
    first = history.open_answer(1, 1)
    first.text = "One moment. "
    first.add_call("a", "look", {"day": "x"}, '{"day":"x"}', {"ok": True})
    history.open_answer(2, 1).text = "It is free today."
    return history


def test_a_call_stands_with_its_result_behind_it(talk):
    assert talk.messages()[1:3] == [
        {
            "role": "assistant",
            "content": "One moment. ",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"day":"x"}'}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"ok": true}'},
    ]
    assert problems_of(talk.messages()) == []


def test_arguments_that_were_cut_go_back_as_what_was_understood():
    history = History()
    history.open_answer(1, 1).add_call("a", "look", {}, '{"day": ', {"ok": False})
    function = history.messages()[0]["tool_calls"][0]["function"]
    assert json.loads(function["arguments"]) == {}


def test_barge_in_keeps_only_what_was_played(talk):
    talk.keep_played(1, {1: "One moment.", 2: "It is"})
    assert [m["content"] for m in talk.messages() if m["role"] == "assistant"] == ["One moment. ", "It is"]


def test_an_answer_that_was_not_played_and_did_nothing_is_gone(talk):
    talk.keep_played(1, {1: "One moment."})
    assert [m["role"] for m in talk.messages()] == ["user", "assistant", "tool"]


def test_a_call_stays_even_if_its_words_were_not_played(talk):
    talk.keep_played(1, {})
    assert talk.messages()[1]["content"] is None
    assert talk.messages()[1]["tool_calls"]
    assert problems_of(talk.messages()) == []


def test_barge_in_leaves_earlier_turns_alone(talk):
    talk.hear("And tomorrow?")
    talk.open_answer(3, 2).text = "Tomorrow is full."
    talk.keep_played(2, {3: "Tomorrow"})
    contents = [m["content"] for m in talk.messages() if m["role"] == "assistant"]
    assert contents == ["One moment. ", "It is free today.", "Tomorrow"]


def test_the_callers_words_on_both_sides_of_a_lost_answer_are_one_message():
    history = History()
    history.hear("I need")
    history.open_answer(1, 1).text = "Sure"
    history.keep_played(1, {})
    history.hear("an appointment.")
    assert history.messages() == [{"role": "user", "content": "I need\nan appointment."}]


def test_whether_something_waits_for_an_answer(talk):
    assert not talk.waits_for_answer
    talk.keep_played(1, {})
    assert talk.waits_for_answer
    assert not History().waits_for_answer


@pytest.mark.parametrize(
    ("given", "kept"), [("look", "look"), ("a b.c", "a_b_c"), ("", "unnamed"), ("x" * 99, "x" * 64)]
)
def test_tool_names_go_back_in_a_form_that_servers_accept(given, kept):
    assert history_name(given) == kept
