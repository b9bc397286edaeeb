"""All listenings of a plan, on every core, into results.jsonl. What stands there already is not done again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path

from callm_voice.bench.linewer import nonspeech
from callm_voice.bench.linewer.listen import Heard, Sound, Speaker, listen
from callm_voice.bench.linewer.plan import Listening, WerPlan
from callm_voice.bench.profile.progress import duration
from callm_voice.core.clock import RealClock
from callm_voice.core.errors import ConfigError, HarnessError
from callm_voice.core.pool import process_pool
from callm_voice.core.runfolder import disk_errors

ROWS_FILE = "results.jsonl"
AHEAD = 3
"""Listenings per process that are handed out at a time."""
OUT_OF_MEMORY = "with too little memory, try fewer --workers; what was heard is kept"
QUIET_S = 10.0
"""At most one line of progress in this time."""

Say = Callable[[str], None]


def run_plan(
    plan: WerPlan, folder: Path, say: Say, *, workers: int | None = None, stop_after_s: float | None = None
) -> list[Heard]:
    """Do what is missing of the plan; the rows of the plan that there are now, in its order.

    Args:
        folder: of results.jsonl; made if it is not there.
        workers: processes; None: one for each core.
        stop_after_s: begin nothing more after so long.

    Raises:
        ConfigError: results.jsonl is something else.
        SetupError: a package or weight is missing.
        EngineError: a voice or the recogniser failed.
        HarnessError: a process died.
        DiskError: the folder cannot be written.
    """
    path = folder / ROWS_FILE
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    rows = read_rows(path)
    wanted = list(plan.listenings())
    missing = [what for what in wanted if what.key not in rows]
    say(f"{len(wanted):,} listenings, {len(wanted) - len(missing):,} of them done before; rows go to {path}")
    if missing:
        if path.exists():
            _cut_broken_end(path)
        _Run(missing, path, say, stop_after_s).all(workers or os.cpu_count() or 1, rows)
    return [rows[what.key] for what in wanted if what.key in rows]


def read_rows(path: Path) -> dict[str, Heard]:
    """The rows of results.jsonl by key; a last line that a killed process left half written is left out.

    Raises:
        ConfigError: it cannot be read, or a line is no row.
    """
    if not path.exists():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(path, "", f"cannot be read: {error}") from error
    rows: dict[str, Heard] = {}
    for number, line in enumerate(lines[:-1], 1):
        if not line.strip():
            continue
        try:
            row = Heard.model_validate_json(line)
        except ValueError as error:
            raise ConfigError(path, "", "not a row of `callm-voice line wer`", line=number) from error
        rows[row.key] = row
    return rows


class _Run:
    """The listenings that are missing."""

    def __init__(self, missing: list[Listening], path: Path, say: Say, stop_after_s: float | None) -> None:
        self._missing, self._path, self._say, self._stop_after_s = missing, path, say, stop_after_s
        self._clock = RealClock()
        self._began_s = self._said_s = self._clock.now_s()
        self._done = 0

    def all(self, workers: int, rows: dict[str, Heard]) -> None:
        """Every row is written as soon as it is there."""
        jobs = self._jobs()
        with process_pool(workers) as pool:
            under_way = {pool.submit(listen, *job) for job in islice(jobs, workers * AHEAD)}
            try:
                while under_way:
                    finished, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    for row in (future.result() for future in finished):
                        rows[row.key] = row
                    self._write(finished)
                    under_way |= {pool.submit(listen, *job) for job in islice(jobs, len(finished))}
            except BrokenProcessPool as error:
                raise HarnessError("a process that listened died", hint=OUT_OF_MEMORY, stage="stt") from error
            finally:
                self._clock.close()

    def _jobs(self) -> Iterator[tuple[Listening, Sound]]:
        """Each with its sound: synthesised here, once, while the workers listen."""
        speaker, without_speech = Speaker(), nonspeech.clips()
        last: tuple[tuple[str, str], Sound] | None = None
        for what in self._missing:
            if self._stop_after_s is not None and self._clock.now_s() - self._began_s > self._stop_after_s:
                return
            if what.utterance is None or what.voice is None:
                yield what, Sound(without_speech[what.sound], nonspeech.RATE_HZ)
                continue
            name = (what.sound, what.voice.id)
            if last is None or last[0] != name:
                last = name, speaker.say(what.utterance.text, what.voice)
            yield what, last[1]

    def _write(self, finished: set[Future[Heard]]) -> None:
        with disk_errors(self._path), self._path.open("a", encoding="utf-8") as file:
            file.writelines(future.result().model_dump_json() + "\n" for future in finished)
        self._done += len(finished)
        now_s = self._clock.now_s()
        if now_s - self._said_s >= QUIET_S or self._done == len(self._missing):
            self._said_s = now_s
            left_s = (now_s - self._began_s) * (len(self._missing) - self._done) / self._done
            self._say(f"{self._done:,} of {len(self._missing):,}; about {duration(left_s)} left")


def _cut_broken_end(path: Path) -> None:
    """Take away what a killed process left half written."""
    with disk_errors(path), path.open("r+b") as file:
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)
