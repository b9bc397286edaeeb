"""All tasks of some packs, over the cores."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path

from callm_voice.bench.packcheck.findings import PackReport, Problem, Problems, TaskReport
from callm_voice.bench.packcheck.listen import listen, open_audition
from callm_voice.bench.packcheck.mutations import survivors
from callm_voice.bench.packcheck.oracle import oracle_call
from callm_voice.bench.packcheck.origins import one_sided, origins
from callm_voice.bench.packcheck.shape import TOKEN_METHOD, check_bars, check_pack, prompt_tokens, tables
from callm_voice.bench.packcheck.tasks import Loaded, check_references, load_task, play_dialogue
from callm_voice.core import paths
from callm_voice.core.clock import RealClock
from callm_voice.core.pool import in_order, process_pool
from callm_voice.core.yamlfile import load_model
from callm_voice.desk.formats import PackFile
from callm_voice.desk.pack import PACK_FILE, Pack, load_pack
from verifier.verdict import Verdict
from verifier.verify import verify

ALONE = 6
"""So few tasks are checked in this process: starting others would take longer."""
SHOWN = 5
"""Mutations that pass, rows that differ: so many are named for each task, and the rest are counted."""


def benchmark_packs() -> list[Path]:
    """The folders of all packs that are found by name and are for the benchmark.

    Raises:
        ConfigError: a `pack.yaml` is wrong.
    """
    folders = [paths.find("packs", name) for name in paths.known_names("packs")]
    return [folder for folder in folders if load_model(folder / PACK_FILE, PackFile).benchmark]


def check_packs(
    folders: Sequence[Path],
    *,
    bars: bool = False,
    tasks: Sequence[str] | None = None,
    voice: bool = False,
    workers: int | None = None,
    on_task: Callable[[str, TaskReport], None] | None = None,
) -> list[PackReport]:
    """Check whole packs.

    Args:
        bars: also ask for what a pack of the benchmark's own has at least.
        tasks: only these; what concerns the whole pack is then not asked.
        voice: also speak what the caller says to the recogniser; the first time that takes a second or two a value.
        workers: processes; None: one a core.
        on_task: told of each task as it is done.

    Raises:
        ConfigError: a pack cannot be loaded at all.
        NotFoundError: there is no such task.
    """
    packs = [load_pack(folder) for folder in folders]
    jobs = [(pack.path, task_id) for pack in packs for task_id in _chosen(pack, tasks)]
    reports: dict[Path, list[TaskReport]] = {pack.path: [] for pack in packs}
    ids = {pack.path: pack.id for pack in packs}
    for (folder, _), report in zip(jobs, _run(jobs, workers or cores()), strict=True):
        reports[folder].append(report)
        if on_task is not None:
            on_task(ids[folder], report)
    if voice:
        asyncio.run(_listen(packs, reports, on_task))
    return [pack_report(pack, reports[pack.path], bars=bars, whole=tasks is None) for pack in packs]


async def _listen(
    packs: Sequence[Pack], reports: dict[Path, list[TaskReport]], on_task: Callable[[str, TaskReport], None] | None
) -> None:
    """Let every report know what cannot be heard."""
    with closing(RealClock()) as clock:
        audition = await open_audition(clock)
        for pack in packs:
            told = partial(on_task, pack.id) if on_task is not None else None
            reports[pack.path] = await listen(pack, reports[pack.path], audition, told)


def pack_report(pack: Pack, reports: Sequence[TaskReport], *, bars: bool, whole: bool = True) -> PackReport:
    """The tasks' reports and what is to be said of the whole."""
    problems = Problems(pack.path)
    if whole:
        check_pack(pack, reports, problems)
    if bars and whole:
        check_bars(pack, reports, problems)
    tokens = [prompt_tokens(role) for role in pack.roles.values()]
    found: list[Problem] = [*problems.found, *(p for report in reports for p in report.problems)]
    return PackReport(
        id=pack.id, tasks=len(reports), roles=len(pack.roles), tools=len(pack.tools), tables=tables(pack),
        prompt_tokens_min=min(tokens), prompt_tokens_max=max(tokens), token_method=TOKEN_METHOD,
        reports=tuple(reports), problems=tuple(found),
    )  # fmt: skip


def check_task(pack: Pack, task_id: str) -> TaskReport:
    """Every check of one task. Never raises for what the task's author did."""
    problems = Problems(pack.path, task_id)
    loaded = load_task(pack, task_id, problems)
    if loaded is None:
        return TaskReport(id=task_id, problems=tuple(problems.found))
    check_references(loaded, problems)
    if not loaded.call_steps or not loaded.can_be_spoken:
        return TaskReport(id=task_id, noop_fail=not loaded.nothing_done().passed, problems=tuple(problems.found))
    played = play_dialogue(loaded, problems)
    verdict = verify(played.trace, played.state, loaded.file)
    noop_fail = not loaded.nothing_done().passed
    if not noop_fail:
        problems.add(loaded.path, "gold", "a call in which nothing is done passes")
    tell_failure(loaded, verdict, problems)
    for finding in verdict.tools.findings:
        if finding.kind == "extra" and finding.actual_index in played.wrote:
            problems.add(
                loaded.path, "gold.calls", f"the dialogue's {finding.tool} writes, but gold does not expect it"
            )
    count, passed = survivors(loaded, played, verdict) if verdict.passed else (0, [])
    _tell(problems, loaded, [(m.key, f"a call that differs passes: {m.what}") for m in passed])
    found = origins(loaded, played, verdict)
    for origin in found:
        if not origin.origin:
            words = f"{origin.value!r} comes from nowhere: not from the brief, a prompt, or the output of a tool"
            problems.add(loaded.path, f"gold.{origin.key}", words)
        elif words := one_sided(loaded, origin):
            problems.add(loaded.path, f"gold.{origin.key}", words)
    call = asyncio.run(oracle_call(loaded))
    if call.problem:
        problems.add(loaded.path, "gold.dialogue", call.problem)
    used = {c.tool for c in loaded.file.gold.calls} | {step.call for step in loaded.call_steps}
    return TaskReport(
        id=task_id, gold_pass=verdict.passed, noop_fail=noop_fail, mutations=count,
        mutations_caught=count - len(passed), oracle_complete=not call.problem, origins=found,
        used=tuple(sorted(used)), problems=tuple(problems.found),
    )  # fmt: skip


def tell_failure(loaded: Loaded, verdict: Verdict, problems: Problems) -> None:
    """What the dialogue's calls lack to pass."""
    lines: list[tuple[str, str]] = []
    for finding in verdict.tools.findings:
        if finding.kind == "missing":
            diffs = [f"{d.name}: gold {d.expected!r}, made {d.actual!r}" for d in finding.args if d.kind == "differs"]
            why = f"{finding.tool}: {finding.why}" + (f" ({'; '.join(diffs)})" if diffs else "")
            lines.append((f"gold.calls.{finding.expected_index}", f"the dialogue does not make this call: {why}"))
    if not verdict.path.passed:
        lines.append(("gold.path", f"the dialogue goes {' > '.join(verdict.path.actual) or 'nowhere'}"))
    for row in verdict.state.findings:
        what = "gold expects a row that is not there" if row.kind == "missing" else "a row that gold does not expect"
        lines.append((f"gold.state.{row.table}", f"{what}: {row.row}"))
    _tell(problems, loaded, lines)


def _tell(problems: Problems, loaded: Loaded, lines: Sequence[tuple[str, str]]) -> None:
    for key, words in lines[:SHOWN]:
        problems.add(loaded.path, key, words)
    if len(lines) > SHOWN:
        problems.add(loaded.path, "gold", f"and {len(lines) - SHOWN} more of this kind")


def _chosen(pack: Pack, tasks: Sequence[str] | None) -> list[str]:
    return pack.task_ids() if tasks is None else [pack.task_path(task_id).stem for task_id in tasks]


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run(jobs: Sequence[tuple[Path, str]], workers: int) -> Iterable[TaskReport]:
    """The reports, in the order of the jobs."""
    if workers < 2 or len(jobs) <= ALONE:
        yield from map(_job, jobs)
        return
    with process_pool(workers) as pool:
        yield from in_order(pool, _job, jobs, chunk=2)


def _job(job: tuple[Path, str]) -> TaskReport:
    folder, task_id = job
    return check_task(_loaded(folder), task_id)


@cache
def _loaded(folder: Path) -> Pack:
    """A pack, once in a process."""
    return load_pack(folder)
