"""What the caller makes of its own facts when they are read back."""

from __future__ import annotations

import pytest

from callm_voice.caller.facts import Facts

pytestmark = pytest.mark.unit

TWO_NUMBERS = Facts({"mobile": "312-555-0180", "old_number": "312-555-0149", "zip": "10016"})


def kinds(text: str) -> tuple[list[str], list[str]]:
    """Kinds of the facts that are read back right, and wrong."""
    right, wrong = TWO_NUMBERS.read_back(text)
    return [f.kind for f in right], [f.kind for f in wrong]


@pytest.mark.parametrize(
    "text", ["Your number so far is 312-555-0149. Is that right?", "I have 3125550149 on file. Is that your number?"]
)
def test_the_number_on_file_that_is_read_back_is_not_taken_for_a_mistake(text: str) -> None:
    assert kinds(text)[1] == []


def test_the_old_number_that_is_read_back_is_right() -> None:
    assert kinds("Your old number is 312-555-0149. Is that right?") == (["old_number"], [])


def test_the_old_number_in_the_place_of_the_new_one_is_wrong() -> None:
    assert kinds("Shall I text it to your number, 312-555-0149?")[1] == ["phone"]


def test_a_number_that_is_neither_of_them_is_wrong() -> None:
    assert kinds("Your number is 312-555-0148. Is that right?") == ([], ["phone"])


def test_both_numbers_in_one_sentence_are_right() -> None:
    text = "Your old number is 312-555-0149, and your new number is 312-555-0180. Is that right?"
    assert kinds(text) == (["phone", "old_number"], [])


@pytest.mark.parametrize(
    "text",
    [
        "Your member number ends in 6104, is that right?",
        "Is your policy number 4471902266?",
        "You're calling about your invoice number 10418?",
        "Do you have your claim in front of you, number 88213?",
        "Can I call you about order 5512, is that right?",
    ],
)
def test_another_kind_of_number_is_not_taken_for_a_telephone(text: str) -> None:
    assert kinds(text) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "For your account, the number I have for you is 312-555-0148, is that right?",
        "Is 312-555-0148 your best number?",
        "Your mobile ends in 0148, correct?",
        "I can text you at 555-0148, is that right?",
    ],
)
def test_another_telephone_number_is_wrong_whatever_it_is_called(text: str) -> None:
    assert kinds(text)[1] == ["phone"]


PERSON = Facts({"full_name": "Laura Bennett", "dob": "1981-02-08"})


def judged(text: str) -> tuple[list[str], list[str]]:
    right, wrong = PERSON.read_back(text)
    return [f.kind for f in right], [f.kind for f in wrong]


@pytest.mark.parametrize(
    "text",
    [
        "So that's Laura Bennett, born February 8, 1981?",
        "Okay, I have Laura Bennett, born February 8th, 1981?",
        "Great, thank you. You're Laura Bennett, born on 02/08/1981?",
    ],
)
def test_a_statement_with_a_question_mark_reads_back(text: str) -> None:
    assert judged(text) == (["name", "date_of_birth"], [])


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("So that's Laura Barrington, born February 8, 1981?", ["name"]),
        ("So that's Laura Bennett, born February 18, 1981?", ["date_of_birth"]),
        ("Your date of birth is February 9, 1981?", ["date_of_birth"]),
    ],
)
def test_what_is_stated_wrong_with_a_question_mark_is_put_right(text: str, wrong: list[str]) -> None:
    assert judged(text)[1] == wrong


@pytest.mark.parametrize(
    "text",
    [
        "So that's Summit Foods?",
        "That's Laura Bennett, born February 8, 1981.",
        "So that's an appointment on February 8, 1981?",
        "What is the name, and the date of birth?",
    ],
)
def test_what_reads_no_fact_back_or_asks_nothing_is_let_pass(text: str) -> None:
    assert judged(text) == ([], [])
