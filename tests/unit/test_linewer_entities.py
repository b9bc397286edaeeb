"""What counts as arrived, kind by kind, on texts as recognisers write them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from callm_voice.bench.linewer.entities import amounts, arrived, dates, tokens
from callm_voice.bench.linewer.utterances import Entity, EntityKind, load_utterances

pytestmark = pytest.mark.unit

CASES: list[tuple[EntityKind, str, str, bool]] = [
    ("phone", "212-555-0133", "call me at 212-555-0133.", True),
    ("phone", "212-555-0133", "call me at 2 1 2 5550133", True),
    ("phone", "212-555-0133", "call me at (212) 555 0133", True),
    ("phone", "212-555-0133", "two one two, five five five, zero one three three", True),
    ("phone", "212-555-0133", "call me at 212-555-133", False),
    ("phone", "212-555-0133", "call me at 212-555-01334", False),
    ("phone", "718", "area code 718, not 717", True),
    ("phone", "718", "area code 7180", False),
    ("card_like", "0719", "it is 719", False),
    ("card_like", "0719", "it is 0719, not 0790", True),
    ("card_like", "0047 2291 8836", "number is 00472291-8836", True),
    ("money", "$1,246.18", "The bill says $1246.18, but", True),
    ("money", "$1,246.18", "1,246 dollars and 18 cents", True),
    ("money", "$1,246.18", "$1,246", False),
    ("money", "$15", "I want to pay fifteen dollars today", True),
    ("money", "$15", "$50 today, $50 on Friday", False),
    ("money", "$48.10", "$48 and 10 cents", True),
    ("money", "$35", "I paid on the 35th", False),
    ("date_of_birth", "March 14th, 1962", "born March 14, 1962", True),
    ("date_of_birth", "March 14th, 1962", "born on the 14th of March 1962", True),
    ("date_of_birth", "March 14th, 1962", "born 3/14/1962.", True),
    ("date_of_birth", "March 14th, 1962", "March fourteenth, nineteen sixty-two", True),
    ("date_of_birth", "January 31st, 1990", "January thirty-first, 1990", True),
    ("date_of_birth", "March 14th, 1962", "born March 40, 1962", False),
    ("date_of_birth", "March 14th, 1962", "born March 14, 1963", False),
    ("date_of_birth", "June 5th, 1972", "June fifth, nineteen seventy-two", True),
    ("name", "Maria Kowalczyk", "this is maria kowalczyk's", True),
    ("name", "Maria Kowalczyk", "this is Maria Kowalzik", False),
    ("name", "Chloe Nakamura", "Chloë Nakamura", True),
    ("address", "1187 Delancey Street, apartment 4B", "1187 Delancey St. Apt 4 B", True),
    ("address", "9 Rosewood Court", "from nine Rosewood Ct.", True),
    ("address", "97214", "zip code is 9 7 2 1 4", True),
    ("address", "97214", "zip code is 97-2-4", False),
    ("medical", "7.4", "was 7.4.", True),
    ("medical", "lisinopril", "my listen-op-roll", False),
    ("legal", "power of attorney", "a Power-of-Attorney", True),
    ("legal", "power of attorney", "the power of an attorney", False),
]


@pytest.mark.parametrize(("kind", "said", "heard", "right"), CASES)
def test_an_entity_is_right_or_not(kind: EntityKind, said: str, heard: str, right: bool) -> None:
    assert arrived(Entity(kind=kind, text=said), heard) is right


def test_another_right_spelling_counts() -> None:
    entity = Entity(kind="medical", text="20 milligram", also=("20 mg",))
    assert arrived(entity, "the 20-mg tablets")
    assert not arrived(entity, "the 20 kilogram tablets")


def test_every_shipped_entity_stands_in_its_own_utterance_and_none_in_an_empty_text() -> None:
    """The check can say yes and no for each of them."""
    for utterance in load_utterances().utterances:
        for entity in utterance.entities:
            assert arrived(entity, utterance.text), entity
            assert not arrived(entity, ""), entity
            assert not arrived(entity, "Thank you for watching."), entity


def test_numbers_keep_their_zeros_and_words_become_digits() -> None:
    assert tokens("Oh, 0133 and sixty-two, Dr. O'Neil") == ["oh", "0133", "and", "62", "dr", "oneil"]
    assert tokens("twenty") == ["20"]
    assert amounts("$5,075 and 3 cents, 10.5") == {Decimal("5075.03"), Decimal("10.5"), Decimal(3)}
    assert dates("May 21st, 1966; 12th of August 1949; 1/31/1990") == {(1966, 5, 21), (1949, 8, 12), (1990, 1, 31)}
