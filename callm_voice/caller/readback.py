"""Whether the agent read a fact of the caller's back right. Pure text: a question in, a judgement out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from callm_voice.caller.hearing import asks_to_confirm, sentences
from callm_voice.caller.traits import spelled
from callm_voice.caller.values import HeardDate, dates_in, digit_runs_in, spelled_in

OR = re.compile(r"\bor\b", re.IGNORECASE)
"""Offers a choice, which no yes answers."""
SOUNDS_ALIKE = 0.85
"""Names at least so similar are taken for the same by ear: Alvares is, Alvarado is not."""

_LABEL = {
    "name": r"\bname\b|\b(?:speaking|talking) (?:with|to)\b|\bis this\b|\bhave you (?:down )?as\b"
    r"|\b(?:that'?s|that is|this is|it'?s|it is|you'?re|you are|i have|i'?ve got|we have)\b(?=[^?]*\bborn\b)",
    "date_of_birth": r"\bbirth|\bborn\b|\bdob\b",
    "phone": r"\b(?:your|you)\b.*\b(?:phone|mobile|cell|telephone)\b|\b(?:text|call|reach) you\b"
    r"|\bsend (?:it|the link) to\b",
    "zip": r"\bzip\b|\bpostal\b",
}
_LEAD = (
    r"^(?:\W*(?:and|so|okay|ok|great|thanks|thank you|perfect|alright|all right|now|just to confirm|to confirm)\W+)*"
)
_YES_NO = re.compile(_LEAD + r"(?:is|are|am|was|do|does|did|have|has|should|shall|can|may)\b", re.IGNORECASE)
_STATED = re.compile(
    _LEAD + r"(?:(?:that|it|this)(?:'s| is)|you(?:'re| are)|(?:i|we)(?:'ve got|'ve| have| got)"
    r"|(?:your|the) [a-z ]{1,30}? (?:is|are))\b",
    re.IGNORECASE,
)
"""A statement that a question mark makes a question: "So that's Ana Field, born February 3, 1980?"."""
_BARE_WORDS = 5
"""A question of fewer words ("Is that right?") is about the sentences before it."""
_BARE = re.compile(r"^(?:did|do|have|has) (?:i|we) [a-z ']{1,30}(?:right|correct|correctly)\W*$", re.IGNORECASE)
"""A longer one that has no content of its own either: "Did I get that right?"."""
_NOT_MINE_TO_GRANT = re.compile(
    r"\b(?:cancel\w*|charg\w+|book\w*|(?:re)?schedul\w+|mov(?:e|ing)|pay|paying|waitlist|wait list|call ?back)\b"
    r"|\b(?:transfer\w*|appointment|consult)\b",
    re.IGNORECASE,
)
_SOMEBODY_ELSE = re.compile(r"\b(?:other|opposing|their|his|her|company|employer|landlord|manager)\b", re.IGNORECASE)
"""A name that is read back may be that of the other side of a case."""
OWN_LETTERS = 0.7
"""A spelled word that is less similar to the own name is somebody else's."""
_YOUR_NUMBER = re.compile(r"\b(?:your|you)\b.*\bnumber\b", re.IGNORECASE)
_OTHER_THINGS = (
    r"(?:member|membership|subscriber|policy|insurance|plan|group|card|account|customer|client|patient|matter|case|file"
    r"|claim|invoice|bill|statement|order|ticket|reference|confirmation|tracking|serial|model|prescription|license)"
)
_NUMBER_OF_OTHER = re.compile(rf"\b{_OTHER_THINGS}(?:'s)?(?: id)? number\b", re.IGNORECASE)
_OTHER = re.compile(rf"\b{_OTHER_THINGS}\b", re.IGNORECASE)
"""Things that have a number which is no telephone's."""
_LAST_DIGITS = re.compile(r"\bend(?:s|ing)?\b|\blast (?:four|4|digits)\b", re.IGNORECASE)
WHOLE_PHONE, LOCAL_PHONE = 10, 7
"""Digits: with the area code, and without."""
_ON_FILE = re.compile(r"\b(?:old|older|previous|former|current|currently|so far|until now|on file)\b", re.IGNORECASE)
_NAMED = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+")
_CLOSING = re.compile(r"\b(anything|something|what) else\b", re.IGNORECASE)


def question(text: str) -> str:
    """The yes or no question of a floor with what it is about.

    Empty: there is none, or it asks leave to do something rather than whether a fact is right.
    """
    asked = _yes_no_question(text)
    return "" if _NOT_MINE_TO_GRANT.search(asked) else asked


def _yes_no_question(text: str) -> str:
    said = sentences(text)
    for i in range(len(said) - 1, -1, -1):
        if _CLOSING.search(said[i]):
            continue  # "Is there anything else?" asks nothing about what was said before it
        if asks_to_confirm(said[i]) or ("?" in said[i] and (_YES_NO.search(said[i]) or _STATED.search(said[i]))):
            bare = len(said[i].split()) < _BARE_WORDS or _BARE.search(said[i])
            return " ".join(said[: i + 1]) if bare else said[i]
    return ""


def judge(kind: str, value: str, text: str, others: Sequence[str]) -> bool | None:
    """True: the fact is said right; False: something else is said in its place; None: it is not talked about.

    Args:
        kind: of the fact.
        text: the yes or no question.
        others: telephone numbers of the caller's beside the one to be judged.
    """
    labelled = kind in _LABEL and re.search(_LABEL[kind], text, re.IGNORECASE) is not None
    if kind == "date_of_birth":
        return _judge_date(value, text, labelled)
    if kind == "phone":
        labelled = labelled or _is_your_phone(text)
        # Another number of the caller's own is no mistake where the agent speaks of the one on file.
        other = any(_judge_digits(number, text, False, shortest=4) for number in others)
        labelled = labelled and not (other and _ON_FILE.search(text))
        whole = labelled and (_LAST_DIGITS.search(text) or max(map(len, _runs(text)), default=0) >= LOCAL_PHONE)
        return _judge_digits(value, text, bool(whole), shortest=4)
    if kind == "zip":
        return _judge_digits(value, text, labelled, shortest=5)
    if kind == "name":
        return _judge_name(value, text, labelled)
    said = re.search(rf"\b{re.escape(value)}\b", text, re.IGNORECASE)
    return True if said and not OR.search(text) else None


def _judge_date(value: str, text: str, labelled: bool) -> bool | None:
    own = dates_in(value)
    heard = dates_in(text)
    if not own or not heard:
        return None
    if any(h.same_as(own[0]) for h in heard):
        return True
    return False if labelled or any(_full(h) and h.near(own[0]) for h in heard) else None


def _full(date: HeardDate) -> bool:
    return date.year is not None


def _runs(text: str) -> list[str]:
    """Runs of digits, without a country code."""
    return [run.removeprefix("1") if len(run) == 11 else run for run in digit_runs_in(text)]


def _is_your_phone(text: str) -> bool:
    """Whether "your number" is a telephone's: a member's, an invoice's or a matter's number is not."""
    if not _YOUR_NUMBER.search(text) or _NUMBER_OF_OTHER.search(text):
        return False
    return not _OTHER.search(text) or any(len(run) == WHOLE_PHONE for run in _runs(text))


def _judge_digits(value: str, text: str, labelled: bool, *, shortest: int) -> bool | None:
    own = "".join(re.findall(r"\d", value))
    heard = [run for run in _runs(text) if len(run) >= shortest]
    if not own or not heard:
        return None
    if any(own.endswith(run) for run in heard):
        return True
    return False if labelled else None


def _judge_name(value: str, text: str, labelled: bool) -> bool | None:
    letters = spelled(value).replace("-", "").split(", ")
    for word in spelled_in(text):
        if max(SequenceMatcher(None, word, own).ratio() for own in (*letters, "".join(letters))) >= OWN_LETTERS:
            return word in letters or word == "".join(letters)
    own = value.lower().split()
    for named in _NAMED.findall(text):
        heard = named.lower().split()
        for start in range(len(heard) - len(own) + 1):
            if all(_alike(a, b) for a, b in zip(own, heard[start:], strict=False)):
                return True
    if not labelled or spelled_in(text) or _SOMEBODY_ELSE.search(text):
        return None
    after = re.split(_LABEL["name"], text, maxsplit=1, flags=re.IGNORECASE)[-1]
    return False if _NAMED.search(after) else None


def _alike(a: str, b: str) -> bool:
    return SequenceMatcher(None, a, b).ratio() >= SOUNDS_ALIKE
