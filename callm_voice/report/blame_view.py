"""Why a call did not pass: the moment it went wrong, and who lost each expected tool call."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from callm_voice.report.blame import ArgBlame, CallBlame
from callm_voice.report.site.moments import KINDS, Moment
from callm_voice.report.text import mm_ss, plain, styled, value


def moment_line(moment: Moment) -> Text:
    """`WENT WRONG at 00:12.0, ...`: what the failures page says of the call, and where to listen."""
    kind = KINDS.get(moment.kind, moment.kind).lower()
    return Text.assemble((f"WENT WRONG at {mm_ss(moment.t_ms)}", "bold red"), f", {plain(kind)}: ", styled(moment.what))


def blame_view(blame: CallBlame) -> Group:
    """The blame for the call, then for each expected tool call that nothing matched, and for each of its values."""
    parts: list[RenderableType] = [Text.assemble((blame.blame.upper(), "bold"), f": {plain(blame.because)}")]
    names = {missed.expected_index: missed.tool for missed in blame.missed}
    for missed in blame.missed:
        because = plain(missed.because)
        if missed.follows is not None:
            because = f"lost with {missed.follows + 1} {plain(names.get(missed.follows, ''))}"
        head = f"{missed.expected_index + 1} {plain(missed.tool)}: {missed.blame}, {because}"
        parts.append(Padding(Text(head), (0, 0, 0, 1)))
        parts += [Padding(Text(_argument(argument)), (0, 0, 0, 5)) for argument in missed.args]
    return Group(*parts)


def _argument(argument: ArgBlame) -> str:
    facts = [
        "said" if argument.said else "never said",
        "heard" if argument.heard else "not heard",
        *(["told by a tool"] if argument.told else []),
    ]
    used = "left out" if argument.actual is None else f"used {value(argument.actual)}"
    if argument.actual is not None and argument.actual_heard:
        used += " (which was heard)"
    text = f"{plain(argument.name)}={value(argument.expected)}: {', '.join(facts)}, {used}"
    words = "; ".join(f'"{plain(said)}" was heard as "{plain(heard)}"' for said, heard in argument.words)
    return f"{text}; in turn {argument.turn_id}: {words}" if words else text
