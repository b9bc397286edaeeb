"""The caller's own facts: which of them the agent asks for, and whether it read them back right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from callm_voice.caller.hearing import asks, asks_to_confirm, sentences
from callm_voice.caller.traits import date_in_words, spelled
from callm_voice.caller.values import HeardDate, dates_in, digit_runs_in, spelled_in

SOUNDS_ALIKE = 0.85
"""Names at least so similar are taken for the same by ear: Alvares is, Alvarado is not."""

_KEYS = {
    "name": re.compile(r"^(full_|patient_|caller_|legal_|my_)?name$"),
    "date_of_birth": re.compile(r"^(dob|date_of_birth|birth_?date|birthday)$"),
    "phone": re.compile(r"^(mobile|phone|cell|telephone|callback|contact)(_(phone|number))?$"),
    "zip": re.compile(r"^(zip|zip_?code|postal_?code)$"),
}
_ASKED = {
    "name": r"\b(?:your|the|full|first|last|legal|and) (?:first and last |full |first |last |legal )?name\b(?! of\b)"
    r"|\bwho(?:'s| is| am i) (?:calling|this|speaking|talking)",
    "date_of_birth": r"\bdate of birth\b|\bbirth ?da(?:y|te)\b|\bdob\b|\bwere you born\b",
    "phone": r"\b(?:phone|mobile|cell|telephone|contact|call ?back|call-back)(?: phone)?(?: number)?\b|\bbest number\b"
    r"|\bnumber (?:to|we can|i can|can (?:we|i)) (?:reach|text|call)|\byour number\b",
    "zip": r"\bzip\b|\bpostal code\b",
}
_LABEL = {
    "name": r"\bname\b|\b(?:speaking|talking) (?:with|to)\b|\bis this\b|\bhave you (?:down )?as\b",
    "date_of_birth": r"\bbirth|\bborn\b|\bdob\b",
    "phone": r"\b(?:your|you)\b.*\b(?:phone|mobile|cell|(?<!matter )(?<!case )(?<!file )(?<!invoice )(?<!order )"
    r"(?<!account )(?<!serial )number)\b|\b(?:text|call|reach) you\b"
    r"|\bsend (?:it|the link) to\b",
    "zip": r"\bzip\b|\bpostal\b",
}
_YES_NO = re.compile(
    r"^(?:\W*(?:and|so|okay|ok|great|thanks|thank you|perfect|alright|all right|now|just to confirm|to confirm)\W+)*"
    r"(?:is|are|am|was|do|does|did|have|has|should|shall|can|may)\b",
    re.IGNORECASE,
)
_OFFER = re.compile(r"\b(?:would|do) you (?:like|want)\b|\b(?:shall|should) (?:i|we)\b", re.IGNORECASE)
"""Wants a yes or a no, whatever it mentions."""
_OR = re.compile(r"\bor\b", re.IGNORECASE)
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
_NUMBER = re.compile(r"\+?[\d .()-]{10,20}")
"""A telephone number."""
_ON_FILE = re.compile(r"\b(?:old|older|previous|former|current|currently|so far|until now|on file)\b", re.IGNORECASE)
_NAMED = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+")


@dataclass(frozen=True)
class Fact:
    """One trait as the caller can say it."""

    kind: str
    """`name`, `date_of_birth`, `phone`, `zip`, or the trait's own name."""
    value: str

    @property
    def sentence(self) -> str:
        """The value in a sentence of its own."""
        start = {
            "name": "My name is",
            "date_of_birth": "My date of birth is",
            "phone": "My number is",
            "zip": "My zip code is",
        }
        words = f"{start[self.kind]} {self.spoken}" if self.kind in start else self.spoken[:1].upper() + self.spoken[1:]
        return words.rstrip(".") + "."

    @property
    def spoken(self) -> str:
        """The value as a person says it."""
        return date_in_words(self.value)

    def part(self, which: str) -> str:
        """The first or last word of a name in a sentence."""
        words = self.value.split()
        return f"My {which} name is {words[0] if which == 'first' else words[-1]}."


class Facts:
    """All traits of a brief, by kind."""

    def __init__(self, traits: Mapping[str, str]) -> None:
        self._by_kind: dict[str, Fact] = {}
        for key, value in traits.items():
            kind = next((k for k, pattern in _KEYS.items() if pattern.match(key)), key)
            self._by_kind.setdefault(kind, Fact(kind, value))
        if "name" not in self._by_kind and {"first_name", "last_name"} <= traits.keys():
            self._by_kind["name"] = Fact("name", f"{traits['first_name']} {traits['last_name']}")
        self._numbers = [
            f.value for kind, f in self._by_kind.items() if kind not in _KEYS and _NUMBER.fullmatch(f.value.strip())
        ]
        self._patterns = {
            kind: re.compile(_ASKED.get(kind, rf"\b{re.escape(kind.replace('_', ' '))}\b"), re.IGNORECASE)
            for kind in self._by_kind
        }

    @property
    def name(self) -> Fact | None:
        """The caller's name, if it has one."""
        return self._by_kind.get("name")

    def all(self) -> list[Fact]:
        """Every fact, in the order of the traits."""
        return list(self._by_kind.values())

    def asked(self, text: str) -> list[Fact]:
        """The facts that the agent asks for, by name or as one of two ("new or existing?"), in the order of asking."""
        asked = " ".join(s for s in sentences(text) if asks(s) and not _OFFER.search(s))
        found = [(match.start(), kind) for kind, p in self._patterns.items() if (match := p.search(asked))]
        if not found and _OR.search(asked):
            found = [(asked.lower().find(f.value.lower()), kind) for kind, f in self._by_kind.items()]
        return [self._by_kind[kind] for at, kind in sorted(found) if at >= 0]

    def read_back(self, text: str) -> tuple[list[Fact], list[Fact]]:
        """What the agent read back of these facts in a yes or no question: those that are right, those that are wrong.

        Both are empty if it asks no such question, or asks leave to do something rather than whether a fact is right.
        """
        asked = _question(text)
        if not asked or _NOT_MINE_TO_GRANT.search(asked):
            return [], []
        right: list[Fact] = []
        wrong: list[Fact] = []
        for kind, fact in self._by_kind.items():
            verdict = self._judge(kind, fact.value, asked)
            if verdict is not None:
                (right if verdict else wrong).append(fact)
        return right, wrong

    def _judge(self, kind: str, value: str, text: str) -> bool | None:
        """True: it is said right; False: something else is said in its place; None: it is not talked about."""
        labelled = kind in _LABEL and re.search(_LABEL[kind], text, re.IGNORECASE) is not None
        if kind == "date_of_birth":
            return _judge_date(value, text, labelled)
        if kind == "phone":
            # Another number of the caller's own is no mistake where the agent speaks of the one on file.
            other = any(_judge_digits(number, text, False, shortest=4) for number in self._numbers)
            labelled = labelled and not (other and _ON_FILE.search(text))
            return _judge_digits(value, text, labelled, shortest=4)
        if kind == "zip":
            return _judge_digits(value, text, labelled, shortest=5)
        if kind == "name":
            return _judge_name(value, text, labelled)
        said = re.search(rf"\b{re.escape(value)}\b", text, re.IGNORECASE)
        return True if said and not _OR.search(text) else None


_CLOSING = re.compile(r"\b(anything|something|what) else\b", re.IGNORECASE)


def _question(text: str) -> str:
    """The yes or no question of a floor with what it is about, or an empty text."""
    said = sentences(text)
    for i in range(len(said) - 1, -1, -1):
        if _CLOSING.search(said[i]):
            continue  # "Is there anything else?" asks nothing about what was said before it
        if asks_to_confirm(said[i]) or ("?" in said[i] and _YES_NO.search(said[i])):
            bare = len(said[i].split()) < _BARE_WORDS or _BARE.search(said[i])
            return " ".join(said[: i + 1]) if bare else said[i]
    return ""


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


def _judge_digits(value: str, text: str, labelled: bool, *, shortest: int) -> bool | None:
    own = "".join(re.findall(r"\d", value))
    heard = [run.removeprefix("1") if len(run) == 11 else run for run in digit_runs_in(text)]
    heard = [run for run in heard if len(run) >= shortest]
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
