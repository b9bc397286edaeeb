"""Written and spoken forms side by side."""

from __future__ import annotations

import pytest

from callm_voice.speech.spoken import digits, spell, to_spoken

pytestmark = pytest.mark.unit

FORMS = [
    # phone numbers, in groups, "zero" and never "oh"
    ("212-555-0133", "Two one two, five five five, zero one three three"),
    ("(212) 555-0133", "Two one two, five five five, zero one three three"),
    ("Call 555-0133.", "Call five five five, zero one three three."),
    ("+12125550133", "Plus one, two one two, five five five, zero one three three"),
    ("1-800-555-0199", "One, eight zero zero, five five five, zero one nine nine"),
    # dates
    ("1972-06-30", "June thirtieth, nineteen seventy-two"),
    ("06/30/1972", "June thirtieth, nineteen seventy-two"),
    ("June 30, 1972", "June thirtieth, nineteen seventy-two"),
    ("March 3rd", "March third"),
    ("Jan. 5, 2005", "January fifth, two thousand five"),
    ("It was on 6/30.", "It was on June thirtieth."),
    ("3 March 2026", "The third of March, twenty twenty-six"),
    # times
    ("9:00 AM", "Nine A M"),
    ("at 9:05 a.m.", "at nine oh five A M."),
    ("at 3:30pm", "at three thirty P M"),
    ("at 15:00", "at three P M"),
    ("at 09:15", "at nine fifteen A M"),
    ("at 12:30", "at twelve thirty"),
    ("at 10:00", "at ten o'clock"),
    ("It's at 9 a.m. Would that work?", "It's at nine A M. Would that work?"),
    ("from 9:00 AM-5:00 PM", "from nine A M to five P M"),
    # money
    ("$1,246.18", "One thousand two hundred forty-six dollars and eighteen cents"),
    ("It is $48.00.", "It is forty-eight dollars."),
    ("$1", "One dollar"),
    ("$0.01", "One cent"),
    ("$2.5 million", "Two point five million dollars"),
    ("$25/month", "Twenty-five dollars per month"),
    # codes
    ("zip 11215", "zip one one two one five"),
    ("Brooklyn, NY 11215", "Brooklyn, New York one one two one five"),
    ("MBR-20418", "M B R, two zero four one eight"),
    ("ending in 4412", "ending in four four one two"),
    ("pin 0042", "pin zero zero four two"),
    ("A-L-V-A-R-E-Z", "A. L. V. A. R. E. Z."),
    ("4111 1111 1111 1111", "Four one one one, one one one one, one one one one, one one one one"),
    # numbers
    ("the 3rd and the 21st", "the third and the twenty-first"),
    ("20%", "Twenty percent"),
    ("98.6°F", "Ninety-eight point six degrees Fahrenheit"),
    ("5 mg", "Five milligrams"),
    ("1 hr", "One hour"),
    ("10-15 minutes", "Ten to fifteen minutes"),
    ("a 30-day supply", "a thirty day supply"),
    ("1,500 people", "One thousand five hundred people"),
    ("in 2005 and 2026", "in two thousand five and twenty twenty-six"),
    ("#4", "Number four"),
    ("No. 5", "number five"),
    # abbreviations and signs
    ("Dr. Chen", "Doctor Chen"),
    ("St. John", "Saint John"),
    ("1234 Elm St.", "Twelve thirty-four Elm Street."),
    ("12 Oak Dr. is right", "Twelve Oak Drive is right"),
    ("Elena M. Alvarez", "Elena M Alvarez"),
    ("Ms. Lee & Mr. Poe", "Miz Lee and Mister Poe"),
    ("and/or", "and or"),
    ("elena.a@example.com", "elena dot a at example dot com"),
    ("www.example.com/pay", "example dot com slash pay"),
    # markup
    ("**Bold** and *it* and `code`", "Bold and it and code"),
    ("# Title\n- one thing\n- another", "Title. one thing. another"),
    ("[the form](https://example.com/f)", "the form"),
    ("1. Name\n2. Date", "One, Name. Two, Date"),
    ("Done ✅ 😀", "Done"),
    ("| Time | Who |\n|---|---|\n| 9:00 | Dr. Chen |", "Time, Who. Nine o'clock, Doctor Chen"),
]


@pytest.mark.parametrize(("written", "spoken"), FORMS)
def test_spoken_form(written: str, spoken: str) -> None:
    assert to_spoken(written) == spoken


@pytest.mark.parametrize("written", [written for written, _ in FORMS])
def test_the_spoken_form_of_a_spoken_form_is_itself(written: str) -> None:
    once = to_spoken(written)
    assert to_spoken(once) == once


@pytest.mark.parametrize(
    "prose",
    [
        "Sure, I can help you with that.",
        "It's a well-known follow-up, isn't it?",
        "May I have your name, please? Thank you!",
        "you may march on",
    ],
)
def test_plain_prose_stays_as_it_is(prose: str) -> None:
    assert to_spoken(prose) == prose


@pytest.mark.parametrize("markup", ["", "  ", "***", "---", "😀", "```\n```"])
def test_text_without_words_is_empty(markup: str) -> None:
    assert to_spoken(markup) == ""


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("2125550133", "two one two, five five five, zero one three three"),
        ("11215", "one one two one five"),
        ("212.555.0133", "two one two, five five five, zero one three three"),
        ("no digits", ""),
    ],
)
def test_digits_in_groups(written: str, spoken: str) -> None:
    assert digits(written) == spoken


def test_spelling_a_word() -> None:
    assert spell("O'Neil-7") == "O. N. E. I. L. seven"
