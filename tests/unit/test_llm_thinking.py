"""Thinking in the content, told from the answer."""

import pytest

from callm_voice.llm.thinking import ThinkSplitter

pytestmark = pytest.mark.unit


def split(*pieces: str) -> tuple[str, str, bool]:
    splitter = ThinkSplitter()
    parts = [p for t, piece in enumerate(pieces) for p in splitter.feed(piece, float(t))] + splitter.end()
    joined = {kind: "".join(text for k, _, text in parts if k == kind) for kind in ("reasoning", "text")}
    return joined["reasoning"], joined["text"], splitter.unclosed


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<think>hm</think>\n\nHello.", ("hm", "Hello.", False)),
        ("\n<think>\nhm\n</think>Hello.", ("\nhm\n", "Hello.", False)),
        ("<think></think>Hello.", ("", "Hello.", False)),
        ("Hello <think>no</think>", ("", "Hello <think>no</think>", False)),
        ("<think>a < b </thin k</think>x", ("a < b </thin k", "x", False)),
        ("<think>never ends", ("never ends", "", True)),
        ("<thin ice", ("", "<thin ice", False)),
        ("<thi", ("", "<thi", False)),
        ("", ("", "", False)),
    ],
)
def test_thinking_is_told_from_the_answer_however_it_is_cut(content, expected):
    assert split(content) == expected
    assert split(*content) == expected


def test_the_first_text_has_the_time_at_which_it_was_read():
    splitter = ThinkSplitter()
    parts = splitter.feed("<th", 1.0) + splitter.feed("en", 2.0)
    assert parts == [("text", 1.0, "<then")]


def test_line_ends_after_the_thinking_are_no_answer_token():
    splitter = ThinkSplitter()
    assert [kind for kind, _, _ in splitter.feed("<think>a</think>\n\n", 1.0)] == ["reasoning"]
    assert splitter.feed("Hi", 2.0) == [("text", 2.0, "Hi")]
