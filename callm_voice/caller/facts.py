"""The caller's own facts, and which of them the agent asks for or reads back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from callm_voice.caller.hearing import asks, sentences
from callm_voice.caller.readback import OR, judge, question
from callm_voice.caller.traits import date_in_words

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
_OFFER = re.compile(r"\b(?:would|do) you (?:like|want)\b|\b(?:shall|should) (?:i|we)\b", re.IGNORECASE)
"""Wants a yes or a no, whatever it mentions."""
_NUMBER = re.compile(r"\+?[\d .()-]{10,20}")
"""A telephone number."""


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
        if not found and OR.search(asked):
            found = [(asked.lower().find(f.value.lower()), kind) for kind, f in self._by_kind.items()]
        return [self._by_kind[kind] for at, kind in sorted(found) if at >= 0]

    def read_back(self, text: str) -> tuple[list[Fact], list[Fact]]:
        """What the agent read back of these facts in a yes or no question: those that are right, those that are wrong.

        Both are empty if it asks no such question, or asks leave to do something rather than whether a fact is right.
        """
        asked = question(text)
        if not asked:
            return [], []
        right: list[Fact] = []
        wrong: list[Fact] = []
        for kind, fact in self._by_kind.items():
            verdict = judge(kind, fact.value, asked, self._numbers)
            if verdict is not None:
                (right if verdict else wrong).append(fact)
        return right, wrong
