"""The spoken form of written text, for synthesis: numbers, dates, money, codes and signs in words, markup gone.

Voices read digits and signs each in its own way and often wrongly; words they all read alike. The forms were chosen by
what Whisper understood over a G.711 line.
"""

from __future__ import annotations

import re

from callm_voice.speech.sentences import SentenceSplitter
from callm_voice.speech.spoken_markup import plain
from callm_voice.speech.spoken_numbers import digits, spell
from callm_voice.speech.spoken_rules import RULES

__all__ = ["digits", "spell", "to_spoken"]

_TIDY = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\.{2,}|\s[-–—]+\s|[–—]+", ", "),
        (r"[()\[\]{};]", ", "),
        (r"[\"“”«»]", ""),
        (r"(?<![A-Za-z])'|'(?![A-Za-z])", ""),
        (r"(?<=\w)/(?=\w)", " "),
        (r"[^\w\s.,:!?'\-]|_", " "),
        (r"(?<!\w)-+|-+(?!\w)", " "),
        (r"\s+([.,:!?])", r"\1"),
        (r"(?:,\s*)+([.!?:])", r"\1"),
        (r"[.!?:][,:\s]*,", ","),
        (r",(?:\s*,)+", ","),
        (r"([.!?])[.:]+", r"\1"),
        (r"([.,:!?])(?=[^\W\d_])", r"\1 "),
        (r"^[\s.,:!?]+", ""),
        (r"\s+", " "),
    )
)


def to_spoken(text: str) -> str:
    """One line of text as it is to be said, for either side of the line.

    Plain prose stays as it is. Text that has words never becomes empty.
    """
    splitter = SentenceSplitter()
    written = plain(text)
    spoken = [_sentence(s) for s in [*splitter.feed(written), *splitter.flush()]]
    said = " ".join(filter(None, spoken))
    if not _has_word(said) and _has_word(text):
        return " ".join(re.findall(r"[^\W_]+", text))
    return said


def _sentence(written: str) -> str:
    spoken = written
    for pattern, said in RULES:
        spoken = pattern.sub(said, spoken)
    for pattern, replacement in _TIDY:
        spoken = pattern.sub(replacement, spoken)
    spoken = spoken.strip()
    if spoken[:1].islower() and not written[:1].isalpha():
        spoken = spoken[0].upper() + spoken[1:]
    ended = written.rstrip("\"')*_ ").endswith(".")
    return f"{spoken.rstrip(',: ')}." if ended and spoken and spoken[-1] not in ".!?" else spoken


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)
