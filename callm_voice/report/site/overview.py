"""The pages over many calls: overview, industries, failures, latency."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from callm_voice.core.score_format import RunScore
from callm_voice.probes.percentiles import percentiles
from callm_voice.report.latency_view import CAUSES, SPANS
from callm_voice.report.site.calls import CallSummary, InferencePoint, pack_href, task_href
from callm_voice.report.site.charts import against_tokens, distribution
from callm_voice.report.site.desks import DeskView
from callm_voice.report.site.graph import draw
from callm_voice.report.site.leaderboard import COLUMNS, SEPARATOR, Choices
from callm_voice.report.site.moments import KINDS
from callm_voice.report.site.pages import Site

FAILURES_A_FILE = 400
"""Failures in one data file, so that no file grows without bound."""
Board = list[dict[str, Any]]


def write_overview(
    site: Site, score: RunScore, found: Choices, boards: dict[tuple[str, str, str], Board],
    desks: dict[str, DeskView], calls: Sequence[CallSummary],
) -> None:  # fmt: skip
    """The leaderboard with its filters, and the industries."""
    site.data("overview-data.js", "CALLM_BOARD", "boards", {SEPARATOR.join(k): rows for k, rows in boards.items()})
    packs = [
        {
            "title": desk.title, "href": pack_href(pack), "business": desk.business,
            "tasks": len({c.place.task for c in calls if c.place.pack == pack}),
            "calls": sum(c.place.pack == pack for c in calls),
        }
        for pack, desk in desks.items()
    ]  # fmt: skip
    site.page(
        "index.html", "overview.html", title="Overview", columns=COLUMNS, rows=boards["", "", ""], choices=found,
        score=score, packs=packs,
    )  # fmt: skip


def write_industry(site: Site, pack: str, desk: DeskView, calls: Sequence[CallSummary], models: Sequence[str]) -> None:
    """One pack: architecture, roles with their prompts and tools, tasks with each model's results."""
    tokens: dict[str, list[int]] = {}
    for call in calls:
        for role, count in call.role_tokens:
            tokens.setdefault(role, []).append(count)
    ids = sorted({call.place.task for call in calls} | desk.tasks.keys())
    tasks = []
    for task in ids:
        of_task = [call for call in calls if call.place.task == task]
        results = []
        for model in models:
            scored = [call for call in of_task if call.place.model == model and call.row.scored]
            passed = sum(call.row.status == "pass" for call in scored)
            results.append({"passed": passed, "trials": len(scored)})
        tasks.append(
            {
                "id": task, "file": desk.tasks.get(task), "results": results,
                "href": task_href(pack, task) if of_task else "",
            }
        )  # fmt: skip
    site.page(
        pack_href(pack), "industry.html", title=desk.title, desk=desk, models=models, tasks=tasks,
        drawing=draw([role.name for role in desk.roles], desk.edges, desk.start_role),
        tokens={role: (min(seen), max(seen)) for role, seen in tokens.items()},
        hashes=sorted({call.row.pack_hash for call in calls} - {""}),
    )  # fmt: skip


def write_failures(site: Site, calls: Sequence[CallSummary]) -> None:
    """Every call that did not pass, by kind, with the moment it went wrong; not those that a person made."""
    failed = [call for call in calls if call.failed]
    order = {kind: number for number, kind in enumerate(KINDS)}
    failed.sort(key=lambda c: order[c.moment.kind] if c.moment else 0)
    entries = [_failure(call) for call in failed]
    parts = [entries[n : n + FAILURES_A_FILE] for n in range(0, len(entries), FAILURES_A_FILE)]
    for number, part in enumerate(parts):
        site.data(f"failures-{number + 1}.js", "CALLM_FAILURES", str(number), part)
    counts = {kind: sum(e["kind"] == kind for e in entries) for kind in KINDS}
    site.page(
        "failures.html", "failures.html", title="Failures", kinds=KINDS, counts=counts, parts=len(parts),
        total=len(entries), models=sorted({e["model"] for e in entries}), packs=sorted({e["pack"] for e in entries}),
    )  # fmt: skip


def _failure(call: CallSummary) -> dict[str, Any]:
    moment, place, row = call.moment, call.place, call.row
    assert moment is not None
    return {
        "kind": moment.kind, "t": round(moment.t_ms), "what": moment.what, "gates": list(moment.gates),
        "tool": moment.tool, "pack": place.pack, "task": place.task, "model": place.model, "line": place.line,
        "trial": place.trial, "href": place.href, "files": list(call.files), "length": round(row.duration_ms),
        "blame": row.blame.blame if row.blame else "",
    }  # fmt: skip


def write_latency(site: Site, score: RunScore, calls: Sequence[CallSummary]) -> None:
    """Distributions per model, by cause, against prompt tokens, cold and warm."""
    models = [found.model for found in score.models]
    points = {model: _points(calls, model) for model in models}
    everyone = distribution(
        "Time to first token over caller turns, all models",
        [(model, [p.ttft_ms for p in points[model] if p.cause == "caller_turn"]) for model in models],
    )
    site.page(
        "latency.html", "latency.html", title="Latency", everyone=everyone, causes=CAUSES,
        models=[_model_latency(found, points[found.model], calls) for found in score.models],
    )  # fmt: skip


def _points(calls: Sequence[CallSummary], model: str) -> list[InferencePoint]:
    """Of the calls that the headline counts: those by voice."""
    return [p for call in calls if call.place.model == model for p in call.inferences]


def _model_latency(found: Any, points: list[InferencePoint], calls: Sequence[CallSummary]) -> dict[str, Any]:
    by_cause = [(label, [p.ttft_ms for p in points if p.cause == cause]) for cause, label in CAUSES.items()]
    first = [p for p in points if p.first_of_role]
    later = [p for p in points if not p.first_of_role]
    cached = [p for p in points if p.cached_tokens is not None and p.prompt_tokens]
    split = [("first request of a role in a call", first), ("later requests of that role", later)]
    if cached:
        warm = [p for p in cached if (p.cached_tokens or 0) * 2 >= (p.prompt_tokens or 0)]
        cold = [p for p in cached if (p.cached_tokens or 0) * 2 < (p.prompt_tokens or 0)]
        split += [("cold: less than half of the prompt cached", cold), ("warm: half or more cached", warm)]
    spans: dict[str, list[float]] = {}
    for call in calls:
        if call.place.model == found.model:
            for name, duration_ms in call.spans:
                spans.setdefault(name, []).append(duration_ms)
    means = {name: statistics.fmean(values) for name, values in spans.items()}
    total = sum(means.values()) or 1.0
    return {
        "score": found,
        "by_cause": distribution(f"Time to first token by cause, {found.model}", by_cause[:-1]),
        "tokens": against_tokens(
            f"Time to first token against prompt tokens, {found.model}",
            [
                ("first request of a role in a call", _pairs(first)),
                ("later requests of that role", _pairs(later)),
            ],
        ),
        "split": [(label, percentiles(p.ttft_ms for p in group)) for label, group in split],
        "spans": [
            (SPANS.get(name, name), means[name], round(100 * means[name] / total, 2), number)
            for number, name in enumerate([n for n in SPANS if n in means])
        ],
        "total": total if means else None,
    }


def _pairs(points: Sequence[InferencePoint]) -> list[tuple[int, float]]:
    return [(p.prompt_tokens, p.ttft_ms) for p in points if p.prompt_tokens is not None]
