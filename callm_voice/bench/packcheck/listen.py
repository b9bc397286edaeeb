"""`packs check --voice`: every task's arguments through the caller's voice, a line and Whisper."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from callm_voice.bench.packcheck.audible import Audition, inaudible
from callm_voice.bench.packcheck.findings import Problems, TaskReport
from callm_voice.bench.packcheck.tasks import load_task
from callm_voice.core.clock import Clock
from callm_voice.core.paths import cache_dir
from callm_voice.desk.pack import Pack
from callm_voice.line.profile import load_profile
from callm_voice.pipeline.spec import load_pipeline
from callm_voice.speech.factory import make_stt, make_tts
from callm_voice.speech.tts_cache import CachedTts
from callm_voice.speech.voices import choose

PIPELINE, LINE = "cpu", "pstn-g711u"
"""Whose caller speaks and whose recogniser listens; the line between them."""


async def open_audition(clock: Clock) -> Audition:
    """The default pipeline's caller and recogniser on a plain line.

    Raises:
        SetupError: a package or weight is missing.
        EngineError: an engine cannot be loaded.
    """
    pipeline = load_pipeline(PIPELINE)
    voice = choose(pipeline.caller.tts, seed=0, task="packs check")
    tts = CachedTts(await clock.in_thread("load", make_tts, voice.settings), cache_dir() / "caller-audio")
    stt = await clock.in_thread("load", make_stt, pipeline.stt, None)
    return Audition(tts, stt, load_profile(LINE), clock)


async def listen(
    pack: Pack, reports: Sequence[TaskReport], audition: Audition, on_task: Callable[[TaskReport], None] | None = None
) -> list[TaskReport]:
    """The reports of a pack's tasks with what cannot be heard.

    Raises:
        EngineError: an engine failed.
    """
    listened: list[TaskReport] = []
    for report in reports:
        problems = Problems(pack.path, report.id)
        loaded = load_task(pack, report.id, problems)
        lost = await inaudible(loaded, report.origins, audition) if loaded is not None else []
        told = Problems(pack.path, report.id)
        for key, words in lost:
            told.add(pack.task_path(report.id), f"gold.{key}", words)
        found = (*report.problems, *told.found)
        listened.append(report.model_copy(update={"inaudible": tuple(w for _, w in lost), "problems": found}))
        if on_task is not None:
            on_task(listened[-1])
    return listened
