"""Guards on a recogniser's text: invented speech on noise, and loops, without eating a real run of digits.

No lists of phrases: what a model says of its own certainty, how often words repeat, and how fast they would have to
have been spoken decide.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

MAX_DIGITS_PER_S = 5.0
DIGITS_MARGIN = 3
"""People dictate 2 to 4 digits a second; equal digits beyond this many are a loop."""
MIN_TEXT_FOR_COMPRESSION = 60
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ASIDE = re.compile(r"[\[(*♪][^\])*♪]*[\])*♪]|[♪♫]")
_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", *(f"{n}teen" for n in ("thir", "four", "fif", "six", "seven", "eigh", "nine"))]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred"]
_NUMBER_WORDS = frozenset(["oh", "zero", "double", "triple", *_ONES, *_TEENS, *_TENS])
_STUTTER = re.compile(r"([^\W\d_]{1,4}?)\1{8,}")
_REPEATS_TO_BE_A_LOOP = {1: 6, 2: 4}
_REPEATS_OF_LONGER = 3
_LONGEST_LOOP = 12


@dataclass(frozen=True)
class Loop:
    """A stretch of words that only repeats itself."""

    start: int
    """Index of the first word of the first repetition."""
    period: int
    repeats: int


def words(text: str) -> list[str]:
    """Lower-case words of a text."""
    return [match.group().lower() for match in _WORD.finditer(text)]


def is_number(word: str) -> bool:
    """Whether a word is a digit group or a number word."""
    return word in _NUMBER_WORDS or (word.isascii() and word.isdigit())


def find_loop(text: str, duration_s: float) -> Loop | None:
    """The first stretch that repeats more often than people do, or None.

    Numbers may repeat: "five five five five five five" is a phone number. They are a loop only if there are more digits
    than could be spoken in `duration_s`.
    """
    spoken = words(text)
    for start in range(len(spoken)):
        for period in range(1, min(_LONGEST_LOOP, (len(spoken) - start) // 2) + 1):
            unit = spoken[start : start + period]
            repeats = 1
            while spoken[start + repeats * period : start + (repeats + 1) * period] == unit:
                repeats += 1
            if repeats < _REPEATS_TO_BE_A_LOOP.get(period, _REPEATS_OF_LONGER):
                continue
            if not all(is_number(word) for word in unit) or _too_many_digits(spoken, duration_s):
                return Loop(start, period, repeats)
    return None


def stutters(text: str) -> bool:
    """Whether one word is nothing but a syllable over and over ("Nananananananana")."""
    return _STUTTER.search(text.lower()) is not None


def is_of_numbers(text: str, loop: Loop) -> bool:
    """Whether what repeats is nothing but numbers."""
    return all(is_number(word) for word in words(text)[loop.start : loop.start + loop.period])


def _too_many_digits(spoken: list[str], duration_s: float) -> bool:
    digits = sum(len(word) if word.isdigit() else 1 for word in spoken if is_number(word))
    return digits > MAX_DIGITS_PER_S * duration_s + DIGITS_MARGIN


def trim_loop(text: str, loop: Loop) -> str:
    """The text up to and with the first repetition; empty if the text is nothing but the loop."""
    matches = list(_WORD.finditer(text))
    if loop.start == 0 and loop.period * (loop.repeats + 1) > len(matches):
        return ""
    return text[: matches[loop.start + loop.period - 1].end()]


def compression(text: str) -> float:
    """How much zlib shrinks the text without its digits (1: not at all); 1 for a text too short to tell."""
    rest = " ".join(word for word in words(text) if not is_number(word)).encode()
    if len(rest) < MIN_TEXT_FOR_COMPRESSION:
        return 1.0
    return len(rest) / len(zlib.compress(rest))


def spoken_text(text: str) -> str:
    """The text without asides in brackets and music signs; empty if no word is left."""
    rest = " ".join(_ASIDE.sub(" ", text).split())
    return rest if words(rest) else ""
