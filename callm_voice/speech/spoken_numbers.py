"""Numbers in words, the way they are said on an American phone line. Pure text."""

from __future__ import annotations

from num2words import num2words

DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_GROUPS = {
    6: (3, 3),
    7: (3, 4),
    8: (4, 4),
    9: (3, 3, 3),
    10: (3, 3, 4),
    11: (1, 3, 3, 4),
    12: (4, 4, 4),
    16: (4, 4, 4, 4),
}


def cardinal(number: int) -> str:
    """1246 → `one thousand two hundred forty-six`."""
    return str(num2words(number)).replace(",", "").replace(" and ", " ")


def decimal(text: str) -> str:
    """`98.6` → `ninety-eight point six`; the places digit by digit, as written; thousands separators are allowed."""
    whole, _, places = text.replace(",", "").partition(".")
    words = cardinal(int(whole or "0"))
    return f"{words} point {' '.join(DIGIT_WORDS[int(d)] for d in places)}" if places else words


def ordinal(number: int) -> str:
    """30 → `thirtieth`."""
    return str(num2words(number, to="ordinal")).replace(",", "").replace(" and ", " ")


def pairs(number: int) -> str:
    """A number of four digits as years and house numbers are read: 1972 → `nineteen seventy-two`."""
    high, low = divmod(number, 100)
    if high % 10 == 0 and low < 10:
        return cardinal(number)  # two thousand five
    if low == 0:
        return f"{cardinal(high)} hundred"
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def digits(text: str) -> str:
    """The digits of a text one by one, in the groups of the text, or where it has none in groups that are easy to hear.

    `212-555-0133` → `two one two, five five five, zero one three three`. "Zero", never "oh": recognisers lose an "oh".
    """
    runs = "".join(c if c.isascii() and c.isdigit() else " " for c in text).split()
    groups = [group for run in runs for group in _grouped(run)]
    return ", ".join(" ".join(DIGIT_WORDS[int(d)] for d in group) for group in groups)


def _grouped(run: str) -> list[str]:
    """Up to five digits (zips, short codes) stay together."""
    if len(run) <= 5:
        return [run]
    sizes = _GROUPS.get(len(run)) or tuple(min(4, len(run) - at) for at in range(0, len(run), 4))
    groups, at = [], 0
    for size in sizes:
        groups.append(run[at : at + size])
        at += size
    return groups


def spell(word: str) -> str:
    """The letters and digits of a word one by one: `Alvarez` → `A. L. V. A. R. E. Z.`

    The form with full stops was understood best of five by Whisper base over G.711, for both voices.
    """
    characters = [c for c in word if c.isalnum()]
    return " ".join(DIGIT_WORDS[int(c)] if c in "0123456789" else f"{c.upper()}." for c in characters)


def money(whole: str, cents: str, unit: tuple[str, str, str, str]) -> str:
    """`1,246`, `18` → `one thousand two hundred forty-six dollars and eighteen cents`.

    Args:
        unit: singular and plural of the unit and of its hundredth.
    """
    amount, rest = int(whole.replace(",", "") or "0"), int(cents or "0")
    large = f"{cardinal(amount)} {unit[0] if amount == 1 else unit[1]}"
    small = f"{cardinal(rest)} {unit[2] if rest == 1 else unit[3]}"
    if rest == 0:
        return large
    return small if amount == 0 else f"{large} and {small}"
