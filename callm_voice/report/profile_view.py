"""A latency profile on the terminal: in or out of the category, then what it depends on."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from callm_voice.core.latency import Percentiles
from callm_voice.core.latency_profile import Figures, Kind, LatencyProfile, LevelFigures, LineFit, ProfileSummary
from callm_voice.report.text import styled

KIND_LABELS: dict[Kind, str] = {
    "warm": "caller's next turn, warm",
    "cold": "cold prompt",
    "tool_result": "after a tool result",
    "handoff_warm": "after a handoff, warm",
    "handoff_cold": "after a handoff, cold",
    "concurrent": "callers at once, all levels",
}
SCRIPTED = "These figures come from the oracle, whose times are set: they show the instrument, not a model's speed."


def profile_view(profile: LatencyProfile) -> Group:
    """The whole profile."""
    summary = profile.summary
    parts: list[RenderableType] = [category_line(summary)]
    if summary.scripted:
        parts.append(Text(SCRIPTED, style="yellow"))
    parts += [styled(f"note: {note}", "yellow") for note in profile.notes]
    for table in (_causes(summary), _sizes(summary), _levels(summary)):
        parts += [Text(), table]
    parts += [Text(), *_sentences(summary)]
    return Group(*parts)


def category_line(summary: ProfileSummary) -> Text:
    """`IN THE CATEGORY: median TTFT 412 ms (95 % interval 390 to 440 ms) <= 1,000 ms; P95 ...`."""
    head, bar = summary.headline, summary.bar_ms
    if summary.in_category is None or head.ttft.p50 is None:
        return Text("NO LATENCY VERDICT: no caller turn has a time to first token", style="bold yellow")
    word, style, sign = ("IN", "bold green", "<=") if summary.in_category else ("OUT OF", "bold red", ">")
    interval = head.median_interval
    between = (
        f"{interval.level:.0%} interval {interval.low_ms:,.0f} to {interval.high_ms:,.0f} ms, {interval.method}"
        if interval
        else f"{head.ttft.n} values are too few for an interval"
    )
    line = Text.assemble(
        (f"{word} THE CATEGORY: median TTFT {_exact(head.ttft.p50, bar)} ms {sign} {bar:,.0f} ms", style),
        f" ({between}); P95 {_ms(head.ttft.p95)} ms; {summary.over_bar_share or 0.0:.1%} over the bar; "
        f"{head.ttft.n} caller turns with a prompt of about {summary.desk_tokens:,} tokens",
    )
    if summary.settled is False:
        line.append("\nNot settled: the interval holds the bar; more --repeats would tell.", "yellow")
    return line


def _table(first: str, *headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _causes(summary: ProfileSummary) -> Table:
    table = _table("TTFT in ms", "n", "P50", "P95", "max", "tokens", "failed")
    for kind, label in KIND_LABELS.items():
        figures = summary.kinds.get(kind)
        if figures is not None:
            table.add_row(label, *_cells(figures.ttft), _count(figures.prompt_tokens), _failed(figures))
    return table


def _sizes(summary: ProfileSummary) -> Table:
    table = _table("prompt tokens", "as read", "cold P50", "cold P95", "n", "warm P50", "warm P95", "n")
    for size in summary.sizes:
        table.add_row(
            f"{size.target_tokens:,}",
            _count(size.cold.prompt_tokens),
            *(_ms(size.cold.ttft.p50), _ms(size.cold.ttft.p95), str(size.cold.ttft.n)),
            *(_ms(size.warm.ttft.p50), _ms(size.warm.ttft.p95), str(size.warm.ttft.n)),
        )
    return table


def _levels(summary: ProfileSummary) -> Table:
    table = _table("callers at once", "n", "P50", "P95", "max", "tokens/s each", "failed")
    for level in summary.levels:
        table.add_row(*_level_cells(level))
    return table


def _level_cells(level: LevelFigures) -> list[str]:
    pace = level.tokens_per_s.p50
    return [
        str(level.concurrency), *_cells(level.figures.ttft), "-" if pace is None else f"{pace:,.1f}",
        _failed(level.figures),
    ]  # fmt: skip


def _sentences(summary: ProfileSummary) -> list[Text]:
    """What is no table."""
    pace, delay, drift = summary.tokens_per_s, summary.speakable_delay, summary.drift
    lines = [Text(fit_line(summary.fit, summary))]
    lines.append(
        Text("Decoding: no answer was long enough to tell.")
        if pace.p50 is None
        else Text(f"Decoding: {pace.p50:,.1f} tokens/s (median of {pace.n} answers).")
    )
    if delay.p50 is not None:
        lines.append(
            Text(f"First speakable text after the first token: P50 {_ms(delay.p50)} ms, P95 {_ms(delay.p95)} ms.")
        )
    lines.append(
        Text("Stability: fewer than three rounds, so no drift is stated.")
        if drift.ratio is None
        else Text(
            f"Stability: the last third of the rounds took {drift.ratio:.2f} times the first third "
            f"({_ms(drift.first_third_ms)} to {_ms(drift.last_third_ms)} ms)."
        )
    )
    if summary.errors:
        failed = sum(summary.errors.values())
        lines.append(Text(f"{failed} of {summary.requests} requests failed:", style="yellow"))
        lines += [styled(f"  {count} x {message}", "yellow") for message, count in summary.errors.items()]
    return lines


def fit_line(fit: LineFit | None, summary: ProfileSummary) -> str:
    """The fitted line in words."""
    if fit is None:
        return "Cold prompts: too few sizes for a line."
    quality = "TTFT does not vary" if fit.r2 is None else f"R2 {fit.r2:.3f}"
    text = (
        f"Cold prompts: {fit.intercept_ms:,.0f} ms {fit.ms_per_1k_tokens:+,.1f} ms for each 1,000 tokens "
        f"({quality}, {fit.n} requests)"
    )
    longest = max(size.target_tokens for size in summary.sizes)
    if fit.tokens_at_bar is None:
        return text + "."
    if fit.tokens_at_bar > longest:
        return text + f"; under the bar up to {longest:,} tokens, the longest that was measured."
    return text + f"; the line crosses the bar at {fit.tokens_at_bar:,} tokens."


def _exact(figure_ms: float, bar_ms: float) -> str:
    """Whole milliseconds, finer only where rounding would hide on which side of the bar it is."""
    return f"{figure_ms:,.3f}" if 0 < abs(figure_ms - bar_ms) < 1 else f"{figure_ms:,.0f}"


def _ms(figure_ms: float | None) -> str:
    return "-" if figure_ms is None else f"{figure_ms:,.0f}"


def _count(tokens: float | None) -> str:
    return "-" if tokens is None else f"{tokens:,.0f}"


def _cells(figures: Percentiles) -> list[str]:
    return [str(figures.n), *(_ms(q) for q in (figures.p50, figures.p95, figures.max))]


def _failed(figures: Figures) -> str:
    silent = f" + {figures.no_token} silent" if figures.no_token else ""
    return f"{figures.errors}{silent}"
