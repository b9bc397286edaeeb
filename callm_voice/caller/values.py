"""Values in the agent's words: dates, runs of digits, spelled letters. Pure text."""

from __future__ import annotations

import re
from dataclasses import dataclass

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
DIGIT_WORDS = {
    "zero": "0", "oh": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9",
}  # fmt: skip

_MONTH = "|".join(f"{m[:3]}(?:{m[3:]})?" if m != "may" else "may" for m in MONTHS)
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b"),
    re.compile(r"\b(?P<m>\d{1,2})[/-](?P<d>\d{1,2})[/-](?P<y>\d{4}|\d{2})\b"),
    re.compile(
        rf"\b(?P<m>{_MONTH})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?:of )?(?P<y>\d{{4}})\b)?", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m>{_MONTH})\b(?:,? (?P<y>\d{{4}})\b)?", re.IGNORECASE),
)
_DIGIT_RUN = re.compile(r"\d(?:[\s,.()\-]{0,3}\d)*")
_DIGIT_WORD = "|".join(DIGIT_WORDS)
_DIGIT_WORDS = re.compile(rf"\b(?:{_DIGIT_WORD})(?:[\s,-]+(?:{_DIGIT_WORD})){{2,}}\b", re.IGNORECASE)
_LETTERS = re.compile(r"(?<![\w'])[A-Za-z](?P<sep>-|, ?|\. ?| )[A-Za-z](?:(?P=sep)[A-Za-z](?![\w']))+")
"""At least three single letters with the same separator throughout."""


@dataclass(frozen=True)
class HeardDate:
    """A date as it was said."""

    year: int | None
    month: int
    day: int

    def same_as(self, other: HeardDate) -> bool:
        """Equal; a year that one of them lacks does not count."""
        years = self.year is None or other.year is None or self.year % 100 == other.year % 100
        return years and (self.month, self.day) == (other.month, other.day)

    def near(self, other: HeardDate) -> bool:
        """Alike enough to be the same date misheard: the year or the day of the year agrees."""
        same_year = self.year is not None and self.year == other.year
        return same_year or (self.month, self.day) == (other.month, other.day)


def dates_in(text: str) -> list[HeardDate]:
    """The dates of a text, in the order of the patterns; what is no day of a month is left out."""
    return [date for date, _ in _find_dates(text)]


def digit_runs_in(text: str) -> list[str]:
    """The runs of digits of a text, separators removed, dates left out; digit words ("two one two") count."""
    for _, (start, end) in _find_dates(text):
        text = text[:start] + "\x00" * (end - start) + text[end:]
    written = _DIGIT_WORDS.sub(
        lambda m: "".join(DIGIT_WORDS[w] for w in re.findall(r"[a-z]+", m.group().lower())), text
    )
    return ["".join(re.findall(r"\d", run)) for run in _DIGIT_RUN.findall(written)]


def spelled_in(text: str) -> list[str]:
    """Words that were spelled letter by letter, in capitals: `A-L-V` → `ALV`."""
    spelled = (match.group() for match in _LETTERS.finditer(text))
    return ["".join(c for c in run if c.isalpha()).upper() for run in spelled]


def _find_dates(text: str) -> list[tuple[HeardDate, tuple[int, int]]]:
    found: list[tuple[HeardDate, tuple[int, int]]] = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            overlaps = any(match.start() < end and start < match.end() for _, (start, end) in found)
            month = match["m"]
            number = int(month) if month.isdigit() else 1 + [m[:3] for m in MONTHS].index(month[:3].lower())
            day = int(match["d"])
            if not overlaps and 1 <= number <= 12 and 1 <= day <= 31:
                year = int(match["y"]) if match["y"] else None
                found.append((HeardDate(year, number, day), match.span()))
    return found
