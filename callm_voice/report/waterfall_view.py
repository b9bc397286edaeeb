"""Where the time of each turn went, and every request to the model: the latency of one call in full."""

from __future__ import annotations

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from callm_voice.core.latency import LatencySummary, TurnLatency
from callm_voice.report.site.collect import Json
from callm_voice.report.site.waterfall import InferenceRow, inference_rows, span_names
from callm_voice.report.text import mm_ss, styled

BAR_COLUMNS, MIN_BAR_COLUMNS = 48, 10
"""Of the longest turn, where there is room; at least."""
HEAD_COLUMNS = len("00:00.0  turn 100  10,000 ms  ")
_SIGNS = "123456789abcdefghijklmnopqrstuvwxyz"
"""What a piece is drawn with, in the order of a turn."""
_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


def waterfall_view(summary: LatencySummary) -> RenderableType:
    """One bar a turn, all on the scale of the longest; a piece is drawn with its number, so colour is not needed."""
    return _Waterfall(summary) if summary.turns else Text("no turn was answered", style="yellow")


class _Waterfall:
    """Knows its width only when it is drawn: a bar that is cut off would be read as a shorter time."""

    def __init__(self, summary: LatencySummary) -> None:
        self._summary = summary

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = span_names(self._summary)
        signs = {name: _SIGNS[n % len(_SIGNS)] for n, (name, _) in enumerate(names)}
        longest_ms = max(turn.v2v_ms for turn in self._summary.turns) or 1.0
        columns = max(MIN_BAR_COLUMNS, min(BAR_COLUMNS, options.max_width - HEAD_COLUMNS))
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, justify="right")
        table.add_column(no_wrap=True)
        for turn in self._summary.turns:
            times = mm_ss(turn.speech_end_ms), f"turn {turn.turn_id}", f"{turn.v2v_ms:,.0f} ms"
            table.add_row(*times, _bar(turn, signs, columns / longest_ms))
        yield table
        yield Text("  ").join(Text(f"{signs[name]} {label}", style=_colour(signs[name])) for name, label in names)


def _bar(turn: TurnLatency, signs: dict[str, str], columns_per_ms: float) -> Text:
    bar, drawn, until_ms = Text(), 0, 0.0
    for span in turn.spans:
        until_ms += span.duration_ms
        end = round(columns_per_ms * until_ms)
        sign = signs[span.name]
        bar.append(sign * max(0, end - drawn), style=_colour(sign))
        drawn = max(drawn, end)
    return bar


def _colour(sign: str) -> str:
    return _COLOURS[_SIGNS.index(sign) % len(_COLOURS)]


def inferences_view(summary: LatencySummary, events: tuple[Json, ...] = ()) -> RenderableType:
    """Every request to the model. `!` marks a time to first token over the bar; a dash is what nobody said."""
    rows = inference_rows(summary, events)
    if not rows:
        return Text("the model was never asked", style="yellow")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for heading in ("no.", "turn", "sent"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("cause, role", overflow="fold")
    for heading in ("TTFT", "last", "prompt", "cached", "answer"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: InferenceRow) -> list[Text]:
    ttft = Text(_figure(row.ttft_ms) + ("!" if row.over_bar else ""), style="bold red" if row.over_bar else "")
    sent = "-" if row.start_ms is None else mm_ss(row.start_ms)
    words = [styled(row.cause.removeprefix("after a ")), styled(row.role)]
    if row.note:
        words.append(Text(row.note, style="yellow"))
    what = Text(", ").join(words)
    return [
        Text(str(row.inference_id)), Text(str(row.turn_id)), Text(sent), what, ttft, Text(_figure(row.last_token_ms)),
        Text(_figure(row.prompt_tokens)), Text(_figure(row.cached_tokens)), Text(_figure(row.completion_tokens)),
    ]  # fmt: skip


def _figure(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:,.0f}"
