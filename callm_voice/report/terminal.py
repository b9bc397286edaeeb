"""One call on the terminal, for `callm-voice show` and the end of `callm-voice call`.

All of it is readable at 80 columns and when it goes to a file: what colour says, a sign or a word says too. Text of
models, callers and packs is put in as it stands; markup and control characters in it do nothing.
"""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from callm_voice.core.record import CallRecord
from callm_voice.report.blame import blame_call
from callm_voice.report.blame_view import blame_view, moment_line
from callm_voice.report.latency_view import latency_table
from callm_voice.report.site.collect import Json, LoadedCall
from callm_voice.report.site.moments import moment_of
from callm_voice.report.text import mm_ss, styled
from callm_voice.report.transcript_view import transcript_view
from callm_voice.report.verdict_view import verdict_view
from callm_voice.report.waterfall_view import inferences_view, waterfall_view

__all__ = ["call_view", "head_view", "latency_table", "latency_view", "transcript_view", "verdict_view"]


def call_view(call: LoadedCall) -> Group:
    """What the call's page shows: head, the moment it went wrong, transcript, gates, blame, latency, warnings."""
    record = call.record
    blame = blame_call(record, call.gold) if call.gold is not None else None
    moment = moment_of(record, blame, call.events)
    parts: list[RenderableType] = [head_view(record)]
    if moment is not None:
        parts.append(moment_line(moment))
    parts += [
        _rule("Transcript"),
        transcript_view(record, call.events),
        _rule("Gates"),
        verdict_view(record, call.gold, outputs=True),
    ]
    if blame is not None:
        parts += [_rule("Blame"), blame_view(blame)]
    parts += [_rule("Latency"), latency_view(record, call.events)]
    if record.warnings:
        parts.append(_rule("Warnings"))
        parts += [Text.assemble(("! ", "bold yellow"), styled(warning)) for warning in record.warnings]
    return Group(*parts)


def latency_view(record: CallRecord, events: tuple[Json, ...] = ()) -> Group:
    """Percentiles with the bar, each turn's pieces, every request."""
    latency = record.latency
    if latency is None:
        return Group(Text("none: the call went without audio"))
    by_turn = Group(Text("\nVoice to voice, turn by turn", style="bold"), waterfall_view(latency))
    requests = Group(Text("\nRequests to the model, milliseconds", style="bold"), inferences_view(latency, events))
    return Group(latency_table(latency), by_turn, requests)


def head_view(record: CallRecord) -> Group:
    """What was called, with which model and engines, how it ended."""
    config, outcome = record.config, record.outcome
    cost = "price unknown" if record.cost_usd is None else f"${record.cost_usd:.3f}"
    status = outcome.status if outcome.invalid_kind is None else f"{outcome.status} ({outcome.invalid_kind})"
    style = {"pass": "bold green", "fail": "bold red", "unscored": "bold"}.get(outcome.status, "bold yellow")
    lines = [
        Text.assemble(styled(config.task, "bold"), "  ", styled(config.model, "bold"), "  ", (status.upper(), style)),
        styled(
            f"line {config.line} | pipeline {config.pipeline} | caller {config.caller} | trial {config.trial} | "
            f"seed {config.seed} | pace {config.pace}"
            + (f" | leg {config.leg}" if config.leg != "process" else "")
            + (f" | agent {config.agent}" if config.agent is not None else "")
        ),
        styled(f"{record.started_at} | {mm_ss(record.duration_ms)} long | {cost} | ended: {outcome.end_reason}"),
    ]
    if outcome.detail:
        lines.append(styled(outcome.detail, "yellow"))
    engines = [
        f"{kind} {info.engine}{f' {info.model}' if info.model else ''}{' (scripted)' if info.scripted else ''}"
        for kind, info in record.engines.items()
    ]
    if engines:
        lines.append(styled(" | ".join(engines), "dim"))
    return Group(*lines)


def _rule(title: str) -> Rule:
    return Rule(Text(title, style="bold"), align="left", characters="-", style="dim")
