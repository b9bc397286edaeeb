"""Where what was heard differs from what was said, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from rich.text import Text

from callm_voice.report.text import plain

_ORDINAL = re.compile(r"^([1-9]\d?)(?:st|nd|rd|th)$")


@dataclass(frozen=True)
class WordPiece:
    """A run of words that is the same on both sides, or differs; one side may be empty then."""

    said: str
    heard: str
    same: bool


def compare_words(said: str, heard: str) -> list[WordPiece]:
    """The two texts aligned by words; case and everything but letters and digits do not count, and `30th` is `30`: a
    day of a month is said as an ordinal, however it is written."""
    return align_words(plain(said).split(), plain(heard).split())


def align_words(said_words: list[str], heard_words: list[str]) -> list[WordPiece]:
    """As `compare_words`, of words as they stand."""
    matcher = SequenceMatcher(None, [_key(w) for w in said_words], [_key(w) for w in heard_words], autojunk=False)
    return [
        WordPiece(" ".join(said_words[a:b]), " ".join(heard_words[c:d]), same=tag == "equal")
        for tag, a, b, c, d in matcher.get_opcodes()
    ]


def misheard_text(said: str, heard: str) -> Text:
    """What was heard, with `[-said-]` and `{+heard+}` where it differs, as wdiff writes it."""
    parts: list[Text] = []
    for piece in compare_words(said, heard):
        if piece.same:
            parts.append(Text(piece.heard))
            continue
        if piece.said:
            parts.append(Text(f"[-{piece.said}-]", style="red"))
        if piece.heard:
            parts.append(Text(f"{{+{piece.heard}+}}", style="bold yellow"))
    return Text(" ").join(parts)


def _key(word: str) -> str:
    letters = "".join(c for c in word.casefold() if c.isalnum())
    return _ORDINAL.sub(r"\1", letters) or word
