"""The recogniser's guards: loops are found, runs of digits are let through."""

from __future__ import annotations

import pytest

from callm_voice.speech.stt_guards import compression, find_loop, is_of_numbers, spoken_text, stutters, trim_loop

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "text",
    [
        "five five five five five five",
        "My code is 5 5 5 5 5 5 5",
        "555-555-5555",
        "It's zero zero zero zero zero one",
        "no no no no",
        "yes, yes, yes, that's right",
        "two one two, two one two",
        "bye bye bye",
    ],
)
def test_what_people_really_say_is_no_loop(text: str) -> None:
    assert find_loop(text, 3.0) is None


@pytest.mark.parametrize(
    "text",
    [
        "thank you thank you thank you thank you",
        "I want to pay the bill I want to pay the bill I want to pay the bill",
        "S-S-S-S-S-S-S-S",
        "so so so so so so so so",
    ],
)
def test_words_that_repeat_more_than_people_do_are_a_loop(text: str) -> None:
    assert find_loop(text, 3.0) is not None


def test_more_digits_than_could_be_spoken_are_a_loop() -> None:
    text = " ".join(["5"] * 29)
    loop = find_loop(text, 3.0)
    assert loop is not None
    assert is_of_numbers(text, loop)
    assert find_loop(text, 10.0) is None


def test_a_trimmed_loop_keeps_what_came_before_and_one_repetition() -> None:
    text = "I can pay today and the bill and the bill and the bill and the bill"
    loop = find_loop(text, 5.0)
    assert loop is not None
    assert trim_loop(text, loop) == "I can pay today and the bill"


def test_a_text_that_is_nothing_but_a_loop_becomes_empty() -> None:
    text = "thank you. Thank you. Thank you. Thank you. Thank"
    loop = find_loop(text, 5.0)
    assert loop is not None
    assert trim_loop(text, loop) == ""


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("[Music]", ""),
        ("(beeping)", ""),
        ("♪♪", ""),
        ("...", ""),
        ("", ""),
        ("(coughs) Yes, please.", "Yes, please."),
        ("It is 5.", "It is 5."),
    ],
)
def test_asides_are_not_speech(raw: str, text: str) -> None:
    assert spoken_text(raw) == text


def test_repetitive_text_compresses_and_digits_do_not_count() -> None:
    assert compression("we are so happy to be here " * 8) > 2.4
    assert compression("5 5 5 5 5 5 5 5 " * 20) == 1.0
    assert (
        compression("I would like to move my appointment to Thursday morning, and please check my bill as well.") < 2.0
    )


def test_a_syllable_over_and_over_in_one_word_is_a_stutter_and_digits_are_not() -> None:
    assert stutters("Nanananananananananana")
    assert stutters("it is SSSSSSSSSSSSSSSS")
    assert not stutters("My card is 0000000000000000, bananas and Mississippi, hmmmm.")
