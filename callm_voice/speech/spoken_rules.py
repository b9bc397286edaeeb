"""Written forms and how they are said. Each rule is a pattern and a function of its match; `RULES` is their order.

A rule gives words without digits or signs that a later rule would take up again.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from callm_voice.speech import spoken_numbers as numbers
from callm_voice.speech.spoken_words import ABBREVIATIONS, DIGIT_CONTEXT, MONTHS, STATES, STREETS, UNITS

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]
NUM = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
}


def _date(year: str, month: int, day: int, original: str) -> str:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return original
    name = list(dict.fromkeys(MONTHS.values()))[month - 1]
    spoken_year = f", {numbers.pairs(int(year))}" if year else ""
    return f"{name} {numbers.ordinal(day)}{spoken_year}"


def _iso_date(m: re.Match[str]) -> str:
    return _date(m[1], int(m[2]), int(m[3]), m[0])


def _us_date(m: re.Match[str]) -> str:
    year = m[3] or ""
    if len(year) == 2:
        year = f"{'19' if int(year) > 40 else '20'}{year}"
    return _date(year, int(m[1]), int(m[2]), m[0])


def _month_day(m: re.Match[str]) -> str:
    month, day, year = MONTHS[m[1].rstrip(".")], int(m[2]), m[3]
    if not 1 <= day <= 31:
        return m[0]
    return f"{month} {numbers.ordinal(day)}" + (f", {numbers.pairs(int(year))}" if year else "")


def _day_month(m: re.Match[str]) -> str:
    month, day, year = MONTHS[m[2].rstrip(".")], int(m[1]), m[3]
    if not 1 <= day <= 31:
        return m[0]
    return f"the {numbers.ordinal(day)} of {month}" + (f", {numbers.pairs(int(year))}" if year else "")


def _time(m: re.Match[str]) -> str:
    hour, minute, half = int(m[1]), int(m[2] or "0"), (m[3] or "")[:1].upper()
    if hour > 24 or minute > 59 or (half and hour > 12):
        return m[0]
    if not half and (hour > 12 or m[1].startswith("0")):  # written by the twenty-four hour clock
        half, hour = ("P" if 12 <= hour < 24 else "A"), hour % 12 or 12
    words = numbers.cardinal(hour)
    if minute:
        words += f" {'oh ' if minute < 10 else ''}{numbers.cardinal(minute)}"
    elif not half:
        words += " o'clock"
    return f"{words} {half} M" if half else words


def _half_day(m: re.Match[str]) -> str:
    return f"{m[1].upper()} M"


def _phone(m: re.Match[str]) -> str:
    country = "plus one, " if m[1] and m[1].startswith("+") else "one, " if m[1] else ""
    return country + numbers.digits(m[0].removeprefix(m[1] or ""))


def _money(m: re.Match[str]) -> str:
    minus, sign, whole, places, scale = m[1], m[2], m[3], m[4] or "", m[5]
    unit = _CURRENCIES[sign]
    if scale:
        words = f"{numbers.decimal(f'{whole}.{places}' if places else whole)} {scale.lower()} {unit[1]}"
    elif len(places) > 2:
        words = f"{numbers.decimal(f'{whole}.{places}')} {unit[1]}"
    else:
        words = numbers.money(whole, places.ljust(2, "0") if places else "", unit)
    return f"minus {words}" if minus else words


def _email(m: re.Match[str]) -> str:
    names = {"@": " at ", ".": " dot ", "_": " underscore ", "-": " dash ", "+": " plus "}
    return _address(m[0], names)


def _url(m: re.Match[str]) -> str:
    names = {".": " dot ", "/": " slash ", "-": " dash ", "_": " underscore "}
    return _address(re.sub(r"^(?:https?://|mailto:)?(?:www\.)?", "", m[0], flags=re.IGNORECASE).rstrip("/"), names)


def _address(text: str, names: dict[str, str]) -> str:
    pieces = re.findall(r"[A-Za-z]+|\d+|[^A-Za-z\d]", text)
    said = [numbers.digits(p).replace(",", "") if p.isdigit() else names.get(p, p) for p in pieces]
    return " ".join("".join(f" {p} " if p.strip() else p for p in said).split())


def _code(m: re.Match[str]) -> str:
    """Letters and digits mixed: letters spelled unless they read as a word, digits one by one."""
    pieces = re.findall(r"[A-Za-z]+|\d+", m[0])
    return ", ".join(numbers.digits(p) if p.isdigit() else _letters(p) for p in pieces)


def _letters(piece: str) -> str:
    reads_as_a_word = len(piece) > 3 and re.search(r"[aeiouyAEIOUY]", piece)
    return piece if reads_as_a_word else " ".join(piece.upper())


def _spelled(m: re.Match[str]) -> str:
    return numbers.spell(m[0])


def _digit_context(m: re.Match[str]) -> str:
    return m[1] + numbers.digits(m[2])


def _digits(m: re.Match[str]) -> str:
    return numbers.digits(m[0])


def _ordinal(m: re.Match[str]) -> str:
    return numbers.ordinal(int(m[1].replace(",", "")))


def _unit(m: re.Match[str]) -> str:
    singular, plural = UNITS[m[2]]
    return f"{numbers.decimal(m[1])} {singular if m[1] == '1' else plural}"


def _range(m: re.Match[str]) -> str:
    return f"{m[1]} to {m[2]}"


def _percent(m: re.Match[str]) -> str:
    return f"{numbers.decimal(m[1])} percent"


def _number(m: re.Match[str]) -> str:
    minus, text = ("minus " if m[1] else ""), m[2]
    if re.fullmatch(r"[1-9]\d{3}", text):
        return minus + numbers.pairs(int(text))
    if text.isdigit() and (len(text) > 4 or (len(text) > 1 and text[0] == "0")):
        return minus + numbers.digits(text)
    return minus + numbers.decimal(text)


def _state(m: re.Match[str]) -> str:
    return f"{m[1]}{STATES[m[2]]}{m[3]}"


def _abbreviation(m: re.Match[str]) -> str:
    return ABBREVIATIONS[m[1].lower()]


def _street(m: re.Match[str]) -> str:
    return f"{m[1]} {STREETS[m[2]]}"


def _counted(m: re.Match[str]) -> str:
    return f"{numbers.decimal(m[1])} {m[2]}"


def _international(m: re.Match[str]) -> str:
    return f"plus one, {numbers.digits(m[1])}"


def _initials(m: re.Match[str]) -> str:
    return " ".join(re.findall(r"[A-Za-z]", m[0]))


def _fixed(words: str) -> Callable[[re.Match[str]], str]:
    return lambda m: words


def _keeping(template: str) -> Callable[[re.Match[str]], str]:
    return lambda m: m.expand(template)


_UNIT = "|".join(re.escape(u) for u in sorted(UNITS, key=len, reverse=True))
_ABBREVIATION = "|".join(re.escape(a) for a in sorted(ABBREVIATIONS, key=len, reverse=True))
_STREET = "|".join(STREETS)

RULES: tuple[Rule, ...] = (
    (
        re.compile(rf"(\b\d+[A-Za-z]?(?: [NSEW]\.?)?(?: [A-Z][\w']*| \d+(?:st|nd|rd|th)){{1,3}}) ({_STREET})\b\.?"),
        _street,
    ),
    (re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"), _email),
    (re.compile(r"\b(?:https?://|mailto:|www\.)[^\s,;)\"']*[^\s,;)\"'.!?:]", re.IGNORECASE), _url),
    (re.compile(r"\b[a-z][\w-]*\.(?:com|org|net|gov|edu|io|health)\b(?:/[\w/-]*\w)?", re.IGNORECASE), _url),
    (re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?:T(?=\d)|(?!\d))"), _iso_date),
    (re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?![\d/])"), _us_date),
    (re.compile(r"(?<=\b[Oo]n )(\d{1,2})/(\d{1,2})()(?![\d/])"), _us_date),
    (
        re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?![:%])(?:,? (\d{{4}})\b)?"),
        _month_day,
    ),
    (re.compile(rf"\b(?:the )?(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_MONTH})\b\.?(?:,? (\d{{4}})\b)?"), _day_month),
    (
        re.compile(r"(?<![\w$.,-])(\+?1[-. ])?(?:\(\d{3}\) ?|\d{3}[-. ])?\d{3}[-. ]\d{4}(?![\w]|[-.]\d)"),
        _phone,
    ),
    (re.compile(r"\+1[ -]?(\d{10})(?!\d)"), _international),
    (re.compile(r"(?<=[\d.mM]) ?[-–—] ?(?=\d{1,2}(?::\d\d| ?[ap]\.?m\b))", re.IGNORECASE), _fixed(" to ")),
    (re.compile(r"(?<![\d:.])(\d{1,2}):(\d{2})(?::\d{2})?(?: ?([ap])(?:\.m\.?|m\b))?(?![\d:])", re.IGNORECASE), _time),
    (re.compile(r"(?<![\d:.$])(\d{1,2})() ?([ap])(?:\.m\.?|m\b)", re.IGNORECASE), _time),
    (re.compile(r"(?<=[a-z] )([apAP])(?:\.m\.|\.M\.|M\b)"), _half_day),
    (
        re.compile(
            r"(?<![\w])(-)?([$€£])\s?(\d[\d,]*)(?:\.(\d+))?(?: (hundred|thousand|million|billion))?\b", re.IGNORECASE
        ),
        _money,
    ),
    (re.compile(r"/(?=(?:month|mo|year|yr|week|day|hour|visit|person)\b)"), _fixed(" per ")),
    (re.compile(rf"({NUM})\s?%"), _percent),
    (re.compile(r"\b(\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)\b", re.IGNORECASE), _ordinal),
    (re.compile(rf"(?<![\w.,])({NUM}) ?({_UNIT})(?![\w])"), _unit),
    (re.compile(r"\b24/7\b"), _fixed("twenty-four seven")),
    (re.compile(r"(?<![\d/])1/2(?![\d/])"), _fixed("one half")),
    (re.compile(r"(?<![\w.])(?:[A-Za-z]-){2,}[A-Za-z](?![\w-])"), _spelled),
    (re.compile(r"(?<![\w.,-])(\d[\d,]*)-([a-z]{3,}(?:-[a-z]+)*)\b"), _counted),
    (re.compile(r"(?<=[a-z])-(?=\d)"), _fixed(" ")),
    (re.compile(r"\b(?=[A-Za-z-]*\d)(?=[\d-]*[A-Za-z])[A-Za-z\d]+(?:-[A-Za-z\d]+)*\b"), _code),
    (re.compile(rf"(,? )({'|'.join(STATES)})(?=,? \d{{5}}\b)()"), _state),
    (re.compile(rf"({DIGIT_CONTEXT})(\d[\d -]*\d|\d)(?![\d.,:/%]?\d)", re.IGNORECASE), _digit_context),
    (re.compile(r"(?<![\w#])#\s?(?=\d)"), _fixed("number ")),
    (re.compile(r"\bNo\. ?(?=\d)"), _fixed("number ")),
    (re.compile(r"(?<![\w.,-])\d{3}-\d{2}-\d{4}(?![\w-])"), _digits),
    (re.compile(r"(?<![\w.,-])\d{4}(?: \d{4,6}){2,3}(?![\w-])"), _digits),
    (re.compile(r"(?<![\w.,-])(\d{1,3})\s?[-–—]\s?(\d{1,3})(?![\w-])"), _range),
    (re.compile(r"(?<![\w.,])\d+(?:-\d+)+(?![\w])"), _digits),
    (re.compile(rf"(?:(?<![\w.,])(-))?({NUM})"), _number),
    (re.compile(r"\bDr\.\s?"), _fixed("Doctor ")),
    (re.compile(r"\bSt\. (?=[A-Z])"), _fixed("Saint ")),
    (re.compile(r"(?<=[A-Za-z] )St\."), _fixed("Street")),
    (re.compile(rf"(?<![\w.])({_ABBREVIATION})(?![\w@])", re.IGNORECASE), _abbreviation),
    (re.compile(r"\b(?:[A-Za-z]\.){2,}"), _initials),
    (re.compile(r"\b([A-Z])\.(?= [A-Z][a-z])"), _keeping(r"\1")),
    (re.compile(r"\s*&\s*"), _fixed(" and ")),
    (re.compile(r"\s@\s"), _fixed(" at ")),
    (re.compile(r"\s\+\s|(?<=\w)\+(?=\s|$)"), _fixed(" plus ")),
    (re.compile(r"\s=\s"), _fixed(" equals ")),
    (re.compile(r"\s×\s|\sx\s(?=\w+\b)"), _fixed(" times ")),
    (re.compile(r"°"), _fixed(" degrees ")),
)
