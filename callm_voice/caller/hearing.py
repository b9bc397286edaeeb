"""What kind of thing the agent said: does it ask, does it ask to confirm, to hold, to repeat, to spell. Pure text."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SENTENCE = re.compile(r"[^.!?]+(?:\.(?=\d)[^.!?]*)*[.!?]*")
_NO_END = re.compile(r"\b(dr|mr|mrs|ms|st|ave|no|jr|sr|[ap]\.m|[a-z])\.$", re.IGNORECASE)


def any_of(*patterns: str) -> re.Pattern[str]:
    """One case-insensitive pattern out of several."""
    return re.compile("|".join(patterns), re.IGNORECASE)


_REQUEST = any_of(
    r"\b(could|can|would|will|may|might) (you|i|we)\b.*\b(please|give|have|get|tell|confirm|spell|provide|verify)\b",
    r"\b(could|can|would|will|may|might) (you|i|we)\b.*\b(repeat|say|share|ask)\b",
    r"\bplease (tell|give|confirm|spell|provide|verify|say|repeat|share|state)\b",
    r"\b(i|we)(?:'ll| will)? (?:just |also |still )?need (?:to (?:verify|confirm|have|get) )?your\b",
    r"\bwhat(?:'s| is| was) (?:your|the)\b",
    r"\bgo ahead\b",
    r"\b(?:spell|repeat) (?:that|your|it)\b",
)
_GOOD = r"(right|correct|accurate|ok|okay|alright|all right|good|fine|work|sound|look)"
_CONFIRM = any_of(
    rf"\b(is|was|does|did|do|are|would|have) (that|this|it|i|these|those|we)\b[^?]*\b{_GOOD}\b[^?]*(\?|$)",
    r"\b(right|correct|okay|ok|yes)\s*\?\s*$",
    r"\b(shall|should) (i|we)\b",
    r"\b(would|do) you (?:like|want) (?:me|us) to\b|\bwould you like to\b",
    r"\b(can|could|please|would) (?:you )?(?:please )?confirm (?:that|this|if|whether)\b",
    r"\bdo you (?:agree|accept|confirm|consent)\b",
    r"\b(?:may|can) i (?:go ahead|proceed|book|move|send|cancel|reschedule)\b",
    r"\bam i (?:speaking|talking) (?:with|to)\b|\bis this \w+",
)
_CLOSING = any_of(r"\b(anything|something) else\b", r"\bany other (questions?|concerns?)\b")
_REPEAT = any_of(
    r"\b(?:could|can|would|will) you (?:please |just )?(?:repeat|say)\b|\bplease (?:repeat|say (?:that|it|your))\b",
    r"(?<!me )(?<!i'll )(?<!i will )\brepeat (?:that|it|your|what)\b(?!.{0,10}\bback\b)|\bsay (?:that|it) again\b",
    r"\bdid(?:n'?t| not) (?:quite |really )?(?:catch|hear|understand|get (?:that|all|your))\b|\bcome again\b",
    r"\bcould(?:n'?t| not) (?:quite |really )?(?:hear|understand|make (?:that |it )?out|catch)\b",
    r"\b(?:one more time|once more|speak up)\b|\b(?:sorry|pardon|pardon me|excuse me|what was that)\s*\?",
)
_SPELL = any_of(r"\bspell(?:ing)?\b")
_MAY_HOLD = any_of(
    r"\b(?:put|place|have) you (?:on|hold)\b.*\b(?:hold|moment|minute|second)\b",
    r"\b(?:can|could|would|will) you (?:please )?hold\b|\bmind holding\b",
    r"\b(?:bear with me|is it (?:ok|okay|alright)).*\bhold\b",
)
_PRESENCE = any_of(r"\bare you (?:still )?(?:there|with me|on the line)\b", r"\bcan you hear me\b")
_SHORT_WORDS = 4
"""A last sentence of at most so many words ("Thank you.") does not end a hold on its own."""


def sentences(text: str) -> list[str]:
    """The sentences of a floor, without breaking at titles, decimals and initials."""
    found: list[str] = []
    joined = ""
    for piece in _SENTENCE.findall(text):
        joined += piece
        if not _NO_END.search(joined.strip()):
            found.append(joined.strip())
            joined = ""
    return [s for s in [*found, joined.strip()] if s]


def asks(text: str) -> bool:
    """Whether the agent waits for an answer: a question mark, or a request in words (for ears that drop the mark)."""
    return "?" in text or _REQUEST.search(text) is not None


def asks_to_confirm(text: str) -> bool:
    """Whether the last thing that the agent asked is a yes or no on something it named (not "anything else?")."""
    asked = [s for s in sentences(text) if asks(s) or _CONFIRM.search(s)]
    return bool(asked) and _CONFIRM.search(asked[-1]) is not None and _CLOSING.search(asked[-1]) is None


def puts_on_hold(text: str, hold: Sequence[re.Pattern[str]]) -> bool:
    """Whether the floor ends with words like "one moment" and asks nothing."""
    if asks(text):
        return False
    tail = sentences(text)[-1:]
    for earlier in reversed(sentences(text)[:-1]):
        if len(tail[0].split()) > _SHORT_WORDS:
            break
        tail.insert(0, earlier)
    return any(pattern.search(sentence) for pattern in hold for sentence in tail)


def asks_to_repeat(text: str) -> bool:
    """ "Sorry?", "I didn't catch that", "could you repeat it"."""
    return _REPEAT.search(text) is not None


def asks_to_spell(text: str) -> bool:
    """ "How do you spell that?"."""
    return any(_SPELL.search(s) and asks(s) for s in sentences(text))


def asks_to_hold(text: str) -> bool:
    """ "Can I put you on hold for a moment?": a hold that wants an answer."""
    return any(_MAY_HOLD.search(s) and "?" in s for s in sentences(text))


def asks_presence(text: str) -> bool:
    """ "Are you still there?"."""
    return _PRESENCE.search(text) is not None
