"""What is wrong with a brief, found before a call is made: one sentence a problem, each naming the beat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from callm_voice.caller.script import OPENING, load_script
from callm_voice.core.brief import Beat, Brief
from callm_voice.core.errors import ConfigError


def check_brief(brief: Brief) -> list[str]:
    """All problems of a brief; empty if there are none.

    Checked: beat ids that are not known or stand twice, patterns that are no regular expressions, unknown traits and
    forms, no `ask` beat, no `hang_up` beat, beats that can never be reached, lines that `never` forbids when they would
    be said.
    """
    problems = [*_patterns_and_traits(brief), *_ids(brief), *_kinds(brief)]
    by_id = {beat.id: beat for beat in brief.beats}
    problems += _unreachable(brief, by_id)
    problems += _forbidden(brief, by_id)
    return problems


def before_all(beat: Beat, by_id: Mapping[str, Beat]) -> set[str]:
    """Every beat that must have been played before `beat` can be: its `after`, and theirs in turn."""
    found: set[str] = set()
    todo = list(beat.after)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += by_id[name].after if name in by_id else ()
    return found


def _patterns_and_traits(brief: Brief) -> Iterator[str]:
    """Load each part by itself, so that every bad one is named and not only the first."""
    empty = brief.model_copy(update={"beats": (), "never": (), "hold": ()})
    parts = [
        empty,
        *(empty.model_copy(update={"opening": "", "beats": (beat,)}) for beat in brief.beats),
        *(empty.model_copy(update={"opening": "", "never": (rule,)}) for rule in brief.never),
        *(empty.model_copy(update={"opening": "", "hold": (pattern,)}) for pattern in brief.hold),
    ]
    for part in parts:
        try:
            load_script(part)
        except ConfigError as error:
            yield f"{error.key}: {error.expected}"


def _ids(brief: Brief) -> Iterator[str]:
    known = {beat.id for beat in brief.beats} | {OPENING}
    seen: set[str] = set()
    for beat in brief.beats:
        if beat.id == OPENING:
            yield f"beat {OPENING}: this id is taken by the brief's opening"
        if beat.id in seen:
            yield f"beat {beat.id}: the id stands twice"
        seen.add(beat.id)
        for key, names in (("after", beat.after), ("before", beat.before)):
            for name in names:
                if name not in known:
                    yield f"beat {beat.id}: {key} names an unknown beat {name!r}"
    for rule in brief.never:
        if rule.until is not None and rule.until not in known:
            yield f"never {rule.pattern!r}: until names an unknown beat {rule.until!r}"


def _kinds(brief: Brief) -> Iterator[str]:
    if not any(beat.ask for beat in brief.beats):
        yield "no beat is marked `ask`: there is nothing to repeat when nothing else matches"
    if not any(beat.hang_up for beat in brief.beats):
        yield "no beat is marked `hang_up`: the caller could only give up"
    if not brief.opening.strip():
        yield "the opening is empty"
    for beat in brief.beats:
        if not (beat.say.strip() or beat.press) and (beat.ask or beat.barge_in_ms is not None):
            yield f"beat {beat.id}: `ask` and `barge_in_ms` need something to say or to press"
        if beat.barge_in_ms is not None and beat.barge_in_ms < 0:
            yield f"beat {beat.id}: barge_in_ms is negative"


def _unreachable(brief: Brief, by_id: Mapping[str, Beat]) -> Iterator[str]:
    reasons: dict[str, str] = {}
    for position, beat in enumerate(brief.beats):
        reason = _never_reached(beat, by_id) or _shadowed(beat, brief.beats[:position])
        if reason:
            reasons[beat.id] = reason
    for beat in brief.beats:
        lost = sorted(before_all(beat, by_id) & reasons.keys())
        if beat.id not in reasons and lost:
            reasons[beat.id] = f"it comes after {', '.join(lost)}"
    for name, reason in reasons.items():
        yield f"beat {name}: can never be reached: {reason}"


def _never_reached(beat: Beat, by_id: Mapping[str, Beat]) -> str:
    """Why the beat's own conditions can never hold together, or an empty text."""
    needed = before_all(beat, by_id)
    enders = sorted(name for name in needed if name in by_id and by_id[name].hang_up)
    clash = sorted(set(beat.before) & needed)
    must_match = set(beat.when.all_of) | (set(beat.when.any_of) if len(beat.when.any_of) == 1 else set())
    if beat.repeat < 1:
        return "repeat is less than 1"
    if beat.id in needed:
        return "it comes after itself"
    if clash:
        return f"it must come before and after {', '.join(clash)}"
    if OPENING in beat.before:
        return "nothing is said before the opening"
    if enders:
        return f"it comes after {', '.join(enders)}, which hangs up"
    if must_match & set(beat.when.none_of):
        return "the same pattern is wanted and excluded"
    return ""


def _shadowed(beat: Beat, earlier: Sequence[Beat]) -> str:
    """Whether a beat before it in the file hangs up wherever this one could be played, or an empty text."""
    for other in earlier:
        covers = (
            other.when == beat.when
            and set(other.after) <= set(beat.after)
            and set(other.before) <= set(beat.before)
            and other.barge_in_ms == beat.barge_in_ms
        )
        if covers and other.hang_up:
            return f"{other.id} stands before it, matches whenever it does, and hangs up"
    return ""


def _forbidden(brief: Brief, by_id: Mapping[str, Beat]) -> Iterator[str]:
    """Lines that a rule forbids although nothing makes sure that the rule was lifted before."""
    try:
        script = load_script(brief)
    except ConfigError:
        return  # reported by `_patterns_and_traits`
    first = script.banned(script.opening, OPENING, ())
    if first is not None:
        yield f"opening: says what it must not: {first}"
    for line in script.lines:
        played = before_all(line.beat, by_id) | {OPENING}
        for key, text in (("say", line.say), ("repeat_say", line.repeat_say)):
            lifted = played | {line.id} if key == "repeat_say" else played
            ban = script.banned(text, line.id, lifted)
            if ban is not None:
                yield f"beat {line.id}: {key} says what it must not at that time: {ban}"
