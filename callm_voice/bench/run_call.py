"""Run one call and write its folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from callm_voice.bench import telemetry
from callm_voice.bench.assemble import CallResult, assemble
from callm_voice.bench.callspec import CallSpec
from callm_voice.bench.livetap import LiveTap, live_tap
from callm_voice.bench.resolve import ResolvedCall, resolve
from callm_voice.bench.runfile import hashes_of, note_call
from callm_voice.bench.workshop import Workshop
from callm_voice.core.awake import keep_awake
from callm_voice.core.clock import RealClock
from callm_voice.core.errors import UsageError
from callm_voice.core.events import Event, EventLog, to_jsonl
from callm_voice.core.fastloop import FastClock, make_clock, patch_time, run
from callm_voice.core.record import PERSON, CallRecord
from callm_voice.core.runfolder import (
    AUDIO_FILE,
    EVENTS_FILE,
    GOLD_FILE,
    STATE_FILE,
    CallFolder,
    open_call_folder,
)

if TYPE_CHECKING:
    from callm_voice.bench.sides import Sides

Listener = Callable[[Event], None]
Progress = Callable[[str], None]


def run_call(
    spec: CallSpec,
    *,
    on_event: Listener,
    on_progress: Progress,
    shop: Workshop | None = None,
    note: bool = True,
    sides: Sides | None = None,
) -> tuple[CallRecord, Path]:
    """Run one call in this process; its record and its folder.

    Args:
        spec: the call.
        on_event: called with every event as it happens.
        on_progress: called with one line per step before the line opens.
        shop: what this process keeps for its next call.
        note: write to `run.json` what the call was made with. False: the planner does.
        sides: who is at the two ends of a voice call; None: our own pipeline and a simulated caller.

    Raises:
        UsageError: a mistake of the user's, before anything was started or written.
        CallmError: something this machine lacks, before the line opened; the folder is left unfinished.
    """
    if spec.caller == PERSON and sides is None:
        raise UsageError("--caller person: a person calls in from a browser", hint="callm-voice serve")
    clock = make_clock(spec.pace)
    try:
        if isinstance(clock, FastClock):
            patch_time(clock)
        resolved = resolve(spec, shop)
        exporters = telemetry.requested()
        with open_call_folder(spec.folder()) as folder:
            log = EventLog(clock)
            log.listen(on_event)
            with keep_awake(_is_measured_at_real_pace(resolved)) as awake_cores, live_tap(folder.work, log) as tap:
                result = run(lambda: _make(resolved, clock, log, on_progress, shop, sides, tap), clock)
            result.awake_cores = awake_cores
            record = assemble(resolved, result)
            resolved.faults.folder(folder.work)
            write(folder, resolved, result)
            final = folder.complete(record)
        if note:
            note_call(spec.run_dir, record, hashes_of(resolved))
        if exporters:
            zero_unix_s = clock.unix_s() - log.now_ms() / 1000
            telemetry.send_call(exporters, log.events, record, zero_unix_s=zero_unix_s, on_warning=on_progress)
        return record, final
    finally:
        clock.close()


def _is_measured_at_real_pace(resolved: ResolvedCall) -> bool:
    return resolved.spec.pace == "real" and resolved.profile is not None and resolved.pipeline.keep_awake


async def _make(
    resolved: ResolvedCall, clock: RealClock, log: EventLog, on_progress: Progress, shop: Workshop | None,
    sides: Sides | None, tap: LiveTap,
) -> CallResult:  # fmt: skip
    if resolved.profile is None:
        from callm_voice.bench.text_call import text_call

        return await text_call(resolved, clock, log, on_progress, shop)
    from callm_voice.bench.voice_call import sides_of, voice_call  # imports Pipecat, which must see the patched time

    return await voice_call(resolved, clock, log, on_progress, shop, sides or sides_of(resolved.spec), tap.follow)


def write(folder: CallFolder, resolved: ResolvedCall, result: CallResult) -> None:
    """All files of a call but the record."""
    folder.write_text(EVENTS_FILE, to_jsonl(list(result.events)))
    folder.write_text(STATE_FILE, json.dumps(result.state, indent=1, ensure_ascii=False) + "\n")
    if resolved.goal is not None:
        folder.write_text(GOLD_FILE, resolved.goal.gold_file.model_dump_json(indent=1) + "\n")
    for name, text in result.extra_files.items():
        folder.write_text(name, text)
    if result.recorder is not None:
        result.recorder.write(folder.path(AUDIO_FILE))
