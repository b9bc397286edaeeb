"""Whether an entity arrived: the transcript's own text is looked at, not a normalised one, because leading zeros count.

phone, card_like   the same digits in the same order, in whole groups
money              the same amount, in whatever form
date_of_birth      the same day, month and year, in whatever form
the others         the same words in a row; case, punctuation and hyphens do not matter, spelling does
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal

from callm_voice.bench.linewer.utterances import Entity

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {word: str(n) for n, word in enumerate(_ONES + _TEENS)} | {w: str(10 * n) for n, w in enumerate(_TENS, 2)}
_ORDINALS = {
    word: f"{n}th"
    for n, word in enumerate(
        ("fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
         "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"), 4,
    )
} | {"first": "1st", "second": "2nd", "third": "3rd", "thirtieth": "30th"}  # fmt: skip
_ABBREVIATIONS = {
    "st": "street", "ave": "avenue", "rd": "road", "dr": "drive", "ln": "lane", "ct": "court", "apt": "apartment",
    "ste": "suite", "n": "north",
}  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(\.\d{1,2})?(?![\w]|[.,]\d)")
_CENTS = re.compile(r"^\s*(?:dollars?)?\s*(?:and)?\s*(\d{1,2})\s+cents?\b", re.IGNORECASE)
_MONTH = "|".join(MONTHS)
_YEAR = r"(\d{4}|\d{2}\s\d{2})"
_DATES = (
    re.compile(rf"\b(?P<month>{_MONTH})\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?:of\s+)?(?P<year>{_YEAR})\b"),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH}),?\s+(?P<year>{_YEAR})\b"),
    re.compile(r"\b(?P<month>\d{1,2})[/-](?P<day>\d{1,2})[/-](?P<year>\d{4})\b"),
)  # fmt: skip


def arrived(entity: Entity, text: str) -> bool:
    """Whether the entity, or one of its other right spellings, stands in a transcript."""
    return any(_stands(entity.kind, form, text) for form in (entity.text, *entity.also))


def _stands(kind: str, form: str, text: str) -> bool:
    if kind == "money":
        return bool(amounts(form) & amounts(text))
    if kind == "date_of_birth":
        return bool(dates(form) & dates(text))
    if kind in ("phone", "card_like"):
        return _digits_stand(re.sub(r"\D", "", form), tokens(text))
    expected, heard = tokens(form), tokens(text)
    if kind == "address":
        expected, heard = ([_ABBREVIATIONS.get(token, token) for token in found] for found in (expected, heard))
    return _in_a_row(_joined(expected), _joined(heard))


def tokens(text: str) -> list[str]:
    """Lower-case words and groups of digits, without accents; numbers below 100 in words become digits."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    plain = re.sub(r"['’]s\b", "", plain)
    plain = re.sub(r"['’]", "", plain)
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain)
    found = re.findall(r"[a-z]+|\d+(?:st|nd|rd|th)\b|\d+", plain)
    out: list[str] = []
    after_tens = False
    for token in found:
        digits = _WORDS.get(token, _ORDINALS.get(token, token))
        if after_tens and token in _ONES[1:]:
            out[-1] = str(int(out[-1]) + int(digits))
        else:
            out.append(digits)
        after_tens = token in _TENS
    return out


def amounts(text: str) -> set[Decimal]:
    """Every number of a text as an amount; `48 dollars and 10 cents` is one."""
    written = _numbers_as_digits(text)
    found: set[Decimal] = set()
    for match in _NUMBER.finditer(written):
        value = Decimal(match.group(1).replace(",", "") + (match.group(2) or ""))
        cents = _CENTS.match(written[match.end() :])
        found.add(value + Decimal(cents.group(1)) / 100 if cents and not match.group(2) else value)
    return found


def dates(text: str) -> set[tuple[int, int, int]]:
    """(year, month, day) of every date with a year; `3/14/1962` is read as in America."""
    written = _numbers_as_digits(text)
    found: set[tuple[int, int, int]] = set()
    for pattern in _DATES:
        for match in pattern.finditer(written):
            month, year = match["month"], int(match["year"].replace(" ", ""))
            found.add((year, MONTHS.index(month) + 1 if month in MONTHS else int(month), int(match["day"])))
    return found


def _numbers_as_digits(text: str) -> str:
    """The text in lower case with its numbers below 100 in digits; spaces and punctuation stay."""
    written = text.casefold()
    tens = "|".join(_TENS)
    ones = "|".join(_ONES[1:])
    ordinals = "|".join(_ORDINALS)

    def summed(match: re.Match[str]) -> str:
        unit = _WORDS.get(match.group(2)) or _ORDINALS[match.group(2)]
        return str(int(_WORDS[match.group(1)]) + int(unit.rstrip("stndrh"))) + unit.lstrip("0123456789")

    written = re.sub(rf"\b({tens})[\s-]({ones}|{ordinals})\b", summed, written)
    spoken = _WORDS | _ORDINALS
    return re.sub(r"\b(" + "|".join(spoken) + r")\b", lambda m: spoken[m.group()], written)


def _digits_stand(digits: str, heard: Sequence[str]) -> bool:
    """Whether some groups in a row are these digits, no more and no fewer."""
    for start in range(len(heard)):
        joined = ""
        for token in heard[start:]:
            if not token.isdecimal() or not digits.startswith(joined + token):
                break
            joined += token
            if joined == digits:
                return True
    return False


def _joined(found: Sequence[str]) -> list[str]:
    """Groups of digits that follow each other are one number."""
    out: list[str] = []
    for token in found:
        if out and token.isdecimal() and out[-1].isdecimal():
            out[-1] += token
        else:
            out.append(token)
    return out


def _in_a_row(expected: Sequence[str], heard: Sequence[str]) -> bool:
    size = len(expected)
    return any(list(heard[at : at + size]) == list(expected) for at in range(len(heard) - size + 1))
