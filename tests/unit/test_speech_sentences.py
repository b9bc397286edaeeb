"""Where sentences end, and where they do not."""

from __future__ import annotations

import pytest

from callm_voice.speech.sentences import MAX_WORDS, SentenceSplitter

pytestmark = pytest.mark.unit


def split(text: str, *, early: int = 0) -> list[str]:
    splitter = SentenceSplitter(early_clause_words=early)
    return splitter.feed(text) + splitter.flush()


@pytest.mark.parametrize(
    "whole",
    [
        "I see Dr. Chen has an opening.",
        "It is $48.00 in total.",
        "We open at 9 a.m. on weekdays.",
        "Is 9 a.m. Thursday fine for you?",
        "Please go to St. John Hospital.",
        "Thank you, Elena M. Alvarez.",
        "Your temperature was 98.6 then.",
        "J. K. Rowling called.",
        "That is No. 5 on the list.",
        "Mail it to 12 Elm St. Suite 4.",
        "Ask for Mrs. Roe.",
        "Let me see... your visit is on Monday.",
        "1. First, your name.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(whole: str) -> None:
    assert split(whole) == [whole]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Thanks. How can I help?", ["Thanks.", "How can I help?"]),
        ("It is at 9 a.m. Would that work?", ["It is at 9 a.m.", "Would that work?"]),
        ("You live on Elm St. Is that right?", ["You live on Elm St.", "Is that right?"]),
        ("It's A. L. V. Is that right?", ["It's A. L. V.", "Is that right?"]),
        ("Your balance is $1,246.18. Shall I go on?", ["Your balance is $1,246.18.", "Shall I go on?"]),
        ("Really?! Okay.", ["Really?!", "Okay."]),
        ('She said "no." Then she left.', ['She said "no."', "Then she left."]),
        ("**Done.** Anything else?", ["**Done.**", "Anything else?"]),
        ("Two times:\n- nine\n- ten", ["Two times:", "- nine", "- ten"]),
        ("Your code is 4412. 9 a.m. is open.", ["Your code is 4412.", "9 a.m. is open."]),
        ("  \n ", []),
        ("", []),
    ],
)
def test_sentences_end_where_a_person_would_end_them(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


def test_a_sentence_goes_out_as_soon_as_the_next_word_has_begun() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("Thank you.") == []
    assert splitter.feed(" O") == ["Thank you."]
    assert splitter.feed("ne moment?") == []
    assert splitter.feed(" I") == ["One moment?"]


def test_a_full_stop_that_may_be_an_abbreviation_waits_for_the_whole_next_word() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("We open at 9 a.m. I") == []
    assert splitter.feed("s") == []
    assert splitter.feed(" that fine?") == ["We open at 9 a.m."]


def test_a_mark_before_a_small_letter_ends_nothing() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed('You said "yes!" t') == []
    assert splitter.feed("o that. O") == ['You said "yes!" to that.']


def test_an_early_clause_goes_out_with_the_first_letter_behind_it() -> None:
    splitter = SentenceSplitter(early_clause_words=4)
    assert splitter.feed("Your balance with us,") == []
    assert splitter.feed(" M") == ["Your balance with us,"]


def test_the_first_sentence_may_go_out_at_a_clause() -> None:
    text = "Thank you for calling Maple Clinic, this is the desk, how can I help? Well, yes, sure, okay then."
    assert split(text, early=4) == [
        "Thank you for calling Maple Clinic,",
        "this is the desk, how can I help?",
        "Well, yes, sure, okay then.",
    ]


def test_a_clause_that_is_too_short_does_not_go_out_early() -> None:
    assert split("Okay, one moment please.", early=4) == ["Okay, one moment please."]


def test_a_comma_before_a_number_is_no_clause() -> None:
    assert split("Your next visit is June 30, 2026 at nine.", early=3) == ["Your next visit is June 30, 2026 at nine."]


def test_text_without_any_boundary_is_cut_at_last() -> None:
    words = [f"word{i}" for i in range(MAX_WORDS * 2 + 3)]
    sentences = split(" ".join(words))
    assert [len(s.split()) for s in sentences] == [MAX_WORDS, MAX_WORDS, 3]


def test_an_answer_without_words_gives_nothing() -> None:
    assert split("... !!! —") == []
