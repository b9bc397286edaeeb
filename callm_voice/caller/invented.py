"""Values that a caller gave as its own although nobody gave them to it: dates, numbers, spelled words, names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from callm_voice.caller.traits import date_in_words
from callm_voice.caller.values import dates_in, digit_runs_in, spelled_in

LONG_NUMBER = 7
"""Digits from which a number is one of a person's own: a telephone, a member or an order number."""
SOUNDS_ALIKE = 0.85
"""Names at least so similar are the same one said otherwise."""
_BORN = re.compile(r"\bborn\b|\bbirth", re.IGNORECASE)
_ZIP = re.compile(r"\bzip\b\D{0,12}(\d{5})\b", re.IGNORECASE)
_NAMED = re.compile(r"\b[Mm]y (?:\w+ )?name(?:'s| is) ((?:[A-Z][\w'’-]+ ?)+)")


def invented(said: str, floor: str, known: Sequence[str], traits: Mapping[str, str]) -> Iterator[str]:
    """What of a line the caller cannot have known, in words.

    Args:
        floor: what the desk said before it.
        known: texts that it had: its traits, script and lines, and what the desk said so far.
        traits: only kinds of values that it has a trait of are looked at.
    """
    if _BORN.search(f"{floor} {said}"):
        yield from _dates(said, known, traits)
    yield from _numbers(said, known, traits)
    yield from _spelled(said, known)
    yield from _names(said, known, traits)


def _dates(said: str, known: Sequence[str], traits: Mapping[str, str]) -> Iterator[str]:
    """Dates of birth. The day of a visit may be reckoned ("Friday, the 21st")."""
    if not any(dates_in(value) for value in traits.values()):
        return
    had = [date for text in known for date in dates_in(date_in_words(text))]
    for date in dates_in(said):
        if not any(date.same_as(other) for other in had):
            yield f"the date {date.month}/{date.day}" + (f"/{date.year}" if date.year else "")


def _numbers(said: str, known: Sequence[str], traits: Mapping[str, str]) -> Iterator[str]:
    had = ["".join(c for c in text if c.isdigit()) for text in known]
    had += [run for text in known for run in digit_runs_in(text)]
    for run in digit_runs_in(said):
        if len(run) < LONG_NUMBER or any(run in digits for digits in had):
            continue
        left = run
        for number in sorted({d for d in had if len(d) >= 4}, key=len, reverse=True):
            left = left.replace(number, " ")
        if any(len(part) >= LONG_NUMBER for part in left.split()):
            yield f"the number {run}"
    if any(re.search("zip|postal", name) for name in traits):
        for zip_code in _ZIP.findall(said):
            if not any(zip_code in digits for digits in had):
                yield f"the zip code {zip_code}"


def _spelled(said: str, known: Sequence[str]) -> Iterator[str]:
    had = "".join(c for text in known for c in text.casefold() if c.isalnum())
    for word in spelled_in(said):
        if word.casefold() not in had:
            yield f"the spelling {word}"


def _names(said: str, known: Sequence[str], traits: Mapping[str, str]) -> Iterator[str]:
    if not any("name" in name for name in traits):
        return
    had = {word for text in known for word in re.findall(r"[\w'’-]+", text.casefold())}
    for name in _NAMED.findall(said):
        for word in name.split():
            plain = word.casefold()
            if not any(SequenceMatcher(None, plain, other).ratio() >= SOUNDS_ALIKE for other in had):
                yield f"the name {name.strip()}"
                break
