"""Finished calls of run folders, and where each one's page goes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from callm_voice.core.errors import ConfigError, NotFoundError
from callm_voice.core.record import CallRecord
from callm_voice.core.runfolder import (
    AUDIO_FILE,
    EVENTS_FILE,
    GOLD_FILE,
    RECORD_FILE,
    find_calls,
    load_record,
    safe_name,
)
from callm_voice.report.score_rows import SUPERSEDED
from verifier.gold import GoldFile

Json = dict[str, Any]


@dataclass(frozen=True)
class CallPlace:
    """One call: the folder it stands in, and the folder of its page below the site."""

    folder: Path
    href: str
    """`call/PACK/TASK/MODEL/LINE/tN/`, with a number where another call has the same names."""
    pack: str
    task: str
    model: str
    line: str
    trial: int
    superseded: bool = False
    """The call was made again on demand: it is shown, and never scored."""

    @property
    def audio(self) -> Path | None:
        """The recording; None where the call went without sound."""
        path = self.folder / AUDIO_FILE
        return path if path.is_file() else None


@dataclass(frozen=True)
class LoadedCall:
    """All of one call that a page shows, but its sound."""

    place: CallPlace
    record: CallRecord
    gold: GoldFile | None
    """None: the folder has no `gold.json`."""
    events: tuple[Json, ...]
    """As the file has them: an event of a type that this version does not know is not lost."""


def find_places(runs: Sequence[Path]) -> list[CallPlace]:
    """Every finished call at or below the folders, ordered by what was called.

    The same call twice is one, as in scores. Names come from the record's configuration, never from folder names.

    Raises:
        NotFoundError: a folder holds no finished call.
        ConfigError: a record cannot be read.
    """
    found_in: dict[str, tuple[Path, bool]] = {}
    for run in runs:
        found = [(folder, False) for folder in find_calls(run)]
        found += [(path.parent, True) for path in sorted(run.rglob(f"{SUPERSEDED}/**/{RECORD_FILE}"))]
        if not found:
            raise NotFoundError("finished call", str(run), [])
        for folder, aside in found:
            key = sha256((folder / RECORD_FILE).read_bytes()).hexdigest()
            if key not in found_in or (found_in[key][1] and not aside):
                found_in[key] = (folder, aside)
    named = sorted((*_names(folder), aside, str(folder)) for folder, aside in found_in.values())
    taken: set[str] = set()
    places = []
    for pack, task, model, line, trial, aside, where in named:
        href = _free("/".join(["call", *map(safe_name, (pack, task, model, line)), f"t{trial}"]), taken)
        places.append(CallPlace(Path(where), f"{href}/", pack, task, model, line, trial, aside))
    return places


def load_call(place: CallPlace) -> LoadedCall:
    """Read one call.

    Raises:
        ConfigError: a file of it is not what it should be.
    """
    gold_path = place.folder / GOLD_FILE
    gold = None
    if gold_path.is_file():
        try:
            gold = GoldFile.model_validate_json(gold_path.read_bytes())
        except ValueError as error:
            raise ConfigError(gold_path, "", f"not gold of this version: {str(error).splitlines()[0]}") from error
    return LoadedCall(place, load_record(place.folder), gold, tuple(_events(place.folder / EVENTS_FILE)))


def _events(path: Path) -> list[Json]:
    if not path.is_file():
        return []
    events = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            event = json.loads(line)
        except ValueError as error:
            raise ConfigError(path, "", f"not valid JSON: {error}", line=number) from error
        if isinstance(event, dict) and isinstance(event.get("t_ms"), int | float):
            events.append(event)
    return events


def _names(folder: Path) -> tuple[str, str, str, str, int]:
    path = folder / RECORD_FILE
    try:
        config = json.loads(path.read_text(encoding="utf-8"))["config"]
        pack, _, task = str(config["task"]).rpartition("/")
        return pack, task, str(config["model"]), str(config["line"]), int(config["trial"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(path, "config", f"not a call record: {type(error).__name__}: {error}") from error


def _free(wanted: str, taken: set[str]) -> str:
    """`wanted`, or with the first number that is free. Case does not tell two folders apart."""
    name, number = wanted, 2
    while name.casefold() in taken:
        name, number = f"{wanted}-{number}", number + 1
    taken.add(name.casefold())
    return name
