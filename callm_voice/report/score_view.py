"""A scoreboard on the terminal: models, where they pass and fail, comparisons, what voice costs, who lost the calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from rich import box
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from callm_voice.core.score_format import Figures, Group, ModelScore, RunScore
from callm_voice.report.latency_view import CAUSES
from callm_voice.report.text import clip, styled
from verifier.scores import Interval

LONGEST_NAME = 34
MOST_TOOLS = 5
MOST_WORDS = 8
NAMES = ("", "second", "line", "better")
"""Headings of columns that may be folded; figures never are."""
GATES = {"tools": "tool calls", "path": "handoff path", "state": "final state"}

GROUPS: dict[str, Callable[[ModelScore], Sequence[Group]]] = {
    "By pack": lambda m: m.by_pack,
    "By category": lambda m: m.by_category,
    "By difficulty": lambda m: m.by_difficulty,
    "By line": lambda m: m.by_line,
}


def score_view(score: RunScore) -> Lines:
    """The whole scoreboard, readable at 80 columns."""
    parts: list[RenderableType] = [_counts(score), Text(), _models(score)]
    parts += [Text(), Text("Speed (ms, over the calls that count) and cost", style="bold"), _speed_and_cost(score)]
    parts += [_latency_line(model) for model in score.models]
    parts += [_invalid_line(model) for model in score.models if model.invalid]
    if any(model.scripted for model in score.models):
        parts.append(Text("Scripted engines: their figures show the harness, not a model's speed.", style="yellow"))
    for title, table in _sections(score):
        parts += [Text(), Text(title, style="bold"), table]
    if score.notes:
        parts += [Text(), Text("Read with care", style="bold yellow")]
        parts += [styled(f"! {note}") for note in score.notes]
    return Lines(*parts)


def _counts(score: RunScore) -> Text:
    counts = score.calls
    kinds: Counter[str] = Counter()
    for m in score.models:
        kinds.update(m.invalid_by_kind)
    invalid = f"{counts.invalid} invalid" + (f" ({_kinds(kinds)})" if counts.invalid else "")
    aside = f", {counts.superseded} superseded" if counts.superseded else ""
    people = f", {counts.by_person} by a person (never scored)" if counts.by_person else ""
    return Text(f"{counts.found} calls: {counts.scored} scored, {invalid}{aside}{people}")


def _invalid_line(m: ModelScore) -> Text:
    """`alpha: 2 invalid attempts, never scored: 1 harness, 1 infrastructure`."""
    attempts = "attempt" if m.invalid == 1 else "attempts"
    return Text.assemble(
        _name(m.model), (f": {m.invalid} invalid {attempts}", "yellow"), f", never scored: {_kinds(m.invalid_by_kind)}"
    )


def _kinds(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in kinds.items() if n)


def _models(score: RunScore) -> Table:
    table = _table("model", "pass@1", "95 %", "pass5", "tasks", "trials", "passed", "invalid")
    for m in score.models:
        table.add_row(
            _name(m.model), _share(m.pass_at_1, m.pass_at_1_low, m.pass_at_1_high), _interval(m.pass_at_1_interval),
            _share(m.pass5, m.pass5_low, m.pass5_high), str(m.tasks), str(m.trials), str(m.passed), str(m.invalid),
        )  # fmt: skip
    return table


def _speed_and_cost(score: RunScore) -> Table:
    table = _table("model", "TTFT P50", "P95", "P99", "V2V P50", "P95", "P99", "$/call")
    for m in score.models:
        ttft, v2v = m.ttft_ms, m.v2v_ms
        times = [_ms(value) for value in (ttft.p50, ttft.p95, ttft.p99, v2v.p50, v2v.p95, v2v.p99)]
        table.add_row(_name(m.model), *times, "-" if m.cost_usd is None else f"{m.cost_usd:.4f}")
    return table


def _latency_line(m: ModelScore) -> Text:
    """`alpha: IN THE CATEGORY: median TTFT 580 ms (95 % 570 to 600) <= 1,000 ms ...`."""
    ttft = m.ttft_ms
    if m.in_category is None or ttft.p50 is None:
        why = "called by text" if m.basis == "text" else "no caller turn has a time to first token"
        return Text.assemble(_name(m.model), (f": no latency verdict, {why}", "yellow"))
    word, style, sign = ("IN", "bold green", "<=") if m.in_category else ("OUT OF", "bold red", ">")
    between = "" if ttft.p50_low is None else f" (95 % {_ms(ttft.p50_low)} to {_ms(ttft.p50_high)})"
    left_out = f"; {m.latency_left_out} lagged calls left out" if m.latency_left_out else ""
    open_ = "; not settled" if m.settled is False else ""
    return Text.assemble(
        _name(m.model), ": ", (f"{word} THE CATEGORY: median TTFT {_ms(ttft.p50)} ms", style),
        f"{between} {sign} {m.bar_ms:,.0f} ms over {ttft.n} caller turns; P95 {_ms(ttft.p95)}, P99 {_ms(ttft.p99)}; "
        f"{ttft.share_over_bar or 0.0:.1%} over the bar{open_}{left_out}",
    )  # fmt: skip


def _sections(score: RunScore) -> Iterator[tuple[str, RenderableType]]:
    if any(m.ttft_ms.n for m in score.models):
        yield "Time to first token by cause (ms)", _by_cause(score)
    for title, of in GROUPS.items():
        if any(len(of(m)) > 1 for m in score.models):
            yield title, _groups([(m.model, g.key, g) for m in score.models for g in of(m)])
    if any(any(m.gates_failed.values()) for m in score.models):
        yield "Failed calls", _failures(score)
    if score.comparisons:
        yield "Models in pairs (first minus second, tasks are the unit)", _comparisons(score)
    if score.voice_cost:
        yield "What voice costs (the same tasks, voice minus text)", _voice_cost(score)
    if any(b.failed for b in score.blame):
        yield "Who lost the failed voice calls", _blame(score)


def _by_cause(score: RunScore) -> Table:
    table = _table("model", "", "n", "P50", "P95", "P99", "over the bar")
    for m in score.models:
        for cause, f in m.ttft_by_cause.items():
            if f.n:
                over = f"{f.share_over_bar or 0.0:.1%}"
                table.add_row(_name(m.model), styled(CAUSES[cause]), str(f.n), _ms(f.p50), _ms(f.p95), _ms(f.p99), over)
    return table


def _groups(rows: Sequence[tuple[str, str, Figures]]) -> Table:
    table = _table("model", "", "pass@1", "pass5", "tasks", "trials", "invalid")
    for model, key, g in rows:
        table.add_row(
            _name(model), styled(key), _share(g.pass_at_1, g.pass_at_1_low, g.pass_at_1_high),
            _share(g.pass5, g.pass5_low, g.pass5_high), str(g.tasks), str(g.trials), str(g.invalid),
        )  # fmt: skip
    return table


def _failures(score: RunScore) -> Lines:
    lines: list[RenderableType] = []
    for m in score.models:
        gates = ", ".join(f"{GATES[gate]} {n}" for gate, n in m.gates_failed.items())
        kinds = ", ".join(f"{kind} {n}" for kind, n in m.failure_kinds.items())
        tools = ", ".join(f"{t.tool} {t.missed}/{t.expected}" for t in m.most_missed_tools[:MOST_TOOLS])
        lines.append(Text.assemble(_name(m.model), f": {m.trials - m.passed} of {m.trials} failed; gates: {gates}"))
        lines += [_indented(f"kinds: {kinds or 'none'}"), _indented(f"most missed tools: {tools or 'none'}")]
    return Lines(*lines)


def _comparisons(score: RunScore) -> Table:
    table = _table("first", "second", "difference", "95 %", "tasks", "p", "p (Holm)", "better")
    for c in score.comparisons:
        table.add_row(
            _name(c.first), _name(c.second), _signed(c.mean_difference), _interval(c.interval), str(c.tasks),
            _p(c.p_value), _p(c.p_holm), _name(c.better) if c.better else "-",
        )  # fmt: skip
    return table


def _voice_cost(score: RunScore) -> Table:
    table = _table("model", "line", "text", "voice", "difference", "95 %", "tasks", "p")
    for v in score.voice_cost:
        table.add_row(
            _name(v.model), styled(v.line), _share(v.pass_at_1_text), _share(v.pass_at_1_voice),
            _signed(v.mean_difference), _interval(v.interval), str(v.tasks), _p(v.p_value),
        )  # fmt: skip
    return table


def _blame(score: RunScore) -> Lines:
    table = _table("model", "failed", "recogniser", "model", "caller", "unclear")
    lines: list[RenderableType] = [table]
    for b in score.blame:
        table.add_row(_name(b.model), str(b.failed), *(str(n) for n in b.calls.values()))
        for w in b.words[:MOST_WORDS]:
            times = f"{w.calls} call{'s' if w.calls != 1 else ''}"
            lines.append(_indented(f"{b.model}: {clip(w.said, 40)!r} heard as {clip(w.heard, 40)!r}, {times}"))
    return Lines(*lines)


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for n, heading in enumerate(headings):
        names = n == 0 or heading in NAMES
        table.add_column(heading, justify="left" if names else "right", no_wrap=not names, overflow="fold")
    return table


def _indented(text: str) -> Padding:
    return Padding(styled(text), (0, 0, 0, 2), expand=False)


def _name(model: str) -> Text:
    return styled(clip(model, LONGEST_NAME))


def _share(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """`0.52`; where it is undefined its bounds, `0.50..0.60`; a dash without any."""
    if value is not None:
        return f"{value:.3f}"
    return "-" if low is None or high is None else f"{low:.2f}..{high:.2f}"


def _interval(found: Interval | None) -> str:
    return "-" if found is None else f"{found.low:.2f}..{found.high:.2f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
