"""The scoreboard of finished calls, from their folders alone (docs/method.md has every definition).

`load_calls(run_dirs)` reads one row a call, `score_run(rows)` computes everything from rows. The order of folders and
rows does not count, and nothing is drawn without a fixed seed: the same calls give the same bytes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from callm_voice import __version__
from callm_voice.core.score_format import CallCounts, MissedTool, ModelScore, RunScore
from callm_voice.report.score_figures import (
    cost,
    figures,
    groups,
    headline_ttft,
    task_details,
    ttft_by_cause,
    v2v,
)
from callm_voice.report.score_notes import notes, unfinished
from callm_voice.report.score_pairs import blame_of, comparisons, voice_costs
from callm_voice.report.score_rows import TEXT_LINE, CallRow, filter_rows, load_calls, load_row
from verifier import VERIFIER_VERSION

__all__ = ["CallRow", "RunScore", "filter_rows", "load_calls", "load_row", "score_model", "score_run", "unfinished"]

INVALID_KINDS = ("harness", "infrastructure", "caller")


def score_run(rows: Sequence[CallRow], *, remarks: Sequence[str] = ()) -> RunScore:
    """The scoreboard. Calls that a person made are counted and play no part in anything else.

    Args:
        remarks: what is known of the runs beside their calls; they come first among the notes.
    """
    every = rows
    rows = [row for row in every if not row.by_person]
    by_model: dict[str, list[CallRow]] = defaultdict(list)
    for row in rows:
        by_model[row.model].append(row)
    models = [score_model(model, of_model) for model, of_model in by_model.items()]
    names = sorted(by_model)
    by_voice = [m.model for m in models if m.basis == "voice"]
    compared = by_voice if len(by_voice) > 1 else names
    return RunScore(
        product_version=__version__,
        verifier_version=VERIFIER_VERSION,
        calls=CallCounts(
            found=len(every),
            scored=sum(row.scored for row in rows),
            invalid=sum(row.status == "invalid" and not row.superseded for row in rows),
            superseded=sum(row.superseded for row in rows),
            by_person=len(every) - len(rows),
        ),
        notes=(*remarks, *notes(rows)),
        models=tuple(sorted(models, key=_rank)),
        comparisons=comparisons({name: _headline(by_model[name]) for name in compared}),
        voice_cost=tuple(found for name in names for found in voice_costs(name, by_model[name])),
        blame=tuple(blame_of(name, by_model[name]) for name in names),
    )


def score_model(model: str, rows: Sequence[CallRow]) -> ModelScore:
    """All figures of one model. `rows`: its rows and no others."""
    headline = _headline(rows)
    scored = [row for row in headline if row.scored]
    ttft = headline_ttft(headline)
    in_category = None if ttft.p50 is None else ttft.p50 <= ModelScore.model_fields["bar_ms"].default
    kinds = Counter(row.invalid_kind for row in rows if row.status == "invalid" and not row.superseded)
    basis: Literal["voice", "text"] = "text" if all(row.line == TEXT_LINE for row in rows) else "voice"
    costs = cost(headline, rows)
    return ModelScore(
        model=model,
        basis=basis,
        lines=tuple(sorted({row.line for row in headline})),
        **{**figures(headline), "invalid": kinds.total()},
        invalid_by_kind={kind: kinds[kind] for kind in INVALID_KINDS},  # type: ignore[index]
        superseded=sum(row.superseded for row in rows),
        ttft_ms=ttft,
        ttft_by_cause=ttft_by_cause(headline),
        in_category=in_category,
        settled=_settled(ttft.p50_low, ttft.p50_high),
        scripted=any(row.scripted for row in scored),
        latency_left_out=sum(row.latency_left_out is not None for row in scored),
        v2v_ms=v2v(headline),
        cost_usd=costs.per_call_usd,
        cost=costs,
        by_pack=groups(headline, lambda row: row.pack),
        by_category=groups(headline, lambda row: row.category),
        by_difficulty=groups(headline, lambda row: row.difficulty),
        by_line=groups(rows, lambda row: row.line),
        gates_failed={
            "tools": sum(row.tools_passed is False for row in scored),
            "path": sum(row.path_passed is False for row in scored),
            "state": sum(row.state_passed is False for row in scored),
        },
        most_missed_tools=_missed_tools(scored),
        failure_kinds=_counted(kind for row in scored for kind in row.failure_kinds),
        tasks_detail=task_details(rows),
    )


def _headline(rows: Sequence[CallRow]) -> list[CallRow]:
    """The voice calls; the text calls if there are no others."""
    voice = [row for row in rows if row.line != TEXT_LINE]
    return voice or list(rows)


def _rank(found: ModelScore) -> tuple[float, float, str]:
    """Best pass@1 first, then pass5; what is undefined counts by its lower bound here and nowhere else."""
    return (-(found.pass_at_1_low or 0.0), -(found.pass5_low or 0.0), found.model)


def _settled(low: float | None, high: float | None) -> bool | None:
    if low is None or high is None:
        return None
    bar: float = ModelScore.model_fields["bar_ms"].default
    return high <= bar or low > bar


def _missed_tools(scored: Sequence[CallRow]) -> tuple[MissedTool, ...]:
    expected = Counter(tool for row in scored for tool in row.expected_tools)
    missed = _counted(tool for row in scored for tool in row.missed_tools)
    return tuple(MissedTool(tool=tool, missed=n, expected=expected[tool]) for tool, n in missed.items())


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Name → how often, most first, then by name."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
