"""Where in its script the oracle stands, found by replaying the history."""

import json

import pytest
import yaml

from callm_voice.core.errors import ConfigError, UsageError
from callm_voice.llm.oracle_replay import CLOSING, NO_SAY_YET, OracleError, next_reply
from callm_voice.llm.oracle_script import check_script, parse_script

pytestmark = pytest.mark.unit
SCRIPT = [
    {"say": "Hello, who is calling?"},
    {"hear": {}},
    {"say": "One moment, please."},
    {"call": "find", "args": {"name": "Lopez"}},
    {"say": "I found you, Maria."},
    {"say": "Shall I book Tuesday?"},
    {"hear": {"any_of": [r"\byes\b", "sure"]}, "else": "Sorry, shall I book Tuesday?"},
    {"call": "book", "args": {"day": "Tuesday"}},
    {"call": "notify", "together": True},
    {"say": "It is booked."},
    {"hear": {"any_of": ["bye"]}},
    {"say": "Goodbye, Maria."},
]
TOOLS = ["find", "book", "notify"]
NOTE = {"role": "user", "content": "[The caller is on the line.]"}


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


def called(*names, content=None):
    calls = [{"id": n, "type": "function", "function": {"name": n, "arguments": "{}"}} for n in names]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(name, **output):
    return {"role": "tool", "tool_call_id": name, "content": json.dumps(output or {"ok": True})}


def reply(*messages, script=SCRIPT, tools=TOOLS):
    answer = next_reply(parse_script(script), [{"role": "system", "content": "x"}, *messages], tools)
    return answer.text, [c.call for c in answer.calls]


GREETED = [NOTE, said("Hello, who is calling?")]
ASKED = [*GREETED, user("Maria Lopez"), called("find", content="One moment, please."), result("find")]
BOOK = [*ASKED, said("I found you, Maria. Shall I book Tuesday?")]
DONE = [*BOOK, user("yes"), called("book", "notify"), result("book"), result("notify"), said("It is booked.")]


@pytest.mark.parametrize(
    ("history", "text", "calls"),
    [
        ([], "Hello, who is calling?", []),
        ([NOTE], "Hello, who is calling?", []),
        ([*GREETED, user("Maria Lopez")], "One moment, please.", ["find"]),
        (ASKED, "I found you, Maria. Shall I book Tuesday?", []),
        ([*BOOK, user("Yes, please")], "", ["book", "notify"]),
        ([*BOOK, user("What?")], "Sorry, shall I book Tuesday?", []),
        (DONE[:-1], "It is booked.", []),
        ([*DONE, user("Bye!")], "Goodbye, Maria.", []),
        ([*DONE, user("Bye!"), said("Goodbye, Maria."), user("Bye")], CLOSING, []),
    ],
)
def test_each_place_in_the_script_has_its_answer(history, text, calls):
    assert reply(*history) == (text, calls)


def test_without_an_else_text_the_words_before_are_said_again():
    assert reply(*DONE, user("Hm?")) == ("It is booked.", [])


def test_an_else_text_in_the_history_does_not_move_the_place():
    history = [*BOOK, user("What?"), said("Sorry, shall I book Tuesday?")]
    assert reply(*history, user("yes")) == ("", ["book", "notify"])
    assert reply(*history, user("no"))[0] == "Sorry, shall I book Tuesday?"


def test_words_before_that_are_said_again_do_not_move_the_place():
    assert reply(*DONE, user("Hm?"), said("It is booked."), user("Bye")) == ("Goodbye, Maria.", [])


@pytest.mark.parametrize("cut", ["Hello", "Hello, who is", "hello who is calling"])
def test_words_that_barge_in_cut_were_said(cut):
    assert reply(NOTE, said(cut), user("Maria Lopez"))[1] == ["find"]


def test_words_that_nobody_heard_are_said_again():
    assert reply(NOTE, user("Hi, I am Maria")) == ("Hello, who is calling?", [])
    assert reply(*BOOK, user("yes"), called("book", "notify"), result("book"), result("notify"), user("Hello?")) == (
        "It is booked.", [],
    )  # fmt: skip


def test_of_two_sentences_only_the_unheard_one_is_said_again():
    assert reply(*ASKED, said("I found you, Maria."), user("Good"))[0] == "Shall I book Tuesday?"


def test_two_sentences_in_two_messages_are_both_said():
    history = [*ASKED, said("I found you, Maria."), said("Shall I book Tuesday?")]
    assert reply(*history, user("sure"))[1] == ["book", "notify"]


def test_a_call_whose_words_before_were_not_heard_still_counts():
    history = [*GREETED, user("Maria"), called("find"), result("find")]
    assert reply(*history)[0] == "I found you, Maria. Shall I book Tuesday?"


def test_words_that_enter_the_history_after_their_call_do_not_move_the_place():
    history = [*GREETED, user("Maria"), called("find"), result("find"), said("One moment, please.")]
    assert reply(*history)[0] == "I found you, Maria. Shall I book Tuesday?"


def test_the_caller_may_answer_in_two_messages():
    script = [{"say": "Name?"}, {"hear": {"any_of": ["maria.*lopez"]}}, {"say": "Thanks."}]
    assert reply(said("Name?"), user("Maria"), user("Lopez"), script=script)[0] == "Thanks."


def test_a_note_of_the_desks_is_not_the_callers_words():
    assert reply(*GREETED, user("[The caller said something that could not be made out.]")) == (
        "Hello, who is calling?", [],
    )  # fmt: skip


def test_words_beside_a_note_in_one_message_count():
    assert reply(*GREETED, user("[The caller is on the line.]\nMaria Lopez"))[1] == ["find"]


def test_of_calls_together_the_missing_one_is_made_alone():
    assert reply(*BOOK, user("yes"), called("book"), result("book")) == ("", ["notify"])


def test_words_of_others_do_not_move_the_place():
    assert reply(NOTE, said("Please stay on the line."), user("Hi")) == ("Hello, who is calling?", [])


def test_a_script_that_listens_first_asks_again_until_it_hears():
    script = [{"hear": {"any_of": ["hello"]}}, {"say": "Good morning."}]
    assert reply(NOTE, script=script)[0] == NO_SAY_YET
    assert reply(user("Hello?"), script=script)[0] == "Good morning."


def test_an_empty_script_is_over():
    assert reply(user("Hi"), script=[]) == (CLOSING, [])


def test_a_tool_that_is_not_offered_is_a_fault_of_the_pack_and_named():
    with pytest.raises(OracleError, match="step 4 calls 'find', which is not offered here; offered: book"):
        reply(*GREETED, user("Maria"), tools=["book"])


@pytest.mark.parametrize("output", [{"ok": False, "error_code": "NO_PATIENT"}, {"success": False}])
def test_a_tool_that_failed_is_a_fault_of_the_pack_and_named(output):
    with pytest.raises(OracleError, match="the tool 'find' failed"):
        reply(*GREETED, user("Maria"), called("find"), result("find", **output))


def test_a_tool_may_fail_if_the_script_says_so():
    script = [{"call": "find", "may_fail": True}, {"say": "Nobody of that name."}]
    assert reply(called("find"), result("find", ok=False), script=script)[0] == "Nobody of that name."


def test_a_call_that_the_oracle_did_not_make_is_refused():
    with pytest.raises(OracleError, match="has a call of 'drop' where step 1"):
        reply(called("drop"), result("drop"))


def test_conditions_have_all_and_none_too():
    script = [{"say": "Book?"}, {"hear": {"all_of": ["yes", "tuesday"], "none_of": ["not"]}}, {"say": "Done."}]
    assert reply(said("Book?"), user("Yes, Tuesday"), script=script)[0] == "Done."
    assert reply(said("Book?"), user("yes, but not Tuesday"), script=script)[0] == "Book?"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"shout": "Hi"}, "exactly one of say, hear, call"),
        ({"say": "Hi", "hear": {}}, "exactly one of say, hear, call"),
        ({"say": ""}, "say: "),
        ({"hear": {"some_of": ["x"]}}, "hear.some_of: unknown key"),
        ({"hear": {"any_of": ["("]}}, "not a regular expression"),
        ({"call": "find", "arguments": {}}, "arguments: unknown key"),
        ({"call": "find", "together": True}, "no call directly before"),
        ("say", "exactly one of say, hear, call"),
    ],
)
def test_a_wrong_step_is_named(step, message):
    with pytest.raises(UsageError, match=r"dialogue step 2: ") as caught:
        parse_script([{"say": "Hi"}, step])
    assert message in caught.value.message


def test_a_wrong_step_of_a_task_file_has_its_line(tmp_path):
    path = tmp_path / "C1-E1.yaml"
    path.write_text("id: C1-E1\ngold:\n  dialogue:\n    - say: Hi\n    - shout: Hello\n")
    with pytest.raises(ConfigError, match=r"C1-E1.yaml:5: gold\.dialogue\.1: expected exactly one") as caught:
        check_script(yaml.safe_load(path.read_text())["gold"]["dialogue"], path)
    assert caught.value.line == 5
