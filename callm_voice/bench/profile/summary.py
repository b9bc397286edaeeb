"""From measurements to the summary: pure, so a profile can be computed again from its measurements."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from callm_voice.bench.profile.plan import desk_size
from callm_voice.bench.profile.stats import drift, line_fit, median_interval
from callm_voice.core.latency import TTFT_BAR_MS
from callm_voice.core.latency_profile import (
    HEADLINE,
    KINDS,
    Figures,
    Kind,
    LevelFigures,
    Measurement,
    ProfileSummary,
    SizeFigures,
)
from callm_voice.probes.percentiles import percentiles


def summarise(
    measurements: Sequence[Measurement], *, sizes: Sequence[int], levels: Sequence[int], rounds: int, scripted: bool
) -> ProfileSummary:
    """All statistics."""
    desk = desk_size(sizes)
    of_desk: dict[Kind, list[Measurement]] = {
        kind: [m for m in measurements if m.kind == kind and m.target_tokens == desk] for kind in KINDS
    }
    headline = figures(of_desk[HEADLINE])
    times = _ttft(of_desk[HEADLINE])
    p50, interval = headline.ttft.p50, headline.median_interval
    alone = [m for m in measurements if m.concurrency == 1 and m.error is None]
    return ProfileSummary(
        in_category=None if p50 is None else p50 <= TTFT_BAR_MS,
        settled=None if interval is None else not interval.low_ms <= TTFT_BAR_MS < interval.high_ms,
        scripted=scripted,
        desk_tokens=desk,
        headline=headline,
        over_bar_share=sum(t > TTFT_BAR_MS for t in times) / len(times) if times else None,
        kinds={kind: figures(group) for kind, group in of_desk.items()},
        sizes=tuple(_size(measurements, size) for size in sizes),
        levels=tuple(_level(of_desk["concurrent"], level) for level in levels),
        fit=line_fit(_cold_points(measurements), TTFT_BAR_MS),
        tokens_per_s=percentiles(m.tokens_per_s for m in alone if m.tokens_per_s is not None),
        speakable_delay=percentiles(
            m.first_speakable_ms - m.ttft_ms
            for m in alone
            if m.first_speakable_ms is not None and m.ttft_ms is not None
        ),
        drift=drift(_by_round(of_desk[HEADLINE]), rounds),
        errors=dict(Counter(m.error for m in measurements if m.error is not None).most_common()),
        requests=len(measurements),
        median_turn=_median_turn(of_desk[HEADLINE]),
    )


def figures(group: Sequence[Measurement]) -> Figures:
    """TTFT of a group."""
    times = _ttft(group)
    good = [m for m in group if m.error is None]
    return Figures(
        ttft=percentiles(times),
        median_interval=median_interval(times),
        prompt_tokens=_mean(m.prompt_tokens for m in good),
        cached_tokens=_mean(m.cached_tokens for m in good),
        errors=len(group) - len(good),
        no_token=sum(m.ttft_ms is None for m in good),
    )


def _ttft(group: Iterable[Measurement]) -> list[float]:
    return [m.ttft_ms for m in group if m.error is None and m.ttft_ms is not None]


def _mean(values: Iterable[int | None]) -> float | None:
    known = [v for v in values if v is not None]
    return round(statistics.fmean(known), 1) if known else None


def _size(measurements: Sequence[Measurement], size: int) -> SizeFigures:
    here = [m for m in measurements if m.target_tokens == size]
    return SizeFigures(
        target_tokens=size,
        cold=figures([m for m in here if m.kind == "cold"]),
        warm=figures([m for m in here if m.kind == "warm"]),
    )


def _level(concurrent: Sequence[Measurement], level: int) -> LevelFigures:
    here = [m for m in concurrent if m.concurrency == level]
    sent: dict[int, list[float]] = defaultdict(list)
    for m in here:
        if m.error is None:
            sent[m.round].append(m.sent_at_ms)
    skews = [max(times) - min(times) for times in sent.values()]
    return LevelFigures(
        concurrency=level,
        figures=figures(here),
        tokens_per_s=percentiles(m.tokens_per_s for m in here if m.tokens_per_s is not None),
        skew_ms=round(max(skews), 3) if skews else None,
    )


def _cold_points(measurements: Sequence[Measurement]) -> list[tuple[float, float]]:
    """Prompt tokens as the server said (the target where it did not) and TTFT of the cold prompts."""
    return [
        (float(m.prompt_tokens if m.prompt_tokens is not None else m.target_tokens), m.ttft_ms)
        for m in measurements
        if m.kind == "cold" and m.error is None and m.ttft_ms is not None
    ]


def _by_round(group: Sequence[Measurement]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = defaultdict(list)
    for m in group:
        found[m.round] += _ttft([m])
    return found


def _median_turn(group: Sequence[Measurement]) -> int | None:
    ordered = sorted((m.ttft_ms, m.number) for m in group if m.error is None and m.ttft_ms is not None)
    return ordered[(len(ordered) - 1) // 2][1] if ordered else None
