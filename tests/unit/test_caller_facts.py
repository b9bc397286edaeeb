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
