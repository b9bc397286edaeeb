"""Plots of a latency profile as PNG and SVG. matplotlib (extra `plots`) is imported when the first one is drawn.

Groups differ by line style, marker and hatch, not by colour alone, so they can be told apart in greyscale.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from callm_voice.core.errors import MissingDependencyError
from callm_voice.core.latency_profile import Kind, LatencyProfile, Measurement
from callm_voice.core.runfolder import disk_errors
from callm_voice.report.text import clip, plain

SIZE_INCHES = (8.0, 5.2)
DPI = 144
BAR_COLOUR = "#b00020"
_STYLES: dict[Kind, tuple[str, str, str]] = {
    "warm": ("caller's next turn (headline)", "-", "#1f3b73"),
    "cold": ("cold prompt", "--", "#d17a00"),
    "tool_result": ("after a tool result", "-.", "#2d7d46"),
    "handoff_warm": ("after a handoff, prompt read before", ":", "#555555"),
    "handoff_cold": ("after a handoff, cold prompt", (0, (1, 3)), "#000000"),  # type: ignore[dict-item]
}
"""Label, line style, colour."""
_STAGES: tuple[tuple[str, str], ...] = (
    ("stream_opened_ms", "stream opened"),
    ("first_chunk_ms", "first chunk"),
    ("first_reasoning_ms", "first thought"),
    ("ttft_ms", "first token"),
    ("first_speakable_ms", "first speakable"),
    ("last_token_ms", "last token"),
)


def write_plots(profile: LatencyProfile, folder: Path) -> list[Path]:
    """`ttft-distribution`, `ttft-tokens` and `median-turn`, each as PNG and SVG; what there is no data for is left out.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        DiskError: a file cannot be written.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError("matplotlib", "plots")
    draw: dict[str, Callable[[LatencyProfile, Any], bool]] = {
        "ttft-distribution": draw_distribution,
        "ttft-tokens": draw_tokens,
        "median-turn": draw_median_turn,
    }
    matplotlib = importlib.import_module("matplotlib")
    figure_module = importlib.import_module("matplotlib.figure")
    written: list[Path] = []
    with matplotlib.rc_context({"svg.hashsalt": "callm-voice", "font.size": 10}):
        for name, function in draw.items():
            figure = figure_module.Figure(figsize=SIZE_INCHES, dpi=DPI, layout="constrained")
            axes = figure.add_subplot()
            if not function(profile, axes):
                continue
            for suffix, metadata in ((".png", {}), (".svg", {"Date": None})):
                path = folder / f"{name}{suffix}"
                with disk_errors(path):
                    figure.savefig(path, metadata=metadata)
                written.append(path)
    return written


def draw_distribution(profile: LatencyProfile, axes: Any) -> bool:
    """The share of requests that were answered within a time, by cause, with the bar. False: nothing to draw."""
    summary = profile.summary
    drawn: list[float] = []
    for kind, (label, line, colour) in _STYLES.items():
        times = sorted(_times(_of(profile, kind, summary.desk_tokens)))
        if not times:
            continue
        drawn += times
        shares = [number / len(times) for number in range(len(times) + 1)]
        axes.plot(
            [times[0], *times], shares, drawstyle="steps-post", linestyle=line, color=colour,
            linewidth=2.4 if kind == "warm" else 1.6, label=f"{label}, n = {len(times)}",
        )  # fmt: skip
    if not drawn:
        return False
    bar = summary.bar_ms
    axes.axvline(bar, color=BAR_COLOUR, linewidth=2)
    axes.axhline(0.5, color="#999999", linewidth=0.8)
    if max(*drawn, bar) / max(1.0, min(*drawn, bar)) > 8:
        axes.set_xscale("log")
        _plain_log_ticks(axes.xaxis)
        axes.set_xlim(max(1.0, min(*drawn, bar)) * 0.7, max(*drawn, bar) * 1.4)
    else:
        axes.set_xlim(0, max(*drawn, bar) * 1.15)
        _thousands(axes.xaxis)
    axes.set_ylim(0, 1.02)
    axes.annotate(
        f"bar: {bar:,.0f} ms", (bar, 0.03), xytext=(5, 0), textcoords="offset points", color=BAR_COLOUR, rotation=90,
        va="bottom",
    )  # fmt: skip
    axes.set_xlabel("time to first token (ms)")
    axes.set_ylabel("share of requests at or under it")
    axes.set_title(_title(profile, f"Distribution of TTFT, prompts of about {summary.desk_tokens:,} tokens"))
    _legend_below(axes)
    axes.grid(visible=True, alpha=0.25)
    return True


def draw_tokens(profile: LatencyProfile, axes: Any) -> bool:
    """TTFT against prompt tokens, cold and warm, with the line that was fitted to the cold ones."""
    fit = profile.summary.fit
    groups = (
        ("cold", "cold prompt", {"marker": "o", "facecolors": "none", "edgecolors": "#d17a00", "linewidths": 1.4}),
        ("warm", "warm prefix, one more line", {"marker": "x", "color": "#1f3b73", "linewidths": 1.4}),
    )
    seen: list[tuple[float, float]] = []
    for kind, label, style in groups:
        points = [(_tokens(m), m.ttft_ms) for m in profile.measurements if m.kind == kind and m.ttft_ms is not None]
        if points:
            axes.scatter([x for x, _ in points], [y for _, y in points], s=36, label=label, **style)
            seen += points
    if not seen:
        return False
    longest = max(x for x, _ in seen)
    if fit is not None:
        ends = (0.0, longest * 1.03)
        label = f"fit: {fit.intercept_ms:,.0f} ms {fit.ms_per_1k_tokens:+,.1f} ms per 1,000 tokens"
        label += "" if fit.r2 is None else f" (R² {fit.r2:.3f})"
        line = [fit.intercept_ms + fit.ms_per_1k_tokens * x / 1000 for x in ends]
        axes.plot(ends, line, color="#d17a00", linewidth=1.6, label=label)
    bar = profile.summary.bar_ms
    axes.axhline(bar, color=BAR_COLOUR, linewidth=2, linestyle="--", label=f"bar: {bar:,.0f} ms")
    axes.set_xlim(0, longest * 1.05)
    axes.set_ylim(0, max(bar, *(y for _, y in seen)) * 1.12)
    _thousands(axes.xaxis)
    _thousands(axes.yaxis)
    axes.set_xlabel("prompt (tokens)")
    axes.set_ylabel("time to first token (ms)")
    axes.set_title(_title(profile, "TTFT against the length of the prompt"))
    _legend_below(axes)
    axes.grid(visible=True, alpha=0.25)
    return True


def draw_median_turn(profile: LatencyProfile, axes: Any) -> bool:
    """The stages of the turn that has the median TTFT, one under the other."""
    turn = next((m for m in profile.measurements if m.number == profile.summary.median_turn), None)
    stages = stages_of(turn) if turn is not None else []
    if not stages:
        return False
    end = max(stop for _, _, stop in stages)
    for row, (label, start, stop) in enumerate(stages):
        before_token = label not in ("first speakable", "last token")
        axes.barh(
            row, max(stop - start, end * 0.002), left=start, height=0.6, color="#7f93bd" if before_token else "#dddddd",
            edgecolor="#222222", hatch=None if before_token else "//",
        )  # fmt: skip
        axes.annotate(
            f"+{stop - start:,.1f} ms, at {stop:,.1f} ms", (stop, row), xytext=(6, 0), textcoords="offset points",
            va="center", fontsize=9, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5}, zorder=5,
        )  # fmt: skip
    bar = profile.summary.bar_ms
    if end > bar * 0.5:
        axes.axvline(bar, color=BAR_COLOUR, linewidth=2)
        axes.annotate(
            f"bar for the first token: {bar:,.0f} ms", (bar, len(stages) - 0.45), xytext=(4, 0),
            textcoords="offset points", color=BAR_COLOUR, fontsize=9, va="center",
        )  # fmt: skip
    axes.set_yticks(range(len(stages)), [label for label, _, _ in stages])
    axes.set_ylim(len(stages) - 0.3, -0.6)
    axes.set_xlim(0, max(end, bar if end > bar * 0.5 else 0) * 1.45)
    _thousands(axes.xaxis)
    axes.set_xlabel("after the request was sent (ms)")
    axes.set_title(_title(profile, f"Turn with the median TTFT (measurement {profile.summary.median_turn})"))
    axes.grid(visible=True, axis="x", alpha=0.25)
    return True


def stages_of(turn: Measurement) -> list[tuple[str, float, float]]:
    """Stage, its begin and its end in ms after the request: each begins where the one before it ended."""
    moments = [(label, getattr(turn, name)) for name, label in _STAGES]
    reached = sorted(((label, t) for label, t in moments if t is not None), key=lambda item: item[1])
    stages: list[tuple[str, float, float]] = []
    before = 0.0
    for label, t in reached:
        stages.append((label, before, t))
        before = t
    return stages


def _of(profile: LatencyProfile, kind: Kind, tokens: int) -> list[Measurement]:
    return [m for m in profile.measurements if m.kind == kind and m.target_tokens == tokens]


def _times(group: Sequence[Measurement]) -> list[float]:
    return [m.ttft_ms for m in group if m.error is None and m.ttft_ms is not None]


def _tokens(m: Measurement) -> float:
    return float(m.prompt_tokens if m.prompt_tokens is not None else m.target_tokens)


def _title(profile: LatencyProfile, what: str) -> str:
    scripted = " (scripted: set times, no model)" if profile.summary.scripted else ""
    # Dollar signs would be read as mathematics.
    name = clip(plain(profile.model.model), 60).replace("$", "\\$")
    return f"{what}\n{name}{scripted}"


def _legend_below(axes: Any) -> None:
    """Under the axes, where it hides nothing."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=8.5, frameon=False)


def _thousands(axis: Any) -> None:
    ticker = importlib.import_module("matplotlib.ticker")
    axis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))


def _plain_log_ticks(axis: Any) -> None:
    ticker = importlib.import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axis.set_minor_formatter(ticker.NullFormatter())
