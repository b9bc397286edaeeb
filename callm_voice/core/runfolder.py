"""The run folder (DESIGN §8): a call is written under a temporary name and renamed when it is complete.

A folder without `call.json` is an unfinished call. `call.json` is written last.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from callm_voice.core.errors import ConfigError, DiskError
from callm_voice.core.ids import short_hash
from callm_voice.core.record import CallRecord
from verifier.trace import clean_json

RECORD_FILE = "call.json"
EVENTS_FILE = "events.jsonl"
AUDIO_FILE = "call.flac"
STATE_FILE = "state.json"
GOLD_FILE = "gold.json"
ORACLE_FILE = "oracle.jsonl"
"""Only of a call with the oracle: what its server saw and sent, and when, one request a line (see `llm.oracle`)."""
MAX_NAME = 100
"""Characters of a folder name that is made from a model's or a line's name."""
SUPERSEDED = "superseded"
"""Folder of a run with scored calls that were made again on request; they stand in `plan.json` and count no more."""
PARTIAL = ".partial"
"""Of the name of a call's folder while it is written."""
LIVE_DIR = "live"
"""Folder of an unfinished call for those who watch it (`core.livefiles`)."""
REMOVE_TRIES = 5
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")


def safe_name(text: str) -> str:
    """A folder name for any model or line name: never empty, hidden, a path or overlong, and never that of another.

    A name that has to be changed gets a short hash of what it was, so that `a/b` and `a_b` do not share a folder.
    """
    safe = _UNSAFE.sub("_", text).strip(".")
    if safe == text and 0 < len(safe) <= MAX_NAME:
        return safe
    tag = short_hash(text.encode("utf-8", "surrogatepass"), 6)
    return f"{safe[: MAX_NAME - len(tag) - 1] or '_'}-{tag}"


def call_dir(run_dir: Path, *, pack: str, task: str, model: str, line: str, trial: int) -> Path:
    """`RUN/calls/PACK/TASK/MODEL/LINE/tN`."""
    parts = [safe_name(p) for p in (pack, task, model, line)]
    return run_dir.joinpath("calls", *parts, f"t{trial}")


def is_finished(folder: Path) -> bool:
    """Whether the folder holds a complete call."""
    return (folder / RECORD_FILE).is_file()


class CallFolder:
    """One call's folder while it is written. Use `open_call_folder`."""

    def __init__(self, final: Path) -> None:
        self.final = final
        self.work = final.with_name(final.name + PARTIAL)

    def write_text(self, name: str, text: str) -> None:
        """Write one file of the call; `DiskError` if the disk is full or unwritable."""
        with disk_errors(self.work / name):
            (self.work / name).write_text(text, encoding="utf-8")

    def path(self, name: str) -> Path:
        """The path of one file, for writers of their own (audio)."""
        return self.work / name

    def complete(self, record: CallRecord) -> Path:
        """Write the record and put the folder in place; the final folder's path."""
        with disk_errors(self.final):
            target = self.work / RECORD_FILE
            with target.open("w", encoding="utf-8") as file:
                file.write(dump_record(record))
                file.flush()
                os.fsync(file.fileno())
            if self.final.exists():
                shutil.rmtree(self.final)
            self.work.rename(self.final)
        # Not before: a watcher may come until the folder has its name, and whoever reads its files reads on.
        shutil.rmtree(self.final / LIVE_DIR, ignore_errors=True)
        return self.final


@contextmanager
def open_call_folder(final: Path) -> Iterator[CallFolder]:
    """A fresh folder to write a call into. What an earlier, killed call left under the temporary name is removed.

    If the block raises, the temporary folder stays, without `call.json`: plainly unfinished.

    Raises:
        DiskError: the folder cannot be made.
    """
    folder = CallFolder(final)
    with disk_errors(final):
        if folder.work.exists():
            remove_folder(folder.work)
        folder.work.mkdir(parents=True)
    yield folder


def remove_folder(folder: Path) -> None:
    """Remove a folder with all in it, although a watcher may ask in it meanwhile (`core.livefiles`).

    Raises:
        OSError: it cannot be removed.
    """
    for _ in range(REMOVE_TRIES - 1):
        try:
            shutil.rmtree(folder)
            return
        except FileNotFoundError:
            if not folder.exists():
                raise
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
    shutil.rmtree(folder)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Map what the operating system says about a write to one clear `DiskError`."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "the disk is full" if full else f"cannot be written: {error.strerror or error}"
        raise DiskError(f"{path}: {what}", hint="free some space, or choose another folder with --out") from error


def dump_record(record: CallRecord) -> str:
    """The text of `call.json`: stable key order, two spaces, one newline at the end."""
    return json.dumps(clean_json(record.model_dump(mode="json"), depth=-10), indent=2, ensure_ascii=False) + "\n"


def load_record(folder: Path) -> CallRecord:
    """The record of a finished call.

    Raises:
        ConfigError: there is none, or it does not have the form of this version.
    """
    path = folder / RECORD_FILE
    if not path.is_file():
        raise ConfigError(folder, "", f"not a finished call: there is no {RECORD_FILE} in it")
    try:
        return CallRecord.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(path, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        first = str(error).splitlines()
        raise ConfigError(path, "", "not a call record of this version: " + " ".join(first[:3])) from error


def find_calls(folder: Path) -> list[Path]:
    """All finished call folders at or below `folder`, sorted; not those that a run set aside (`superseded/`)."""
    return [p for p in walk_calls(folder) if SUPERSEDED not in p.relative_to(folder).parts]


def walk_calls(folder: Path) -> list[Path]:
    """All folders with a finished call at or below `folder`, sorted. Folders may come and go meanwhile: a run under way
    renames what is finished."""
    found = []
    for path, below, files in os.walk(folder):  # unlike rglob, it passes over a folder that is gone
        below[:] = [name for name in below if not name.endswith(PARTIAL)]
        if RECORD_FILE in files:
            found.append(Path(path))
    return sorted(found)
