"""Build the whole site from run folders.

Every call is one job, every task another, so a large run is spread over the cores; each page holds its own data, and
the overview knows only figures. Nothing but the run folders and the installed packs is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from callm_voice import __version__
from callm_voice.core.errors import UsageError
from callm_voice.core.pool import in_order, process_pool
from callm_voice.core.runfolder import load_record
from callm_voice.core.score_format import ModelScore
from callm_voice.report.score import score_run
from callm_voice.report.site.calls import CallSummary, pack_href, write_call
from callm_voice.report.site.collect import CallPlace, find_places
from callm_voice.report.site.desks import DeskView, desk_view
from callm_voice.report.site.leaderboard import board, choices
from callm_voice.report.site.overview import write_failures, write_industry, write_latency, write_overview
from callm_voice.report.site.pages import Site, prepare
from callm_voice.report.site.sound import AudioKind
from callm_voice.report.site.tasks import write_task

FEW_CALLS = 24
"""Up to here one process is faster than starting more."""
CALLS_A_JOB = 8
_Run = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""Applies a job to each of a list, results in its order."""


@dataclass(frozen=True)
class BuiltSite:
    """What was built."""

    index: Path
    calls: int
    failures: int
    tasks: int
    pages: int
    bytes: int


def build_site(
    runs: Sequence[Path], out: Path, *, audio: AudioKind = "flac", workers: int | None = None,
    on_progress: Callable[[str], None] = lambda _: None, links: Sequence[tuple[str, str]] = (),
) -> BuiltSite:  # fmt: skip
    """Build the site of all finished calls below `runs` into `out`.

    Args:
        runs: run folders, or any folders with calls below them.
        out: made if it is not there; a site that stood there is replaced, any other content is refused.
        audio: `flac` as recorded, `opus` at a quarter of the size, `none`.
        workers: processes; None: as many as cores, one where there are few calls.
        on_progress: gets short lines.
        links: name and address, relative to the site, of what stands in the head of each page before the site's own.

    Raises:
        NotFoundError: a folder without a finished call.
        UsageError: `out` holds something that is no site, or lies in the way.
        ConfigError: a call's file cannot be read.
        DiskError: the site cannot be written.
    """
    places = find_places(runs)
    _check_out(out, places)
    packs = {place.pack: place for place in sorted(places, key=lambda p: (p.pack, p.href), reverse=True)}
    packs = dict(sorted(packs.items()))
    with _runner(len(places), workers) as run:
        return _build(places, packs, out, audio, run, on_progress, links)


def _build(
    places: Sequence[CallPlace], packs: dict[str, CallPlace], out: Path, audio: AudioKind, run: _Run,
    on_progress: Callable[[str], None], links: Sequence[tuple[str, str]],
) -> BuiltSite:  # fmt: skip
    """All pages. `packs`: a call of each pack."""
    desks = dict(zip(packs, run(_desk_job, list(packs.values())), strict=True))
    navigation = [*links, ("Overview", "index.html"), *((desk.title, pack_href(pack)) for pack, desk in desks.items())]
    site = Site(
        out,
        {
            "navigation": [*navigation, ("Failures", "failures.html"), ("Latency", "latency.html")],
            "product_version": __version__,
            "call_count": len(places),
        },
    )
    site.assets()
    on_progress(f"{len(places):,} calls")
    calls = run(partial(_call_job, site, desks, audio), places)
    rows = [call.row for call in calls if not call.row.by_person]
    on_progress("scores")
    score = score_run([call.row for call in calls])
    _write_tasks(site, desks, calls, score.models, run)
    found = choices(rows)
    boards = dict(zip(found.all(), run(partial(board, rows), found.all()), strict=True))
    for pack, desk in desks.items():
        of_pack = [call for call in calls if call.place.pack == pack]
        write_industry(site, pack, desk, of_pack, _models(score.models, of_pack))
    write_failures(site, calls)
    write_latency(site, score, calls)
    write_overview(site, score, found, boards, desks, calls)
    return _built(out, calls)


def _check_out(out: Path, places: Sequence[CallPlace]) -> None:
    here = out.resolve()
    if any(place.folder.resolve().is_relative_to(here) for place in places):
        raise UsageError(f"--out {out}: the calls to be shown lie in it", hint="choose a folder of its own")
    try:
        prepare(out)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(
            f"--out {out}: there is something there that is no site of callm-voice", hint="choose an empty folder"
        ) from None


def _desk_job(example: CallPlace) -> DeskView:
    """The desk of a call's pack; what the call shows of it, if the pack is not installed here."""
    return desk_view(example.pack, [load_record(example.folder)])


def _call_job(site: Site, desks: dict[str, DeskView], audio: AudioKind, place: CallPlace) -> CallSummary:
    return write_call(site, place, desks[place.pack], audio)


@dataclass(frozen=True)
class _TaskJob:
    pack: str
    task: str
    calls: tuple[CallSummary, ...]
    models: tuple[str, ...]
    scores: tuple[ModelScore, ...]


def _task_job(site: Site, desks: dict[str, DeskView], job: _TaskJob) -> None:
    write_task(site, desks[job.pack], job.pack, job.task, job.calls, job.models, job.scores)


def _write_tasks(
    site: Site, desks: dict[str, DeskView], calls: Sequence[CallSummary], scores: Sequence[ModelScore], run: _Run
) -> None:
    by_task: dict[tuple[str, str], list[CallSummary]] = {}
    for call in calls:
        by_task.setdefault((call.place.pack, call.place.task), []).append(call)
    jobs = []
    for (pack, task), of_task in by_task.items():
        name = f"{pack}/{task}"
        alone = [m.model_copy(update={"tasks_detail": _only(m, name)}) for m in scores if _only(m, name)]
        jobs.append(_TaskJob(pack, task, tuple(of_task), tuple(_models(scores, of_task)), tuple(alone)))
    run(partial(_task_job, site, desks), jobs)


def _only(score: ModelScore, task: str) -> tuple[Any, ...]:
    return tuple(detail for detail in score.tasks_detail if detail.task == task)


def _models(scores: Sequence[ModelScore], calls: Sequence[CallSummary]) -> list[str]:
    """Those with a call there, best first; last those that only people called."""
    there = {call.place.model for call in calls}
    scored = [score.model for score in scores if score.model in there]
    return [*scored, *sorted(there - set(scored))]


@contextmanager
def _runner(calls: int, workers: int | None) -> Iterator[_Run]:
    """Runs jobs in order of their list, here or in processes of their own."""
    count = workers if workers is not None else 1 if calls <= FEW_CALLS else os.cpu_count() or 1
    if count <= 1:
        yield lambda job, items: [job(item) for item in items]
        return
    with process_pool(count) as pool:

        def spread(job: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
            chunk = max(1, min(CALLS_A_JOB, len(items) // (4 * count)))
            return list(in_order(pool, job, items, chunk=chunk))

        yield spread


def _built(out: Path, calls: Sequence[CallSummary]) -> BuiltSite:
    files = [path for path in out.rglob("*") if path.is_file()]
    return BuiltSite(
        index=out / "index.html",
        calls=len(calls),
        failures=sum(call.failed for call in calls),
        tasks=len({(call.place.pack, call.place.task) for call in calls}),
        pages=sum(path.suffix == ".html" for path in files),
        bytes=sum(path.stat().st_size for path in files),
    )
