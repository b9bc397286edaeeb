"""A brief made ready to play: lines rendered, patterns compiled."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from callm_voice.caller.traits import render
from callm_voice.core.brief import Beat, Brief, Expect
from callm_voice.core.errors import ConfigError
from callm_voice.core.keypad import MAX_KEYS, keys_from, marker

OPENING = "opening"
"""Names the brief's opening among the beats."""


@dataclass(frozen=True)
class Condition:
    """A compiled `Expect`."""

    any_of: tuple[re.Pattern[str], ...]
    all_of: tuple[re.Pattern[str], ...]
    none_of: tuple[re.Pattern[str], ...]

    @property
    def specific(self) -> bool:
        """Whether it wants certain words; without any it holds on most floors."""
        return bool(self.any_of or self.all_of)

    def holds(self, text: str) -> bool:
        """Whether the agent's words satisfy it."""
        return (
            (not self.any_of or any(p.search(text) for p in self.any_of))
            and all(p.search(text) for p in self.all_of)
            and not any(p.search(text) for p in self.none_of)
        )


@dataclass(frozen=True)
class Line:
    """A beat with its lines rendered and its condition compiled."""

    beat: Beat
    say: str
    """Its words, and after them what it presses as `[keypad: ...]`."""
    repeat_say: str
    """Likewise; empty: as the first time."""
    when: Condition

    @property
    def id(self) -> str:
        return self.beat.id


@dataclass(frozen=True)
class Ban:
    """A compiled `Never`."""

    pattern: re.Pattern[str]
    until: str | None
    reason: str

    def forbids(self, text: str, beat: str, played: Collection[str]) -> bool:
        """Whether `text` may not be said now. The beat that lifts the ban may itself say it."""
        lifted = self.until is not None and (self.until in played or self.until == beat)
        return not lifted and self.pattern.search(text) is not None

    def __str__(self) -> str:
        until = f"until {self.until}" if self.until else "ever"
        return f"never {self.pattern.pattern!r} {until}" + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True)
class Script:
    """A whole brief, ready to play."""

    opening: str
    lines: tuple[Line, ...]
    bans: tuple[Ban, ...]
    hold: tuple[re.Pattern[str], ...]

    def banned(self, text: str, beat: str, played: Collection[str]) -> Ban | None:
        """The first rule that forbids `text` now, or None."""
        return next((ban for ban in self.bans if ban.forbids(text, beat, played)), None)


def load_script(brief: Brief, *, source: str = "brief") -> Script:
    """Render and compile a brief.

    Args:
        source: the file it came from, for messages.

    Raises:
        ConfigError: an unknown trait or form, or a pattern that is no regular expression. Names the beat and key.
    """
    lines = []
    for beat in brief.beats:
        where = f"beats.{beat.id}"
        keys = _keys(render(beat.press, brief.traits, where=f"{where}.press", source=source), f"{where}.press", source)
        repeat = render(beat.repeat_say, brief.traits, where=f"{where}.repeat_say", source=source)
        lines.append(
            Line(
                beat=beat,
                say=" ".join(filter(None, (render(beat.say, brief.traits, where=f"{where}.say", source=source), keys))),
                repeat_say=f"{repeat} {keys}".strip() if repeat else "",
                when=_condition(beat.when, f"{where}.when", source),
            )
        )
    bans = tuple(
        Ban(_compile(n.pattern, f"never.{i}.pattern", source), n.until, n.reason) for i, n in enumerate(brief.never)
    )
    return Script(
        opening=render(brief.opening, brief.traits, where="opening", source=source),
        lines=tuple(lines),
        bans=bans,
        hold=tuple(_compile(p, "hold", source) for p in brief.hold),
    )


def _keys(pressed: str, where: str, source: str) -> str:
    """What is pressed, as it stands in the line; empty for nothing."""
    if not pressed:
        return ""
    keys = keys_from(pressed)
    if keys is None:
        raise ConfigError(source, where, f"expected 1 to {MAX_KEYS} keys of 0-9, *, # and A-D, found {pressed!r}")
    return marker(keys)


def _condition(when: Expect, where: str, source: str) -> Condition:
    return Condition(
        any_of=tuple(_compile(p, f"{where}.any_of", source) for p in when.any_of),
        all_of=tuple(_compile(p, f"{where}.all_of", source) for p in when.all_of),
        none_of=tuple(_compile(p, f"{where}.none_of", source) for p in when.none_of),
    )


def _compile(pattern: str, where: str, source: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ConfigError(source, where, f"not a regular expression: {pattern!r}: {error}") from error
