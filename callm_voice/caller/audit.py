"""Was the caller at fault? A pure check of a finished call from its transcript and the brief.

A call whose caller did not keep to its brief says nothing about the desk: it counts as invalid, not as failed. So the
check tells only what no reading of the brief allows:

    forbidden   it said what `never` forbids, ever or before the time
    left_early  it hung up while its goal was open, and the desk had not used up its patience
    invented    it gave a date, number or name of its own that is not in the brief
    never_asked it did not make its request although the desk gave it the floor
    repeated    it said the same words again and again while the desk went on
    silent      it neither spoke nor left, and the call ended because nobody did
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from callm_voice.caller.hearing import asks_to_repeat, asks_to_spell
from callm_voice.caller.invented import invented
from callm_voice.caller.script import OPENING, Line, Script, load_script
from callm_voice.core.brief import Brief
from callm_voice.core.events import EndReason
from callm_voice.core.record import TranscriptTurn

SAME_LINES = 4
"""The same words so often in a row are too often."""
OPEN_FLOORS = 3
"""So many floors after the desk had said what a request waits for, the request is overdue."""
ASK_SHARE = 1 / 3
"""Of a request's telling words, the share that a caller in its own words must have used."""
_PATIENCE = re.compile(
    r"gives up: (?:the line stayed silent|had to ask \d+ times|\d+ lines said|nothing in the script matches)"
)
"""Reasons to leave that lie with the desk."""
_LEAVE = re.compile(
    r"\b(?:good ?bye|bye|(?:any|some)thing else|have a \w+ (?:day|one|evening|weekend))\b", re.IGNORECASE
)
"""The desk takes its leave, whatever is still open."""
_SILENT_BEAT = re.compile(r"beat (\w+)")
"""The reason of a hang-up by a beat without words."""
_TELLING = re.compile(r"[a-z]{4,}|\d+")
_COMMON = frozenset(
    {"also", "could", "have", "just", "like", "need", "please", "that", "this", "want", "what", "would"}
)

FaultKind = Literal["forbidden", "left_early", "invented", "never_asked", "repeated", "silent"]


@dataclass(frozen=True)
class CallerFault:
    """One thing that the caller should not have done."""

    kind: FaultKind
    reason: str
    """One line, with the caller's words."""
    at_ms: float | None = None
    """On the line's clock; None: of the call as a whole."""


@dataclass(frozen=True)
class _Turn:
    """One line of the caller's, and the floor of the desk's before it; the last one of a call may have no line."""

    said: str
    floors: tuple[str, ...]
    """What the desk said since the caller's line before: as it grew, and piece by piece."""
    start_ms: float

    @property
    def floor(self) -> str:
        """All of it."""
        return self.floors[0] if self.floors else ""


def audit_caller(
    brief: Brief, transcript: Sequence[TranscriptTurn], *, caller: str, end_reason: EndReason, detail: str = ""
) -> tuple[CallerFault, ...]:
    """All faults of the caller, by kind; empty: it kept to its brief.

    Args:
        caller: `scripted` or `llm:SPEC`, as in the record. A scripted caller moves on by its own lines, one that a
            model plays by what the desk said.
        end_reason, detail: of the outcome.

    Raises:
        ConfigError: the brief itself is wrong.
    """
    script = load_script(brief)
    *turns, last = _turns(transcript)
    call = _Call(script, turns, last, caller == "scripted")
    left = end_reason == "caller_hangup"
    found = [
        *call.forbidden(),
        *(call.left_early(detail) if left else ()),
        *(CallerFault("invented", reason, at_ms) for reason, at_ms in _invented(brief, script, turns)),
        *call.never_asked(left=left),
        *call.repeated(),
        *([CallerFault("silent", f"neither spoke nor left ({detail})")] if end_reason == "silence" else []),
    ]
    return tuple(found)


class _Call:
    """A finished call against its script.

    Args:
        last: what the desk said after the caller's last line.
        scripted: its lines are the script's, word for word.
    """

    def __init__(self, script: Script, turns: Sequence[_Turn], last: _Turn, scripted: bool) -> None:
        self._script, self._turns, self._last, self._scripted = script, turns, last, scripted
        self._reached_at: dict[str, int] = {}
        """Beat → the turn with which it was reached."""
        self._walk()

    def forbidden(self) -> Iterator[CallerFault]:
        """Lines that a rule forbade when they were said."""
        for n, turn in enumerate(self._turns):
            own = self._beats_of(turn.said) if self._scripted else []
            before = {name for name, at in self._reached_at.items() if at < n or (at == n and not self._scripted)}
            before |= {line.id for line in self._script.lines if self._scripted and not line.say}  # leave no trace
            for ban in self._script.bans:
                if all(ban.forbids(turn.said, beat, before) for beat in own or [""]):
                    yield CallerFault("forbidden", f"said {turn.said!r}: {ban}", turn.start_ms)

    def left_early(self, detail: str) -> Iterator[CallerFault]:
        """It hung up, though nothing that a `hang_up` beat waits for was said, and not for want of patience."""
        enders = {line.id for line in self._script.lines if line.beat.hang_up}
        by_beat = _SILENT_BEAT.match(detail)
        done = enders & self._reached_at.keys() or (by_beat and by_beat[1] in enders)
        if not done and not _PATIENCE.search(detail) and not self._desk_is_through():
            yield CallerFault("left_early", f"hung up while its goal was open ({detail or 'no reason given'})")

    def never_asked(self, *, left: bool) -> Iterator[CallerFault]:
        """It left without a word, or a model that plays it let the time of a request go by.

        A scripted caller asks whenever its beat can be played, so more is not asked of it.
        """
        if not any(turn.said.strip() for turn in self._turns):
            if self._last.floor and left:
                yield CallerFault("never_asked", "left without having said a word")
        elif not self._scripted:
            for line in self._script.lines:
                came = self._time_came(line) if line.beat.ask else None
                if came is not None and len(self._turns) - came >= OPEN_FLOORS and not self._made(line):
                    yield CallerFault("never_asked", f"never said {line.say!r} although its time had come")

    def repeated(self) -> Iterator[CallerFault]:
        """The same words in a row while the desk said something new each time and did not ask for them again."""
        if self._scripted:
            return
        for n in range(len(self._turns) - SAME_LINES + 1):
            row = self._turns[n : n + SAME_LINES]
            floors = [_plain(turn.floor) for turn in row[1:]]
            asked = any(asks_to_repeat(turn.floor) or asks_to_spell(turn.floor) for turn in row[1:])
            if len({_plain(turn.said) for turn in row}) == 1 and len(set(floors)) == len(floors) and not asked:
                yield CallerFault("repeated", f"said {row[0].said!r} {SAME_LINES} times in a row", row[-1].start_ms)
                return

    # -- how far the script came -------------------------------------------------------------------------------------

    def _walk(self) -> None:
        for n, turn in enumerate(self._turns):
            if self._scripted:
                for name in self._beats_of(turn.said):
                    self._reached_at.setdefault(name, n)
            else:
                if n:
                    self._reached_at.setdefault(OPENING, 0)
                self._hear(turn, n)
        if not self._scripted:
            self._hear(self._last, len(self._turns))

    def _hear(self, turn: _Turn, n: int) -> None:
        """The beats whose words the desk has now said; one that wants none comes with those it comes after."""
        for line in self._script.lines:
            follows = all(name in self._reached_at for name in line.beat.after)
            said = any(line.when.holds(floor) for floor in turn.floors)
            if said and (line.when.specific or (line.beat.after and follows)):
                self._reached_at.setdefault(line.id, n)

    def _desk_is_through(self) -> bool:
        """The desk took its leave or went round in circles: nobody would stay."""
        floors = [turn.floor for turn in [*self._turns[-2:], self._last] if turn.floor]
        plain = [_plain(floor) for floor in floors]
        return bool(floors) and (_LEAVE.search(floors[-1]) is not None or len(set(plain)) < len(plain))

    def _beats_of(self, said: str) -> list[str]:
        """The beats that have these words."""
        words = _plain(said)
        found = [line.id for line in self._script.lines if words in (_plain(line.say), _plain(line.repeat_say))]
        return [*([OPENING] if words == _plain(self._script.opening) else []), *found] if words else []

    def _time_came(self, line: Line) -> int | None:
        """The turn with which a request's time came: its `after` were reached and the desk said what it waits for."""
        if not line.when.specific or any(name in self._reached_at for name in line.beat.before):
            return None
        for n, turn in enumerate(self._turns):
            ready = all(self._reached_at.get(name, len(self._turns) + 1) < n for name in line.beat.after)
            if n and ready and line.when.holds(turn.floor):
                return n
        return None

    def _made(self, line: Line) -> bool:
        """Whether a request was made: its telling words were used, or the desk went on to what comes after it."""
        if any(line.id in later.beat.after and later.id in self._reached_at for later in self._script.lines):
            return True
        wanted = _telling(line.say)
        used = {word for turn in self._turns for word in _telling(turn.said)}
        return not wanted or len(wanted & used) / len(wanted) >= ASK_SHARE


def _turns(transcript: Sequence[TranscriptTurn]) -> list[_Turn]:
    """The caller's lines with the floors before them, and last the desk's last floor, which no line follows."""
    turns: list[_Turn] = []
    parts: list[str] = []
    for turn in transcript:
        if turn.party == "agent":
            words = turn.heard if turn.heard is not None else turn.played if turn.played is not None else turn.said
            parts += [words.strip()] if words.strip() else []
        else:
            turns.append(_Turn(turn.said, _floors(parts), turn.start_ms))
            parts = []
    return [*turns, _Turn("", _floors(parts), 0.0)]


def _floors(parts: Sequence[str]) -> tuple[str, ...]:
    """The whole first, then as it grew, then each piece: a caller may have been asked after any of them."""
    grown = [" ".join(parts[: n + 1]) for n in range(len(parts))]
    return tuple(dict.fromkeys([*grown[::-1], *parts]))


def _invented(brief: Brief, script: Script, turns: Sequence[_Turn]) -> Iterator[tuple[str, float]]:
    """Values of the caller's own that neither the brief nor the desk had."""
    lines = [text for line in script.lines for text in (line.say, line.repeat_say)]
    known = [*brief.traits.values(), brief.script, script.opening, *lines]
    for turn in turns:
        known.append(turn.floor)
        for what in invented(turn.said, turn.floor, known, brief.traits):
            yield f"invented {what}, in {turn.said!r}", turn.start_ms


def _telling(text: str) -> set[str]:
    return set(_TELLING.findall(text.lower())) - _COMMON


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
