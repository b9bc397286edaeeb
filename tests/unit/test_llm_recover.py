"""Tool calls that came as JSON text. The forms are those that Qwen2.5-Coder-0.5B was seen to write, and its kin."""

import pytest

from callm_voice.llm.recover import CallRecoverer, FoundCall, HeldText

pytestmark = pytest.mark.unit
TOOLS = {"get_balance", "list_slots"}
CALL = '{"name": "get_balance", "arguments": {"patient_id": "P-100"}}'
SLOTS = '{"name": "list_slots", "arguments": {"provider": "Doctor Chen"}}'


def recover(*pieces: str) -> tuple[str, list[FoundCall]]:
    recoverer = CallRecoverer(TOOLS)
    found = [x for t, piece in enumerate(pieces) for x in recoverer.feed(piece, float(t))] + recoverer.end()
    return "".join(x.text for x in found if isinstance(x, HeldText)), [x for x in found if isinstance(x, FoundCall)]


@pytest.mark.parametrize(
    ("text", "prose", "names"),
    [
        (CALL, "", ["get_balance"]),
        (f"{CALL}\n", "", ["get_balance"]),
        (f"{CALL},\n{SLOTS}\n", "", ["get_balance", "list_slots"]),
        (f"{CALL}\n\n{SLOTS}", "", ["get_balance", "list_slots"]),
        (f"[{CALL}, {SLOTS}]", "", ["get_balance", "list_slots"]),
        (f"```json\n{CALL}\n```", "", ["get_balance"]),
        (f"```json\n{CALL}\n```\n\n```json\n{SLOTS}\n```", "", ["get_balance", "list_slots"]),
        (f"```\n[{CALL}]\n```\n", "", ["get_balance"]),
        (f"<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{SLOTS}\n</tool_call>", "", ["get_balance", "list_slots"]),
        (f"<tools>{CALL}</tools>", "", ["get_balance"]),
        (f"Let me look. {CALL}", "Let me look. ", ["get_balance"]),
        (f"One moment.\n```json\n{CALL}\n```\nDone.", "One moment.\nDone.", ["get_balance"]),
        ('{"name": "get_balance"}', "", ["get_balance"]),
        ('{"name": "get_balance", "parameters": {}}', "", ["get_balance"]),
        ('{"arguments": {"a": "}{"}, "name": "get_balance"}', "", ["get_balance"]),
        ('{"type": "function", "function": {"name": "get_balance", "arguments": "{}"}}', "", ["get_balance"]),
    ],
)
def test_calls_are_taken_out_of_the_text(text, prose, names):
    found_prose, calls = recover(text)
    assert (found_prose, [c.name for c in calls], [c.error for c in calls]) == (prose, names, [None] * len(names))


@pytest.mark.parametrize(
    "text",
    [
        "Your balance is twenty dollars.",
        "Use {braces} and [brackets] and `code` and a < b.",
        '{"name": "Alvarez", "arguments": {}}',
        '{"name": "drop_tables", "id": 5}',
        '{"name": "Maria", "age": 7}',
        '{"name": "get_balance", "arguments": {}, "mood": "good"}',
        '{"balance": 3}',
        "{",
        "[",
        "```",
        "``` not a call ```",
        "<tool",
        "```python\nprint(1)\n```",
        '[{"a": 1}, {"b": 2}]',
        '{"name": "multi", "arguments": {"calls": [' + CALL + "]}}",
    ],
)
def test_what_is_no_call_is_given_back_unchanged(text):
    assert recover(text) == (text, [])
    assert recover(*text) == (text, [])


def test_a_call_of_a_tool_that_was_not_offered_is_a_call_for_the_desk_to_refuse():
    text, calls = recover('{"name": "transfer_to_identity", "arguments": {"next_intent": "billing"}}')
    assert (text, [(c.name, c.arguments) for c in calls]) == (
        "",
        [("transfer_to_identity", {"next_intent": "billing"})],
    )


def test_arguments_are_parsed():
    _, calls = recover(CALL)
    assert calls[0].arguments == {"patient_id": "P-100"}


def test_raw_line_ends_in_strings_are_taken():
    _, calls = recover('{"name": "get_balance", "arguments": {"note": "a\nb"}}')
    assert calls[0].arguments == {"note": "a\nb"}


def test_a_call_that_is_cut_is_a_call_without_arguments():
    prose, calls = recover(CALL[:-10])
    assert (prose, calls[0].name, calls[0].arguments) == ("", "get_balance", {})


@pytest.mark.parametrize("end", ["", "\n", "\n```", "\n</tool_call>"])
def test_a_call_that_lacks_only_its_last_brace_is_whole_if_the_model_stopped_by_itself(end):
    recoverer = CallRecoverer(TOOLS)
    assert recoverer.feed(CALL[:-1] + end, 0.0) == []
    (found,) = recoverer.end()
    assert isinstance(found, FoundCall)
    assert (found.arguments, found.error, found.mended) == ({"patient_id": "P-100"}, None, True)


def test_a_call_that_lacks_its_last_brace_at_the_length_limit_is_cut():
    recoverer = CallRecoverer(TOOLS)
    recoverer.feed(CALL[:-1], 0.0)
    (found,) = recoverer.end(cut=True)
    assert isinstance(found, FoundCall)
    assert (found.arguments, found.error) == ({}, "the call is cut: its JSON does not end")


@pytest.mark.parametrize("missing", [2, 3, 10])
def test_a_call_whose_arguments_are_not_whole_is_cut(missing):
    assert recover(CALL[:-missing])[1][0].error == "the call is cut: its JSON does not end"


def test_a_call_that_is_not_json_is_a_call_with_an_error():
    _, calls = recover('{"name": "get_balance", "arguments": {"a": oops}}')
    assert calls[0].error == "the call is not JSON"


def test_prose_is_not_held_back():
    recoverer = CallRecoverer(TOOLS)
    assert recoverer.feed("Good morning, ", 0.0) == [HeldText(0.0, "Good morning, ")]


def test_text_that_cannot_become_a_call_is_released_at_once():
    recoverer = CallRecoverer(TOOLS)
    assert "".join(x.text for x in recoverer.feed("{smile} hello", 0.0) if isinstance(x, HeldText)) == "{smile} hello"


def test_held_text_keeps_the_time_of_its_reading():
    recoverer = CallRecoverer(TOOLS)
    found = recoverer.feed("{", 1.0) + recoverer.feed(' "', 2.0) + recoverer.feed("mood", 3.0) + recoverer.end()
    assert next(x for x in found if isinstance(x, HeldText)).t_s == 1.0
    assert len(found) <= 2


def test_a_call_has_the_times_of_its_first_and_last_characters():
    pieces = ["Yes. ", CALL[:10], CALL[10:-1], CALL[-1], " "]
    _, calls = recover(*pieces)
    assert (calls[0].t_s, calls[0].end_s) == (1.0, 3.0)


def test_a_long_text_in_braces_is_not_held_for_ever():
    recoverer = CallRecoverer(TOOLS)
    recoverer.feed('{"name": "', 0.0)
    assert recoverer.feed("x" * 9000, 1.0)
