"""What any caller can answer without a script: its own facts, a read-back, a request to repeat or to spell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

from callm_voice.caller.facts import Fact, Facts
from callm_voice.caller.hearing import asks_presence, asks_to_hold, asks_to_repeat, asks_to_spell
from callm_voice.caller.traits import digit_groups, spelled

YES = "Yes, that's right."
SURE = "Sure."
HERE = "Yes, I'm here."


@dataclass(frozen=True)
class Answer:
    """A line and why it is said."""

    text: str
    why: str


class Answers:
    """General answers from a brief's traits. Pure: the same words give the same answer."""

    def __init__(self, traits: Mapping[str, str]) -> None:
        self._facts = Facts(traits)

    def correction(self, text: str) -> Answer | None:
        """Puts a wrong read-back of its own facts right; None if nothing was read back wrong."""
        _, wrong = self._facts.read_back(text)
        if not wrong:
            return None
        return Answer("No, " + " ".join(map(_corrected, wrong)), f"corrects {', '.join(f.kind for f in wrong)}")

    def general(self, text: str, last_line: str) -> Answer | None:
        """An answer that needs no script, or None.

        Args:
            last_line: what the caller said last, for a request to repeat it.
        """
        right, _ = self._facts.read_back(text)
        if right:
            return Answer(YES, f"confirms {', '.join(f.kind for f in right)}")
        name = self._facts.name
        if name is not None and asks_to_spell(text):
            return Answer(_spelling(name, text), "spells its name")
        asked = self._facts.asked(text)
        if asked:
            lines = [_name_part(fact, text) if fact.kind == "name" else fact.sentence for fact in asked]
            return Answer(" ".join(lines), f"asked for {', '.join(f.kind for f in asked)}")
        if last_line and asks_to_repeat(text):
            return Answer(self.slower(last_line), "asked to repeat")
        if asks_to_hold(text):
            return Answer(SURE, "asked to hold")
        if asks_presence(text):
            return Answer(HERE, "asked whether it is there")
        return None

    def slower(self, line: str) -> str:
        """A line again, with its name spelled and its number in groups after it."""
        name = self._facts.name
        for fact in self._facts.asked("phone number? zip code?"):
            if fact.value in line:
                line = line.replace(fact.value, digit_groups(fact.value))
        if name is not None and spelled(name.value) not in line:
            words = name.value.split()
            if name.value in line:
                line = f"{line} That's {spelled(name.value)}."
            elif words[-1] in line.split() or f"{words[-1]}." in line.split():
                line = f"{line} That's {spelled(words[-1])}."
        return line

    def lines(self) -> list[str]:
        """The answers that can be synthesised before the call: facts alone and in pairs, corrections, spellings."""
        facts = self._facts.asked("your name? date of birth? phone number? zip code?")
        singles = [fact.sentence for fact in facts]
        pairs = [f"{a} {b}" for a, b in permutations(singles, 2)]
        lines = [YES, SURE, HERE, *singles, *pairs, *(f"No, {_corrected(fact)}" for fact in facts)]
        if self._facts.name is not None:
            name = self._facts.name
            lines += [_spelling(name, which) for which in ("", "first name", "last name")]
            lines += [name.part("first"), name.part("last")]
        return lines


def _corrected(fact: Fact) -> str:
    if fact.kind == "name":
        return f"it's {fact.value}. That's {spelled(fact.value)}."
    return fact.sentence[0].lower() + fact.sentence[1:] if fact.sentence.startswith("My ") else f"it's {fact.sentence}"


def _spelling(name: Fact, text: str) -> str:
    words = name.value.split()
    which = _which(text)
    return spelled({"first": words[0], "last": words[-1]}.get(which, name.value)) + "."


def _name_part(name: Fact, text: str) -> str:
    which = _which(text)
    return name.part(which) if which else name.sentence


def _which(text: str) -> str:
    """`first` or `last` if only that part of the name is meant."""
    first = re.search(r"\bfirst\b", text, re.IGNORECASE) is not None
    last = re.search(r"\b(last|family|sur)\s?name\b", text, re.IGNORECASE) is not None
    return "" if first == last else "first" if first else "last"
