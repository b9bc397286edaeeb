"""What the caller said and what was heard of it, asked for one value. Pure text of one call."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from callm_voice.caller.says import ValueType, says
from callm_voice.caller.values import HeardDate, dates_in, digit_runs_in, spelled_in
from callm_voice.core.record import TranscriptTurn
from callm_voice.report.words import compare_words
from verifier.normalise import canonical, same
from verifier.trace import ToolCall

LOST_SHARE = 1 / 3
"""A caller's turn of whose words more are not in what was heard counts as misheard as a whole."""
SMALL_ID = 100
"""Nobody says a row's id below this; "one" and "a" are not it."""
PHONE_DIGITS = 10


class Hearing:
    """The caller's side of a transcript up to a moment.

    Args:
        now: the pack's frozen date; None: relative dates ("next Tuesday") say nothing.
        until_ms: line clock; only what the caller had begun to say by then.
    """

    def __init__(
        self, transcript: Sequence[TranscriptTurn], *, now: dt.datetime | None, until_ms: float = float("inf")
    ) -> None:
        self.turns = [turn for turn in transcript if turn.party == "caller" and turn.start_ms <= until_ms]
        self._now = now
        self._said = " ".join(turn.said for turn in self.turns)
        self._heard = " ".join(turn.heard or "" for turn in self.turns)

    def said(self, name: str, value: Any, arg_type: ValueType | None) -> bool:
        """Whether the caller said the value of this argument."""
        return _in_text(self._said, name, value, arg_type, self._now)

    def heard(self, name: str, value: Any, arg_type: ValueType | None) -> bool:
        """Whether it is in what the model was given."""
        return _in_text(self._heard, name, value, arg_type, self._now)

    def turn_of(self, name: str, value: Any, arg_type: ValueType | None) -> TranscriptTurn | None:
        """The first turn in which the caller said it and it was not heard; else the first in which it was said."""
        saying = [turn for turn in self.turns if _in_text(turn.said, name, value, arg_type, self._now)]
        unheard = [turn for turn in saying if not _in_text(turn.heard or "", name, value, arg_type, self._now)]
        return next(iter([*unheard, *saying]), None)

    def lost(self) -> list[TranscriptTurn]:
        """The turns that were misheard as a whole, or not heard at all."""
        return [turn for turn in self.turns if lost_share(turn) > LOST_SHARE]


def lost_share(turn: TranscriptTurn) -> float:
    """Of the words that were said, the share that is not in what was heard; 0 to 1."""
    pieces = compare_words(turn.said, turn.heard or "")
    words = sum(len(piece.said.split()) for piece in pieces)
    return sum(len(piece.said.split()) for piece in pieces if not piece.same) / words if words else 0.0


def misheard_words(turn: TranscriptTurn) -> tuple[tuple[str, str], ...]:
    """(said, heard) of each run of words that differs; one side may be empty."""
    return tuple((piece.said, piece.heard) for piece in compare_words(turn.said, turn.heard or "") if not piece.same)


def told(calls: Sequence[ToolCall], name: str, value: Any, arg_type: ValueType | None) -> bool:
    """Whether a tool had the value in an output before. A number must stand under a key like the argument's name."""
    words = {word.rstrip("s") for word in name.split("_")}
    for key, leaf in (pair for call in calls for pair in _leaves(call.output, "")):
        akin = bool(words & {word.rstrip("s") for word in key.replace(".", "_").split("_")})
        if same(value, leaf, arg_type) and (akin or not isinstance(value, int | float)):
            return True
    return False


def _in_text(text: str, name: str, value: Any, arg_type: ValueType | None, now: dt.datetime | None) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_in_text(text, name, item, "string", now) for item in value)
    if isinstance(value, int | float) and name.endswith("id") and value < SMALL_ID:
        return False
    if arg_type in ("date", "datetime"):
        form = canonical(value, arg_type)
        day = form[1] if isinstance(form, tuple) and len(form) == 2 else None
        if isinstance(day, dt.date) and _other_year(text, day):
            return False
    if says(text, value, arg_type, now):
        return True
    if arg_type == "phone":
        digits = "".join(c for c in str(value) if c.isdigit())[-PHONE_DIGITS:]
        return bool(digits) and any(run.endswith(digits) for run in digit_runs_in(text))
    spelled = set(spelled_in(text))
    words = [word.upper() for word in str(value).split()] if arg_type == "name" else []
    return bool(words) and all(word in spelled or says(text, word, "name", now) for word in words)


def _other_year(text: str, day: dt.date) -> bool:
    """Whether the day is named, and each time with a year that is not its own."""
    named = [d for d in dates_in(text) if (d.month, d.day) == (day.month, day.day)]
    return bool(named) and not any(d.same_as(HeardDate(day.year, day.month, day.day)) for d in named)


def _leaves(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for inner_key, inner in value.items():
            yield from _leaves(inner, f"{key}.{inner_key}" if key and key != "data" else str(inner_key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    elif value is not None and not isinstance(value, bool):
        yield key, value
