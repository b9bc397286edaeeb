"""What a caller understands of the agent's words, and what it answers from its own facts."""

from __future__ import annotations

import re

import pytest
from support.small_brief import small_brief

from callm_voice.caller.answers import Answers
from callm_voice.caller.hearing import asks, asks_to_confirm, puts_on_hold, sentences
from callm_voice.caller.values import HeardDate, dates_in, digit_runs_in, spelled_in

pytestmark = pytest.mark.unit

TRAITS = {
    "full_name": "Maria Alvarez",
    "zip": "10016",
    "date_of_birth": "1972-06-30",
    "mobile": "212-555-0133",
    "preferred_office": "Park Avenue",
    "patient_status": "existing",
}
ANSWERS = Answers(TRAITS)
HOLD = [re.compile(p, re.IGNORECASE) for p in small_brief().hold]


def general(text: str, last_line: str = "It's Maria Alvarez.") -> str | None:
    answer = ANSWERS.general(text, last_line)
    return answer.text if answer else None


def correction(text: str) -> str | None:
    answer = ANSWERS.correction(text)
    return answer.text if answer else None


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What is your date of birth?", "My date of birth is June 30, 1972."),
        ("And when's your birthday?", "My date of birth is June 30, 1972."),
        ("When were you born?", "My date of birth is June 30, 1972."),
        ("May I have your name and zip code?", "My name is Maria Alvarez. My zip code is 10016."),
        ("I'll need your date of birth and zip code.", "My date of birth is June 30, 1972. My zip code is 10016."),
        ("Your last name, please?", "My last name is Alvarez."),
        ("Could you give me your mobile number?", "My number is 212-555-0133."),
        ("What's the best number to reach you?", "My number is 212-555-0133."),
        ("Who am I speaking with?", "My name is Maria Alvarez."),
        ("Could you repeat your date of birth?", "My date of birth is June 30, 1972."),
        ("What is your preferred office?", "Park Avenue."),
        ("Are you a new or existing patient?", "Existing."),
    ],
)  # fmt: skip
def test_it_answers_a_question_for_a_fact_from_its_traits(asked: str, answer: str) -> None:
    assert general(asked) == answer


@pytest.mark.parametrize(
    "asked",
    [
        "How can I help you today?",
        "What is your member ID?",
        "What is the name of your doctor?",
        "Would you like a text confirmation to your mobile?",
        "Do you want Park Avenue or Brooklyn Heights?",
        "Your balance is $480.00.",
        "Would you like me to move your appointment to Monday?",
        "You want to cancel the visit for Maria Alvarez, is that right?",
        "Shall I book Park Avenue for you?",
    ],
)
def test_it_neither_invents_a_fact_nor_agrees_to_anything_but_its_facts(asked: str) -> None:
    assert general(asked) is None


@pytest.mark.parametrize(
    "read_back",
    [
        "I have Maria Alvarez, born June 30th, 1972. Is that right?",
        "Your date of birth is 06/30/1972, correct?",
        "So that's the 30th of June 1972, is that right?",
        "Is 212-555-0133 still the best number for you?",
        "And the number ending in 0133, is that right?",
        "I have two one two, five five five, zero one three three. Is that correct?",
        "Am I speaking with Maria Alvares?",
        "That's A-L-V-A-R-E-Z, is that right?",
        "Is your zip code 10016?",
        "Are you an existing patient?",
        "I'll text the link to +1 (212) 555-0133, okay?",
    ],
)
def test_a_right_read_back_is_confirmed(read_back: str) -> None:
    assert correction(read_back) is None
    assert general(read_back) == "Yes, that's right."


@pytest.mark.parametrize(
    ("read_back", "answer"),
    [
        ("I have Maria Alvarez, born June 13, 1972. Is that correct?", "No, my date of birth is June 30, 1972."),
        ("Your date of birth is July 4, 1990, right?", "No, my date of birth is June 30, 1972."),
        ("Maria Alvarez, June 30, 1971, is that right?", "No, my date of birth is June 30, 1972."),
        ("Is your mobile number 212-555-0138?", "No, my number is 212-555-0133."),
        ("I'll text you at 917-555-0133. Is that right?", "No, my number is 212-555-0133."),
        ("And your zip code is 10060, correct?", "No, my zip code is 10016."),
        ("Am I speaking with Maria Alvarado?", "No, it's Maria Alvarez. That's M-A-R-I-A, A-L-V-A-R-E-Z."),
        ("Your last name is A-L-V-A-R-E-S, is that right?", "No, it's Maria Alvarez. That's M-A-R-I-A, A-L-V-A-R-E-Z."),
    ],
)
def test_a_wrong_read_back_is_corrected(read_back: str, answer: str) -> None:
    assert correction(read_back) == answer


@pytest.mark.parametrize(
    "text",
    [
        "I've changed your number to 212-555-0186. Is there anything else?",
        "Your date of birth is June 13, 1972.",
        "I have Monday, August 24, 2026 at 9:00 AM. Does that work for you?",
        "You can reach our office at 212-555-0199. Is there anything else?",
        "Dr. Amy Chen can see you at Park Avenue. Is that okay?",
    ],
)
def test_values_that_are_not_read_back_as_its_own_are_not_corrected(text: str) -> None:
    assert correction(text) is None


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("How do you spell that?", "M-A-R-I-A, A-L-V-A-R-E-Z."),
        ("Could you spell your last name?", "A-L-V-A-R-E-Z."),
        ("Please spell your first name.", "M-A-R-I-A."),
    ],
)
def test_it_spells_its_name_on_request(asked: str, answer: str) -> None:
    assert general(asked) == answer


@pytest.mark.parametrize(
    "asked", ["Sorry?", "I didn't catch that.", "Could you repeat that?", "Pardon?", "Say that again."]
)
def test_asked_to_repeat_it_says_its_last_line_again(asked: str) -> None:
    assert general(asked, "I got a bill.") == "I got a bill."


@pytest.mark.parametrize(
    ("line", "slower"),
    [
        ("It's Maria Alvarez.", "It's Maria Alvarez. That's M-A-R-I-A, A-L-V-A-R-E-Z."),
        ("My last name is Alvarez.", "My last name is Alvarez. That's A-L-V-A-R-E-Z."),
        ("My number is 212-555-0133.", "My number is 2 1 2, 5 5 5, 0 1 3 3."),
    ],
)
def test_a_repeated_line_spells_its_name_and_groups_its_number(line: str, slower: str) -> None:
    assert general("Sorry, I didn't get that.", line) == slower


def test_a_request_to_hold_and_to_say_whether_it_is_there_are_answered() -> None:
    assert general("Can I put you on hold for a moment?") == "Sure."
    assert general("Are you still there?") == "Yes, I'm here."


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("One moment, please.", True),
        ("I found you, Maria. Let me transfer you to billing. Thank you.", True),
        ("Let me check. Is this your mobile?", False),
        ("One moment. I'll need your date of birth.", False),
        ("Let me see. Your balance is four hundred and eighty dollars.", False),
        ("You owe $480.00.", False),
    ],
)
def test_a_hold_is_a_floor_that_ends_with_it_and_asks_nothing(text: str, holds: bool) -> None:
    assert puts_on_hold(text, HOLD) is holds


@pytest.mark.parametrize(
    ("text", "confirms"),
    [
        ("Shall I move it to Monday?", True),
        ("Monday at nine. Does that work for you?", True),
        ("It's moved. Is there anything else I can help with?", False),
        ("Is that right? And what is your zip code?", False),
        ("It's moved.", False),
    ],
)
def test_asked_to_confirm_means_the_last_question_wants_a_yes(text: str, confirms: bool) -> None:
    assert asks_to_confirm(text) is confirms


def test_a_question_without_its_mark_is_still_a_question() -> None:
    assert asks("please tell me your date of birth")
    assert not asks("Thank you, Maria.")


def test_sentences_do_not_break_at_titles_decimals_and_hours() -> None:
    text = "You owe $480.50. Dr. Chen saw you at 9 a.m. on Monday. OK?"
    assert sentences(text) == ["You owe $480.50.", "Dr. Chen saw you at 9 a.m. on Monday.", "OK?"]


def test_values_are_found_in_words() -> None:
    assert dates_in("on the 3rd of May, and 13/40/1990") == [HeardDate(None, 5, 3)]
    assert digit_runs_in("June 30, 1972, then (212) 555-0133 and 10016") == ["2125550133", "10016"]
    assert spelled_in("It's Q-U-I-L-L, I think.") == ["QUILL"]


@pytest.mark.parametrize(
    "asked",
    [
        "That's S-U-M-M-I-T, F-O-O-D-S. Is that right?",
        "Is the name of the other side Gerald Tate?",
        "Your matter number is 2 4 1 7. Is that right?",
        "Is your invoice number 1 0 4 1 8?",
    ],
)
def test_names_and_numbers_of_other_things_are_not_taken_for_its_own(asked: str) -> None:
    assert correction(asked) is None


def test_its_own_name_spelled_wrong_is_still_put_right() -> None:
    assert (
        correction("That's A-L-V-A-R-E-S. Is that right?") == "No, it's Maria Alvarez. That's M-A-R-I-A, A-L-V-A-R-E-Z."
    )


@pytest.mark.parametrize("question", ["Is that right?", "Did I get that right?", "Do I have all of that correct?"])
def test_a_bare_question_is_about_the_sentences_before_it(question: str) -> None:
    assert general(f"I have Maria Alvarez, born June 30, 1972. {question}") == "Yes, that's right."
    assert correction(f"I have Maria Alvarez, born July 30, 1972. {question}") is not None
