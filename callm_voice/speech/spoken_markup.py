"""Markdown, emoji and typography out of a text that will be spoken: nobody wants to hear "asterisk asterisk"."""

from __future__ import annotations

import re
import unicodedata

_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.MULTILINE)
_IMAGE_OR_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^>\s]+)>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[\s|:-]+$", re.MULTILINE)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•▪◦–]\s+|>\s?)+", re.MULTILINE)
_NUMBERED = re.compile(r"^(\s*\d{1,2})[.)]\s+", re.MULTILINE)
_EMPHASIS = re.compile(r"\*+|(?<![^\W_])_+|_+(?![^\W_])|`+|~~")
_SPOKEN_SYMBOLS = frozenset("$+<=>^|~°€£¥¢`×÷±")
_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "...", "\u2011": "-"}
_SPACES = dict.fromkeys("\u00a0\u2007\u2009\u202f", " ")
_TYPOGRAPHY = str.maketrans(_QUOTES | _SPACES)


def plain(text: str) -> str:
    """The text without markup: lists become sentences, links their text, emoji nothing."""
    text = unicodedata.normalize("NFC", text).translate(_TYPOGRAPHY)
    text = _FENCE.sub("", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _IMAGE_OR_LINK.sub(lambda m: m[1], text)
    text = _TAG.sub(" ", text)
    text = _RULE.sub("", text)
    text = _TABLE_RULE.sub("", text)
    text = _HEADING.sub(r"\1", text)
    text = _BULLET.sub("", text)
    text = _NUMBERED.sub(r"\1, ", text)
    text = _EMPHASIS.sub("", text)
    text = re.sub(r"[ \t]*\|[ \t]*", ", ", text)
    text = "".join(c for c in text if not _is_picture(c))
    return _lines_to_sentences(text)


def _is_picture(character: str) -> bool:
    """Emoji, arrows, dingbats, invisible joiners and control characters."""
    if character in _SPOKEN_SYMBOLS or character in "\n\t ":
        return False
    return unicodedata.category(character) in {"So", "Sk", "Cf", "Cc", "Cs", "Co", "Cn"} or character in "\ufe0f\u20e3"


def _lines_to_sentences(text: str) -> str:
    """One line: a line that ends without punctuation gets a full stop."""
    lines = [" ".join(line.split()).strip(" ,") for line in text.split("\n")]
    kept = [line for line in lines if any(c.isalnum() for c in line)]
    ended = [line if line[-1] in ".!?:;,\"')" else f"{line}." for line in kept[:-1]]
    return " ".join([*ended, *kept[-1:]])
