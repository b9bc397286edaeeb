"""Keys that a caller presses, as text: `[keypad: 1 2 3 4 #]`.

The form is the same in the caller's lines, in transcripts and in what the desk's model is given. It is read only in
lines of the caller's own making; words that a recogniser or the agent's model wrote are never searched for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

KEYS = "0123456789ABCD*#"
"""The sixteen of ITU-T Q.23."""
MAX_KEYS = 32
"""In one go."""
_MARKER = re.compile(rf"\[keypad:((?: [0-9A-D*#]){{1,{MAX_KEYS}}})\]")


@dataclass(frozen=True)
class Keys:
    """Pressed keys, one character each, in order."""

    keys: str


def marker(keys: str) -> str:
    """`1234#` → `[keypad: 1 2 3 4 #]`."""
    return f"[keypad: {' '.join(keys)}]"


def keys_from(text: str) -> str | None:
    """The keys of a text that names nothing else: `12-34 #` → `1234#`; None: something in it is no key, or too many."""
    keys = re.sub(r"[\s,.()-]", "", text)
    return keys if 0 < len(keys) <= MAX_KEYS and not set(keys) - set(KEYS) else None


def parts(line: str) -> list[str | Keys]:
    """A line in the order in which it is performed: words to be said and keys to be pressed."""
    found: list[str | Keys] = []
    for n, piece in enumerate(_MARKER.split(line)):
        if n % 2:
            found.append(Keys(piece.replace(" ", "")))
        elif piece.strip():
            found.append(piece.strip())
    return found


def without_keys(line: str) -> str:
    """The words of a line alone."""
    return " ".join(part for part in parts(line) if isinstance(part, str))


def keys_in(line: str) -> str:
    """The keys of a line alone."""
    return "".join(part.keys for part in parts(line) if isinstance(part, Keys))
