"""The latency table with the verdict on the bar."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from callm_voice.core.latency import LatencySummary, Percentiles
from callm_voice.report.text import plain, styled

CAUSES = {
    "caller_turn": "after a caller turn",
    "tool_result": "after a tool result",
    "handoff": "after a handoff",
    "greeting": "greeting",
    "all": "all",
}
SPANS = {
    "vad": "VAD, hangover included",
    "endpointing": "endpointing",
    "transcription": "transcription",
    "request": "request",
    "ttft": "TTFT of the first inference",
    "tools_and_handoffs": "tools and handoffs",
    "first_sentence": "first sentence",
    "tts": "speech synthesis",
    "playout": "playout",
    "audible": "first audible sample",
    "agent": "the agent, seen from outside",
}
BARGE_IN = {
    "reaction": "caller's onset to silence, on the wire",
    "detection": "caller's onset to the VAD's decision",
    "stop": "decision to playout cut",
}


def latency_table(summary: LatencySummary) -> Group:
    """TTFT by cause, voice to voice and its spans, under the line that says whether the model is in the category."""
    parts: list[RenderableType] = [bar_line(summary)]
    if summary.scripted:
        parts.append(Text("Figures from scripted engines: they show the harness, not a model's speed.", style="yellow"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("milliseconds", no_wrap=True)
    for heading in ("n", "P50", "P95", "P99", "max"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_row(Text("Time to first token", style="bold"))
    for cause, label in CAUSES.items():
        figures = summary.ttft.get(cause)
        if figures is not None and (figures.n or cause in ("caller_turn", "all")):
            table.add_row(f"  {label}", *_cells(figures))
    table.add_row(Text("Voice to voice, on the wire", style="bold"), *_cells(summary.v2v))
    for name, figures in summary.spans.items():
        if figures.n:
            table.add_row(Text(f"  {SPANS.get(name) or plain(name)}"), *_cells(figures))
    if summary.barge_ins:
        table.add_row(Text("Barge-in", style="bold"), str(len(summary.barge_ins)))
        for name, label in BARGE_IN.items():
            table.add_row(f"  {label}", *_cells(summary.barge_in.get(name, Percentiles(n=0))))
    parts.append(table)
    if summary.line is not None:
        parts.append(_line_delay(summary))
    parts.append(_left_out(summary))
    return Group(*parts)


def bar_line(summary: LatencySummary) -> Text:
    """`IN the category: median TTFT 412 ms ...`, or why there is no such verdict."""
    of_caller = summary.ttft.get("caller_turn", Percentiles(n=0))
    if summary.in_category is None or of_caller.p50 is None or of_caller.p95 is None:
        line = Text("NO LATENCY VERDICT: no caller turn has a time to first token", style="bold yellow")
    else:
        word, style, sign = ("IN", "bold green", "<=") if summary.in_category else ("OUT OF", "bold red", ">")
        turns = f"{of_caller.n} caller turn{'s' if of_caller.n != 1 else ''}"
        share = summary.over_bar_share or 0.0
        median = f"median TTFT {_ms(of_caller.p50, summary.bar_ms)} ms {sign} {summary.bar_ms:,.0f} ms"
        line = Text.assemble(
            (f"{word} THE CATEGORY: {median}", style),
            f" over {turns}; P95 {of_caller.p95:,.0f} ms; {share:.1%} over the bar",
        )
    if summary.valid:
        return line
    reason = styled(summary.invalid_reason or "no reason given")
    return Text.assemble(("INVALID, not the model's figures: ", "bold red"), reason, "\n", line)


def _ms(figure_ms: float, bar_ms: float) -> str:
    """Whole milliseconds, finer only where rounding would hide on which side of the bar it is."""
    return f"{figure_ms:,.3f}" if 0 < abs(figure_ms - bar_ms) < 1 else f"{figure_ms:,.0f}"


def _cells(figures: Percentiles) -> list[str]:
    """n and the percentiles; a dash where there is none: missing is not zero."""
    quantiles = (figures.p50, figures.p95, figures.p99, figures.max)
    return [str(figures.n), *("-" if q is None else f"{q:,.0f}" for q in quantiles)]


def _line_delay(summary: LatencySummary) -> Text:
    """The delays that the line and the VAD bring, which are in the table's figures or come on top of them."""
    assert summary.line is not None
    line, hangover = summary.line, summary.vad_hangover.p50
    vad = "" if hangover is None else f"the VAD's hangover ({hangover:,.0f} ms, in its span) and "
    return Text(
        f"Voice to voice holds {vad}the codec once ({line.inside_v2v_ms:.1f} ms). "
        f"The caller waits {line.outside_v2v_ms:.1f} ms more: the codec's way there, and one packet.",
        style="dim",
    )


def _left_out(summary: LatencySummary) -> Text:
    """What is not in the table, in words."""
    lag = "not reported" if summary.late_p99_ms is None else f"P99 {summary.late_p99_ms:.1f} ms"
    harness = summary.harness
    loop = "" if harness.loop_p99_ms is None else f" Event loop: P99 {harness.loop_p99_ms:.1f} ms late."
    counts = (("caller", harness.caller_underruns), ("agent", harness.agent_underruns))
    holes = [f"{n} in the {party}'s" for party, n in counts if n]
    heard = f" Holes in the sound: {', '.join(holes)}." if holes else ""
    return Text(
        f"Left out: {summary.interrupted_inferences} interrupted and {summary.failed_inferences} failed inferences, "
        f"{summary.unanswered_turns} unanswered turns. Line ticks: {lag}, {summary.late_ticks} late.{loop}{heard}",
        style="dim",
    )
