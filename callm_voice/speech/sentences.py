"""Sentences out of a stream of text, each as soon as it is complete, so that synthesis can begin.

A boundary is decided only from text that is already there and cannot be changed by what follows, so any chunking of the
same text gives the same sentences.
"""

from __future__ import annotations

import re

MAX_WORDS = 80
"""Text without any boundary is cut here at a space, so that a model that forgets its full stops is still heard."""

_CLOSERS = "[)\\]\"'”’*_]*"
_CANDIDATE = re.compile(
    rf"(?P<end>[.!?…]+{_CLOSERS})(?=\s)|(?P<line>\n)|(?P<clause>(?:[,;:]{_CLOSERS}|\s[-–—]|—))(?=\s)"
)
_NEXT_WORD = re.compile(r"\s*[(\[\"'“‘*_]*([^\s]+?)(?=[\s,.!?;:…]|$)")
_LAST_WORD = re.compile(r"([^\s(\[\"'“‘*]+)$")
_ENUMERATOR = re.compile(r"(?:^|\n)\s*(?:\d{1,2}|[a-z])$", re.IGNORECASE)

_NO_END = "mr mrs ms prof rev sen rep gen capt sgt lt col hon vs approx e.g i.e"
_SELDOM_END = """dr st a.m p.m etc inc ltd co corp jr sr ave blvd rd ln apt ste no dept ext fig mt ft
    jan feb mar apr jun jul aug sep sept oct nov dec"""
_BEGIN = """a after all also and any anything are as at before but can could did do does for great has have he hello
    how i i'd i'll i'm i've if in is it it's just let let's may my no now okay on once one or our perfect please shall
    she should so sorry sure thank thanks that that's the then there they this to was we we'll we're we've were what
    when where which who why will with would yes you you'll you're you've your"""
_NEVER = frozenset(_NO_END.split())
"""A full stop after one of these is not the end of a sentence."""
_SELDOM = frozenset(_SELDOM_END.split())
"""After one of these it is the end only if the next word is one of `_STARTERS`."""
_STARTERS = frozenset(_BEGIN.split())


class SentenceSplitter:
    """One answer's text in, its sentences out.

    Args:
        early_clause_words: if above 0, the first sentence may go out at a comma, colon, semicolon or dash once it has
            this many words.
    """

    def __init__(self, *, early_clause_words: int = 0) -> None:
        self._early_clause_words = early_clause_words
        self._text = ""
        self._first = True

    def feed(self, delta: str) -> list[str]:
        """Take more text; the sentences that are now complete, stripped."""
        self._text += delta.replace("\r\n", "\n").replace("\r", "\n")
        return self._take(final=False)

    def flush(self) -> list[str]:
        """The answer has ended: all that is left."""
        sentences = self._take(final=True)
        rest, self._text = self._text.strip(), ""
        return [*sentences, rest] if _has_word(rest) else sentences

    def _take(self, *, final: bool) -> list[str]:
        sentences: list[str] = []
        while (end := self._boundary(final=final)) is not None:
            sentence, self._text = self._text[:end].strip(), self._text[end:]
            if _has_word(sentence):
                sentences.append(sentence)
                self._first = False
        return sentences

    def _boundary(self, *, final: bool) -> int | None:
        """Index just behind the first boundary that is certain, or None."""
        limit = _index_after_words(self._text, MAX_WORDS)
        for match in _CANDIDATE.finditer(self._text):
            if limit is not None and match.end() > limit:
                return limit
            verdict = self._verdict(match, final=final)
            if verdict is None:
                return None
            if verdict:
                return match.end()
        return limit

    def _verdict(self, match: re.Match[str], *, final: bool) -> bool | None:
        """Whether there is a boundary at this candidate; None: more text is needed to tell."""
        if match["line"]:
            return True
        following = _NEXT_WORD.match(self._text, match.end())
        if following is None:
            return True if final else None
        next_word = following[1]
        if not (following.end() < len(self._text) or final):  # more of this word may come
            return self._verdict_by_letter(match, next_word[0])
        if match["clause"]:
            return self._clause_ends(match, next_word)
        return _sentence_ends(self._text[: match.start()], match["end"], next_word)

    def _verdict_by_letter(self, match: re.Match[str], letter: str) -> bool | None:
        """The verdict where the first letter of the next word settles it: it is there a token before the whole word."""
        if not letter.isalnum():
            return None
        if match["clause"]:
            return self._clause_ends(match, letter)
        if letter.islower() or _always_ends(self._text[: match.start()], match["end"]):
            return not letter.islower()
        return None

    def _clause_ends(self, match: re.Match[str], next_word: str) -> bool:
        if not self._early_clause_words or not self._first or next_word[0].isdigit():
            return False
        return len(self._text[: match.start()].split()) >= self._early_clause_words


def _sentence_ends(before: str, mark: str, next_word: str) -> bool:
    if next_word[0].islower():
        return False
    if _always_ends(before, mark):
        return True
    if _last_word(before) in _NEVER or _ENUMERATOR.search(before):
        return False
    return next_word.lower().replace("’", "'") in _STARTERS


def _always_ends(before: str, mark: str) -> bool:
    """Whether the mark ends a sentence before any word that does not begin with a small letter."""
    if not mark.startswith(".") or mark.startswith(".."):
        return True
    word = _last_word(before)
    initial = len(word) == 1 and word.isalpha()
    abbreviated = word in _NEVER or word in _SELDOM or re.fullmatch(r"(?:[a-z]\.)+[a-z]", word) is not None
    return not (initial or abbreviated or _ENUMERATOR.search(before))


def _last_word(before: str) -> str:
    found = _LAST_WORD.search(before)
    return found[1].lower() if found else ""


def _index_after_words(text: str, count: int) -> int | None:
    """Index behind the first `count` words, if a further word has begun."""
    for number, match in enumerate(re.finditer(r"\S+", text)):
        if number == count:
            return match.start()
    return None


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)
